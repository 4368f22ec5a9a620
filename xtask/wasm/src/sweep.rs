//! Leaves out constants that nothing refers to any more.
//!
//! Where a panic is a trap (`traps`), nobody reads what it would have said, nor the place in the sources, nor the functions that
//! would have formatted it. The optimiser leaves such arguments out of the calls, but what they pointed to is data, which it
//! cannot tell from numbers; and a function whose number stands in data is one that may be called.
//!
//! The linker says which numbers are addresses. So a copy of the module takes each address from outside, as a constant of its
//! own, and is optimised like the module. What it still asks for then is what its code uses; what that refers to is used too;
//! all other constants go, and in the place of their functions comes the one that traps. That changes nothing: the copy does
//! what the module does, wherever its constants lie, and it has no way to come by the address of the rest. As addresses are
//! known, constants also get the order in which they compress best (`gather`).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::gather::{moved, moves};
use crate::linker::{padded, places, segments, slots, symbols, Kind, Place, Segment, Symbol, I32_CONST, PADDED};
use crate::order::{number, sized, Reader, IMPORTS};
use crate::traps::{sections, Section, CUSTOM, NOP};
use crate::Outcome;

const EXPORTS: u8 = 7;
const ELEMENTS: u8 = 9;
const CODE: u8 = 10;
const DATA: u8 = 11;

const GLOBAL_GET: u8 = 0x23;
/// A kind of imports and exports, and the type of addresses.
const GLOBAL: u8 = 3;
const I32: u8 = 0x7f;

/// Where the copy takes its addresses from.
const OUTSIDE: &str = "sweep";

/// A linked module, and what the linker says about it.
struct Linked<'m> {
    sections: Vec<Section<'m>>,
    symbols: Vec<Symbol>,
    in_code: Vec<Place>,
    in_data: Vec<Place>,
    segments: Vec<Segment>,
    /// The functions in the table.
    slots: Vec<usize>,
}

/// A symbol, and what is added to its address: the copy must not take the end of a list for its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Address(usize, usize);

impl Address {
    fn of(place: &Place) -> Self {
        Address(place.symbol, place.more)
    }
}

/// What is used.
#[derive(Debug, Default, PartialEq, Eq)]
struct Used {
    symbols: BTreeSet<usize>,
    functions: HashSet<usize>,
}

/// The module without what it does not use; it must say where its addresses are. `trap` is a function that only traps, and
/// `optimise` does with the copy what will be done with the module.
pub(crate) fn swept(module: &[u8], trap: usize, optimise: impl Fn(&[u8]) -> Outcome<Vec<u8>>) -> Outcome<Vec<u8>> {
    let linked = Linked::read(module)?;
    let mut functions: HashSet<usize> = linked.slots.iter().copied().collect();
    // A function that can no longer be called no longer uses anything.
    loop {
        let copy = optimise(&linked.copy(&functions, trap)?)?;
        let used = linked.used(&copy)?;
        if used.functions.len() == functions.len() {
            return linked.without_others(&used, trap);
        }
        functions = used.functions;
    }
}

impl<'m> Linked<'m> {
    fn read(module: &'m [u8]) -> Outcome<Self> {
        let sections = sections(module)?;
        let named = |wanted: &str| {
            sections.iter().filter(|(id, _)| *id == CUSTOM).find_map(|(_, section)| {
                let mut rest = Reader(section);
                let size = rest.number().ok()?;
                (rest.take(size).ok()? == wanted.as_bytes()).then_some(rest)
            })
        };
        let missing = "the linker has not said where addresses are";
        let symbols = symbols(named("linking").ok_or(missing)?)?;
        let mut in_code = places(named("reloc.CODE").ok_or(missing)?)?;
        let in_data = places(named("reloc.DATA").ok_or(missing)?)?;
        let section = |wanted: u8| sections.iter().find(|(id, _)| *id == wanted).map(|(_, section)| *section);
        // What stood in a function that has become a trap.
        let code = section(CODE).ok_or("there is no code")?;
        in_code.retain(|place| code.get(place.at..place.at + PADDED) != Some(&[NOP; PADDED]));
        let segments = segments(section(DATA).ok_or("there is no data")?)?;
        let slots = slots(section(ELEMENTS).ok_or("there is no table")?)?.1;
        Ok(Linked { sections, symbols, in_code, in_data, segments, slots })
    }

    /// The copy that takes addresses from outside, with these functions in its table.
    fn copy(&self, functions: &HashSet<usize>, trap: usize) -> Outcome<Vec<u8>> {
        let of_data = self.in_code.iter().filter(|place| matches!(place.kind, Kind::Slot | Kind::Address));
        let asked: BTreeSet<Address> = of_data.map(Address::of).collect();
        let asked: BTreeMap<Address, usize> = asked.into_iter().zip(0..).collect();
        self.rewritten(|id, section| {
            Ok(match id {
                CUSTOM => None,
                IMPORTS => Some(imports(section, asked.keys())?),
                EXPORTS => Some(exports(section, asked.len())?),
                ELEMENTS => Some(Self::table(section, functions, trap)?),
                CODE => Some(self.code(section, &asked)?),
                _ => Some(section.to_vec()),
            })
        })
    }

    /// Code that takes addresses from outside.
    fn code(&self, section: &[u8], asked: &BTreeMap<Address, usize>) -> Outcome<Vec<u8>> {
        let mut code = section.to_vec();
        for place in &self.in_code {
            let found = match place.kind {
                Kind::Slot | Kind::Address => {
                    let opcode = code.get_mut(place.at - 1).ok_or("an address outside of the code")?;
                    if *opcode != I32_CONST {
                        return Err("an address that is no constant".into());
                    }
                    *opcode = GLOBAL_GET;
                    asked[&Address::of(place)]
                }
                Kind::Global => {
                    Reader(section.get(place.at..).ok_or("a global outside of the code")?).number()? + asked.len()
                }
                Kind::Base | Kind::Other => continue,
            };
            code.get_mut(place.at..place.at + PADDED)
                .ok_or("a number outside of the code")?
                .copy_from_slice(&padded(found));
        }
        Ok(code)
    }

    /// What the optimised copy uses, and what that refers to.
    fn used(&self, copy: &[u8]) -> Outcome<Used> {
        let mut found = Used::default();
        let mut left: Vec<usize> =
            self.in_code.iter().filter(|place| place.kind == Kind::Base).map(|place| place.symbol).collect();
        for (_, section) in sections(copy)?.iter().filter(|(id, _)| *id == IMPORTS) {
            left.extend(asked_for(section)?);
        }
        while let Some(symbol) = left.pop() {
            if !found.symbols.insert(symbol) {
                continue;
            }
            match self.symbols.get(symbol).ok_or("an unknown symbol")? {
                Symbol::Function(function) => drop(found.functions.insert(*function)),
                Symbol::Data { segment, from, to } => {
                    let begin = self.segments.get(*segment).ok_or("an unknown segment")?.begin;
                    let within = begin + from..begin + to;
                    let places = self.in_data.iter().filter(|place| within.contains(&place.at));
                    left.extend(places.map(|place| place.symbol));
                }
                Symbol::Other => {}
            }
        }
        Ok(found)
    }

    /// The module with what is used alone.
    fn without_others(&self, used: &Used, trap: usize) -> Outcome<Vec<u8>> {
        // Constants are by far the longest segment. What follows them are variables.
        let (constants, segment) =
            self.segments.iter().enumerate().max_by_key(|(_, segment)| segment.size).ok_or("there is no data")?;
        let parts = used.symbols.iter().filter_map(|symbol| match self.symbols[*symbol] {
            Symbol::Data { segment, from, to } if segment == constants => Some(from..to),
            _ => None,
        });
        let content = |section: &[u8]| section[segment.begin..segment.begin + segment.size].to_vec();
        let data = self.sections.iter().find(|(id, _)| *id == DATA).map(|(_, section)| content(section));
        let moves = moves(&data.unwrap_or_default(), segment.address, parts.collect());
        // By how much more a symbol's address is, which wraps around where it is less.
        let more = |symbol: usize| match self.symbols[symbol] {
            Symbol::Data { segment, from, .. } if segment == constants => moved(&moves, from).wrapping_sub(from),
            _ => 0,
        };
        self.rewritten(|id, section| {
            let mut section = section.to_vec();
            match id {
                CUSTOM if is_linkers(&section) => return Ok(None),
                ELEMENTS => section = Self::table(&section, &used.functions, trap)?,
                CODE => {
                    for place in self.in_code.iter().filter(|place| matches!(place.kind, Kind::Address | Kind::Base)) {
                        let number =
                            section.get_mut(place.at..place.at + PADDED).ok_or("a number outside of the code")?;
                        let address = Reader(number).number()?.wrapping_add(more(place.symbol));
                        number.copy_from_slice(&padded(address));
                    }
                }
                DATA => {
                    for place in self.in_data.iter().filter(|place| place.kind == Kind::Address) {
                        let number = section.get_mut(place.at..).and_then(<[u8]>::first_chunk_mut);
                        let number: &mut [u8; 4] = number.ok_or("an address outside of the data")?;
                        let address = u32::from_le_bytes(*number).wrapping_add(more(place.symbol) as u32);
                        *number = address.to_le_bytes();
                    }
                    let before = content(&section);
                    let after = &mut section[segment.begin..segment.begin + segment.size];
                    after.fill(0);
                    for (part, begin) in &moves {
                        let after = after.get_mut(*begin..begin + part.len()).ok_or("more constants than before")?;
                        after.copy_from_slice(&before[part.clone()]);
                    }
                }
                _ => {}
            }
            Ok(Some(section))
        })
    }

    /// The table with `trap` in the place of all other functions.
    fn table(section: &[u8], functions: &HashSet<usize>, trap: usize) -> Outcome<Vec<u8>> {
        let (head, slots) = slots(section)?;
        let mut table = head.to_vec();
        table.extend(number(slots.len()));
        table.extend(slots.iter().flat_map(|slot| number(if functions.contains(slot) { *slot } else { trap })));
        Ok(table)
    }

    fn rewritten(&self, section: impl Fn(u8, &[u8]) -> Outcome<Option<Vec<u8>>>) -> Outcome<Vec<u8>> {
        let mut out = b"\0asm\x01\0\0\0".to_vec();
        for (id, content) in &self.sections {
            if let Some(content) = section(*id, content)? {
                out.push(*id);
                out.extend(sized(content));
            }
        }
        Ok(out)
    }
}

/// A section of imports with these addresses, which are constants.
fn imports<'a>(section: &[u8], asked: impl ExactSizeIterator<Item = &'a Address>) -> Outcome<Vec<u8>> {
    let mut rest = Reader(section);
    let mut out = number(rest.number()? + asked.len());
    out.extend(rest.0);
    for Address(symbol, more) in asked {
        out.extend(sized(OUTSIDE.into()));
        out.extend(sized(format!("{symbol}+{more}").into_bytes()));
        out.extend([GLOBAL, I32, 0]);
    }
    Ok(out)
}

/// The symbols whose addresses a section of imports asks for.
fn asked_for(section: &[u8]) -> Outcome<Vec<usize>> {
    let mut rest = Reader(section);
    let mut found = Vec::new();
    for _ in 0..rest.number()? {
        let (from, name) = (rest.text()?, rest.text()?);
        match rest.byte()? {
            0 => drop(rest.number()?),
            GLOBAL => drop(rest.take(2)?),
            _ => return Err("an import that is neither a function nor a constant".into()),
        }
        if from == OUTSIDE.as_bytes() {
            found.push(std::str::from_utf8(name)?.split('+').next().unwrap_or_default().parse()?);
        }
    }
    Ok(found)
}

/// A section of exports where so many global variables have come before the others.
fn exports(section: &[u8], more: usize) -> Outcome<Vec<u8>> {
    let mut rest = Reader(section);
    let count = rest.number()?;
    let mut out = number(count);
    for _ in 0..count {
        out.extend(sized(rest.text()?.to_vec()));
        let kind = rest.byte()?;
        let index = rest.number()?;
        out.push(kind);
        out.extend(number(if kind == GLOBAL { index + more } else { index }));
    }
    Ok(out)
}

/// Whether a section tells of what the linker has done, which is no longer so.
fn is_linkers(section: &[u8]) -> bool {
    let name = Reader(section).text().unwrap_or_default();
    name == b"linking" || name.starts_with(b"reloc.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linker::END;

    fn section(id: u8, content: &[u8]) -> Vec<u8> {
        [&[id], &sized(content.to_vec())[..]].concat()
    }

    fn custom(name: &str, content: &[u8]) -> Vec<u8> {
        section(CUSTOM, &[&sized(name.into()), content].concat())
    }

    /// A section of imports that asks for the addresses of these symbols alone.
    fn asks(symbols: &[usize]) -> Vec<u8> {
        let asked: Vec<Address> = symbols.iter().map(|symbol| Address(*symbol, 0)).collect();
        section(IMPORTS, &imports(&[0], asked.iter()).unwrap())
    }

    /// Code that reads two constants: one that refers to a third, and one that refers to the second function in the table.
    fn linked() -> Vec<u8> {
        let constant = |address: usize| [&[I32_CONST][..], &padded(address), &[0x1a]].concat();
        let body = [&[0][..], &constant(100), &constant(104), &[END]].concat();
        let code = [&[2][..], &sized(body), &[3, 0, 0, END]].concat();
        let data = [&[1, 0, I32_CONST, 100, END, 12][..], &[108, 0, 0, 0, 1, 0, 0, 0], b"text"].concat();
        // Three constants, and the second function.
        let symbols =
            [&[4][..], b"\x01\0\x01a\0\0\x04", b"\x01\0\x01b\0\x04\x04", b"\x01\0\x01c\0\x08\x04", b"\0\0\x02\x01f"];
        let linking = [&[2, 8][..], &sized(symbols.concat())].concat();
        [
            b"\0asm\x01\0\0\0".to_vec(),
            section(1, b"\x01\x60\0\0"),
            section(IMPORTS, b"\x01\x01a\x01b\0\0"),
            section(3, b"\x02\0\0"),
            section(ELEMENTS, &[1, 0, I32_CONST, 1, END, 2, 1, 2]),
            section(CODE, &code),
            section(DATA, &data),
            custom("linking", &linking),
            // Addresses in code, behind the number of functions, a size, one of locals and an opcode; in data the place of
            // the third constant and that of the function.
            custom("reloc.CODE", b"\0\x02\x04\x04\0\0\x04\x0b\x01\0"),
            custom("reloc.DATA", b"\0\x02\x05\x06\x02\0\x02\x0a\x03"),
        ]
        .concat()
    }

    /// The table, the addresses in code, and the data.
    fn left(asked: &[usize]) -> (Vec<u8>, [usize; 2], Vec<u8>) {
        let out = swept(&linked(), 1, |copy| {
            let imports = sections(copy)?.into_iter().find(|(id, _)| *id == IMPORTS).ok_or("no imports")?.1;
            assert_eq!(asked_for(imports)?, [0, 1]);
            Ok([&b"\0asm\x01\0\0\0"[..], &asks(asked)].concat())
        });
        let out = out.unwrap();
        let sections = sections(&out).unwrap();
        assert!(sections.iter().all(|(id, _)| *id != CUSTOM));
        let of = |wanted: u8| sections.iter().find(|(id, _)| *id == wanted).unwrap().1;
        let addresses = [4, 11].map(|at| Reader(&of(CODE)[at..]).number().unwrap());
        (of(ELEMENTS)[5..].to_vec(), addresses, of(DATA)[6..].to_vec())
    }

    #[test]
    fn what_is_not_used_is_left_out() {
        let data = |constants: [&[u8]; 3]| [&constants.concat()[..], &[0; 12]].concat()[..12].to_vec();
        let (number, text) = (|number: u8| [number, 0, 0, 0], b"text");
        // Texts come first, and addresses follow them.
        assert_eq!(left(&[0, 1]), (vec![2, 1, 2], [104, 108], data([text, &number(100), &number(1)])));
        // What a constant refers to is used with it.
        let (table, [address, _], first) = left(&[0]);
        assert_eq!((table, address, first), (vec![2, 1, 1], 104, data([text, &number(100), b""])));
        let (table, [_, address], second) = left(&[1]);
        assert_eq!((table, address, second), (vec![2, 1, 2], 100, data([&number(1), b"", b""])));
        let (table, _, none) = left(&[]);
        assert_eq!((table, none), (vec![2, 1, 1], data([b"", b"", b""])));
    }

    #[test]
    fn a_module_without_places_is_refused() {
        let module = b"\0asm\x01\0\0\0".as_slice();
        assert!(swept(module, 0, |copy| Ok(copy.to_vec())).is_err());
        assert!(swept(&linked()[..60], 0, |copy| Ok(copy.to_vec())).is_err());
    }
}
