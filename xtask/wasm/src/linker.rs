//! What the linker says about a module: which numbers are addresses, and of what. `sweep` is what needs that.
//!
//! The format is that of the section `linking` and of the sections `reloc.…` in the WebAssembly tool conventions.

use crate::order::Reader;
use crate::Outcome;

pub(crate) const I32_CONST: u8 = 0x41;
pub(crate) const END: u8 = 0x0b;
/// The bytes of a number that the linker has put somewhere.
pub(crate) const PADDED: usize = 5;

/// A place at which the linker has put a number, by what the number is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A function's place in the table, in code or in data.
    Slot,
    /// An address in code.
    Address,
    /// An address to which code adds a number.
    Base,
    /// The number of a global variable.
    Global,
    /// What has nothing to do with data.
    Other,
}

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) kind: Kind,
    /// In the section.
    pub(crate) at: usize,
    pub(crate) symbol: usize,
    /// What is added to the address of the symbol, as the linker writes it.
    pub(crate) more: usize,
}

#[derive(Debug)]
pub(crate) enum Symbol {
    Function(usize),
    /// Part of a segment.
    Data {
        segment: usize,
        from: usize,
        to: usize,
    },
    Other,
}

/// What a section of relocations says.
pub(crate) fn places(mut rest: Reader<'_>) -> Outcome<Vec<Place>> {
    rest.number()?;
    let count = rest.number()?;
    let mut places = Vec::new();
    for _ in 0..count {
        let number = rest.byte()?;
        let (at, symbol) = (rest.number()?, rest.number()?);
        let (kind, is_sum) = match number {
            1 | 2 => (Kind::Slot, false),
            3 => (Kind::Base, true),
            4 | 5 => (Kind::Address, true),
            7 => (Kind::Global, false),
            // Functions, types and tables.
            0 | 6 | 20 => (Kind::Other, false),
            _ => return Err(format!("a relocation of an unknown kind, {number}").into()),
        };
        let more = if is_sum { rest.number()? } else { 0 };
        places.push(Place { kind, at, symbol, more });
    }
    Ok(places)
}

/// The table of symbols in the section of the linker.
pub(crate) fn symbols(mut rest: Reader<'_>) -> Outcome<Vec<Symbol>> {
    const TABLE: u8 = 8;
    const UNDEFINED: usize = 0x10;
    const NAMED: usize = 0x40;
    rest.number()?;
    while !rest.0.is_empty() {
        let kind = rest.byte()?;
        let size = rest.number()?;
        let mut rows = Reader(rest.take(size)?);
        if kind != TABLE {
            continue;
        }
        let mut symbols = Vec::new();
        for _ in 0..rows.number()? {
            let kind = rows.byte()?;
            let flags = rows.number()?;
            let is_defined = flags & UNDEFINED == 0;
            let mut symbol = Symbol::Other;
            if kind == 1 {
                rows.text()?;
                if is_defined {
                    let (segment, from, size) = (rows.number()?, rows.number()?, rows.number()?);
                    symbol = Symbol::Data { segment, from, to: from + size };
                }
            } else {
                let index = rows.number()?;
                if kind == 0 {
                    symbol = Symbol::Function(index);
                }
                if kind != 3 && (is_defined || flags & NAMED != 0) {
                    rows.text()?;
                }
            }
            symbols.push(symbol);
        }
        return Ok(symbols);
    }
    Err("there is no table of symbols".into())
}

/// A segment of data.
#[derive(Debug)]
pub(crate) struct Segment {
    /// Where its bytes begin in the section, and how many they are.
    pub(crate) begin: usize,
    pub(crate) size: usize,
    /// Where they are when the program runs.
    pub(crate) address: usize,
}

pub(crate) fn segments(section: &[u8]) -> Outcome<Vec<Segment>> {
    let mut rest = Reader(section);
    let mut segments = Vec::new();
    for _ in 0..rest.number()? {
        let address = rest.beginning()?;
        let size = rest.number()?;
        segments.push(Segment { begin: section.len() - rest.0.len(), size, address });
        rest.take(size)?;
    }
    Ok(segments)
}

/// The functions in the table, and what stands before their number.
pub(crate) fn slots(section: &[u8]) -> Outcome<(&[u8], Vec<usize>)> {
    let mut rest = Reader(section);
    if rest.number()? != 1 {
        return Err("more than one part of the table".into());
    }
    rest.beginning()?;
    let head = &section[..section.len() - rest.0.len()];
    let slots = (0..rest.number()?).map(|_| rest.number()).collect::<Outcome<_>>()?;
    Ok((head, slots))
}

/// A number in as many bytes as the linker takes.
pub(crate) fn padded(number: usize) -> [u8; PADDED] {
    std::array::from_fn(|place| (number >> (7 * place)) as u8 & 0x7f | if place + 1 < PADDED { 0x80 } else { 0 })
}

impl<'m> Reader<'m> {
    /// A text, or anything else behind its length.
    pub(crate) fn text(&mut self) -> Outcome<&'m [u8]> {
        let size = self.number()?;
        self.take(size)
    }

    /// Where a segment is to stand: a constant.
    fn beginning(&mut self) -> Outcome<usize> {
        if (self.byte()?, self.byte()?) != (0, I32_CONST) {
            return Err("a segment that has no constant place".into());
        }
        let place = self.number()?;
        if self.byte()? != END {
            return Err("a segment that has no constant place".into());
        }
        Ok(place)
    }
}
