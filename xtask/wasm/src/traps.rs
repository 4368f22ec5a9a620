//! Panics that end the program without a word.
//!
//! A module that has to be small says nothing of its own when it panics, which is a mistake of this package's: the engine
//! reports a trap either way. Each function that would say something does nothing but trap here. The optimiser then leaves out
//! what they were given, and `sweep` what that was.

use std::collections::HashSet;
use std::ops::Range;

use crate::order::{sized, Reader};
use crate::Outcome;

const CODE: u8 = 10;
pub(crate) const CUSTOM: u8 = 0;
const FUNCTION_NAMES: u8 = 1;
/// What the names of the standard library's functions that only panic have in common, whatever their mangling.
const PANICS: &[&str] = &[
    "9panicking",
    "unwrap_failed",
    "expect_failed",
    "slice_error_fail",
    "slice_index_fail",
    "len_mismatch_fail",
    "assert_failed",
    "do_panic",
];
/// No locals; `unreachable`.
const TRAP: &[u8] = &[0, 0x00];
/// What fills the rest, so that everything stays where the linker says that it is.
pub(crate) const NOP: u8 = 0x01;
const END: u8 = 0x0b;

/// The module with traps for its panics, and one of them; it must have the names of its functions.
pub(crate) fn trapped(module: &[u8]) -> Outcome<(Vec<u8>, usize)> {
    let sections = sections(module)?;
    let imported = imported(&sections)?;
    let panics = panics(&sections)?;
    let first = panics.iter().copied().filter(|panic| *panic >= imported).min();
    let first = first.ok_or("no function that panics was found; have their names changed?")?;
    let mut out = module.get(..8).ok_or("not a module")?.to_vec();
    for (id, section) in sections {
        let mut section = section.to_vec();
        if id == CODE {
            for (index, place) in bodies(&section)?.into_iter().enumerate() {
                if panics.contains(&(imported + index)) && place.len() > TRAP.len() {
                    let (size, body) = (place.len(), &mut section[place]);
                    body.fill(NOP);
                    body[..TRAP.len()].copy_from_slice(TRAP);
                    body[size - 1] = END;
                }
            }
        }
        out.push(id);
        out.extend(sized(section));
    }
    Ok((out, first))
}

/// Where the bodies of functions stand in a section of code.
fn bodies(section: &[u8]) -> Outcome<Vec<Range<usize>>> {
    let mut rest = Reader(section);
    let mut places = Vec::new();
    for _ in 0..rest.number()? {
        let size = rest.number()?;
        rest.take(size)?;
        let end = section.len() - rest.0.len();
        places.push(end - size..end);
    }
    Ok(places)
}

pub(crate) type Section<'m> = (u8, &'m [u8]);

pub(crate) fn sections(module: &[u8]) -> Outcome<Vec<Section<'_>>> {
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
        let expected = [head, b"\x0a\x0d\x02\x05\0\x41\x01\x1a\x0b\x05\0\0\x01\x01\x0b", &section].concat();
        assert_eq!(trapped(&module).unwrap(), (expected, 1));
    }
}
