//! Panics that end the program without a word.
//!
//! A module that has to be small says nothing of its own when it panics, which is a mistake of this package's: the engine
//! reports a trap either way. Each function that would say something does nothing but trap here. The optimiser then leaves out
//! what they were given, and the machinery that formats it.

use std::collections::HashSet;

use crate::order::{number, sized, Reader};
use crate::Outcome;

const CODE: u8 = 10;
const CUSTOM: u8 = 0;
const FUNCTION_NAMES: u8 = 1;
/// What the names of the standard library's functions that only panic have in common, whatever their mangling.
const PANICS: &[&str] = &["9panicking", "unwrap_failed", "expect_failed", "slice_error_fail", "slice_index_fail"];
/// No locals; `unreachable`; `end`.
const TRAP: &[u8] = &[0, 0x00, 0x0b];

/// The module with traps for its panics; it must have the names of its functions.
pub(crate) fn trapped(module: &[u8]) -> Outcome<Vec<u8>> {
    let sections = sections(module)?;
    let panics = panics(&sections)?;
    if panics.is_empty() {
        return Err("no function that panics was found; have their names changed?".into());
    }
    let imported = imported(&sections)?;
    let mut out = module.get(..8).ok_or("not a module")?.to_vec();
    for (id, section) in sections {
        out.push(id);
        if id != CODE {
            out.extend(sized(section.to_vec()));
            continue;
        }
        let mut bodies = Reader(section);
        let count = bodies.number()?;
        let mut code = number(count);
        for index in 0..count {
            let size = bodies.number()?;
            let body = bodies.take(size)?;
            code.extend(sized(if panics.contains(&(imported + index)) { TRAP } else { body }.to_vec()));
        }
        out.extend(sized(code));
    }
    Ok(out)
}

type Section<'m> = (u8, &'m [u8]);

fn sections(module: &[u8]) -> Outcome<Vec<Section<'_>>> {
    let mut rest = Reader(module.get(8..).ok_or("not a module")?);
    let mut found = Vec::new();
    while !rest.0.is_empty() {
        let id = rest.byte()?;
        let size = rest.number()?;
        found.push((id, rest.take(size)?));
    }
    Ok(found)
}

fn imported(sections: &[Section<'_>]) -> Outcome<usize> {
    let imports = sections.iter().find(|(id, _)| *id == crate::order::IMPORTS);
    imports.map_or(Ok(0), |(_, section)| Reader(section).imported_functions())
}

/// The numbers of the functions that only panic.
fn panics(sections: &[Section<'_>]) -> Outcome<HashSet<usize>> {
    let mut found = HashSet::new();
    for (_, section) in sections.iter().filter(|(id, _)| *id == CUSTOM) {
        let mut rest = Reader(section);
        let size = rest.number()?;
        if rest.take(size)? != b"name" {
            continue;
        }
        while !rest.0.is_empty() {
            let kind = rest.byte()?;
            let size = rest.number()?;
            let mut names = Reader(rest.take(size)?);
            if kind != FUNCTION_NAMES {
                continue;
            }
            for _ in 0..names.number()? {
                let function = names.number()?;
                let size = names.number()?;
                let name = String::from_utf8_lossy(names.take(size)?);
                if PANICS.iter().any(|panic| name.contains(panic)) {
                    found.insert(function);
                }
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_panic_trap() {
        let names = [b"\x01\x0a\x02\0\x01f\x01\x049pan".as_slice()].concat();
        assert!(trapped(b"\0asm\x01\0\0\0").is_err() && trapped(b"").is_err() && trapped(&names).is_err());
        // Two functions with a constant each, of which one is named as one that panics.
        let head = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x03\x02\0\0".as_slice();
        let mut called = vec![2, 0, 1, b'f', 1];
        called.extend(sized(b"core9panicking5panic".to_vec()));
        let mut section = sized(b"name".to_vec());
        section.push(FUNCTION_NAMES);
        section.extend(sized(called));
        let section = [&[CUSTOM][..], &sized(section)].concat();
        let module = [head, b"\x0a\x0d\x02\x05\0\x41\x01\x1a\x0b\x05\0\x41\x02\x1a\x0b", &section].concat();
        let expected = [head, b"\x0a\x0b\x02\x05\0\x41\x01\x1a\x0b\x03\0\0\x0b", &section].concat();
        assert_eq!(trapped(&module).unwrap(), expected);
    }
}
