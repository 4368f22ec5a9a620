//! Puts functions that resemble each other next to each other.
//!
//! `gzip` finds what repeats within the last 32 KiB, and Brotli needs fewer bits for what is near and expects what came last. The
//! code is many times as long, in the order in which the compiler left it. The order of functions means nothing to a program, so
//! it is chosen for compression: after each function comes the one that has the largest part of its bytes in common with those
//! before. That changes no function, only their numbers.

use std::collections::{HashMap, VecDeque};

use crate::Outcome;

/// How many bytes in a row count as something in common.
const PIECE: usize = 6;
/// So many bytes back it is looked for. Further back it serves both ways of compressing less, as was measured.
const WINDOW: usize = 4000;
/// What more functions have says nothing about two of them.
const COMMON: usize = 1000;
/// Added to the length of a function, as the shortest resemble everything.
const SHORT: usize = 60;

pub(crate) const IMPORTS: u8 = 2;
const CODE: u8 = 10;

/// The module with names for its functions that sort in the order in which they are to stand. It must have none.
pub(crate) fn name(module: &[u8]) -> Outcome<Vec<u8>> {
    let mut imported = 0;
    let mut bodies = Vec::new();
    let mut rest = Reader(module.get(8..).ok_or("not a module")?);
    while !rest.0.is_empty() {
        let id = rest.byte()?;
        let size = rest.number()?;
        let mut section = Reader(rest.take(size)?);
        match id {
            IMPORTS => imported = section.imported_functions()?,
            CODE => {
                for _ in 0..section.number()? {
                    let size = section.number()?;
                    bodies.push(section.take(size)?);
                }
            }
            _ => {}
        }
    }
    let mut ranks = vec![0; bodies.len()];
    for (rank, body) in order(&bodies).into_iter().enumerate() {
        ranks[body] = rank;
    }
    let mut names = number(bodies.len());
    for (body, rank) in ranks.iter().enumerate() {
        names.extend(number(imported + body));
        names.extend(sized(format!("f{rank:08}").into_bytes()));
    }
    let mut section = sized(b"name".to_vec());
    section.push(1);
    section.extend(sized(names));
    Ok([module, &[0], &sized(section)].concat())
}

/// The numbers of the bodies in their new order.
fn order(bodies: &[&[u8]]) -> Vec<usize> {
    let mut owners: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for (at, body) in bodies.iter().enumerate() {
        for piece in body.windows(PIECE) {
            let owners = owners.entry(piece).or_default();
            if owners.last() != Some(&at) {
                owners.push(at);
            }
        }
    }
    // Each piece that says something: who has it, and how often it is in the window.
    let mut pieces = Vec::new();
    let mut pieces_of = vec![Vec::new(); bodies.len()];
    let mut known: Vec<Vec<usize>> = owners.into_values().filter(|of| (2..=COMMON).contains(&of.len())).collect();
    known.sort_unstable();
    for owners in known {
        for &owner in &owners {
            pieces_of[owner].push(pieces.len());
        }
        pieces.push((owners, 0));
    }
    let mut shared = vec![0; bodies.len()];
    let mut left: Vec<usize> = (0..bodies.len()).collect();
    let (mut window, mut size) = (VecDeque::new(), 0);
    let mut order = Vec::new();
    // The first is the longest; then it is the largest part that counts. Both sides of the comparison are multiplied out.
    while let Some(at) = (0..left.len()).max_by(|&one, &other| {
        let (one, other) = (left[one], left[other]);
        let part = |of: usize, by: usize| shared[of] * (bodies[by].len() + SHORT);
        let longer =
            if order.is_empty() { bodies[one].len().cmp(&bodies[other].len()) } else { std::cmp::Ordering::Equal };
        longer.then(part(one, other).cmp(&part(other, one))).then(other.cmp(&one))
    }) {
        let next = left.swap_remove(at);
        order.push(next);
        window.push_back(next);
        size += bodies[next].len();
        for &piece in &pieces_of[next] {
            let (owners, times): &mut (Vec<usize>, usize) = &mut pieces[piece];
            *times += 1;
            if *times == 1 {
                for &owner in owners.iter() {
                    shared[owner] += 1;
                }
            }
        }
        while size > WINDOW && window.len() > 1 {
            let Some(gone) = window.pop_front() else { break };
            size -= bodies[gone].len();
            for &piece in &pieces_of[gone] {
                let (owners, times) = &mut pieces[piece];
                *times -= 1;
                if *times == 0 {
                    for &owner in owners.iter() {
                        shared[owner] -= 1;
                    }
                }
            }
        }
    }
    order
}

/// What is left of a section.
pub(crate) struct Reader<'m>(pub(crate) &'m [u8]);

impl<'m> Reader<'m> {
    pub(crate) fn byte(&mut self) -> Outcome<u8> {
        Ok(self.take(1)?[0])
    }

    pub(crate) fn take(&mut self, size: usize) -> Outcome<&'m [u8]> {
        let (taken, rest) = self.0.split_at_checked(size).ok_or("a section ends too early")?;
        self.0 = rest;
        Ok(taken)
    }

    /// An unsigned number in LEB128.
    pub(crate) fn number(&mut self) -> Outcome<usize> {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
            if shift > 28 {
                return Err("a number is too long".into());
            }
        }
    }

    /// How many functions a section of imports has. A module for JavaScript imports nothing else.
    pub(crate) fn imported_functions(&mut self) -> Outcome<usize> {
        let count = self.number()?;
        for _ in 0..count {
            for _ in 0..2 {
                let size = self.number()?;
                self.take(size)?;
            }
            if self.byte()? != 0 {
                return Err("an import that is no function".into());
            }
            self.number()?;
        }
        Ok(count)
    }
}

/// A number in LEB128.
pub(crate) fn number(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// Bytes behind their length.
pub(crate) fn sized(bytes: Vec<u8>) -> Vec<u8> {
    [number(bytes.len()), bytes].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_resemble_each_other_stand_together() {
        let bodies: [&[u8]; 5] = [b"one two three four", b"123456789 123", b"two three four", b"456789 123", b"zzz"];
        assert_eq!(order(&bodies), [0, 2, 1, 3, 4]);
    }

    #[test]
    fn numbers_are_read_as_they_are_written() {
        for value in [0, 1, 127, 128, 300, 1 << 20] {
            assert_eq!(Reader(&number(value)).number().unwrap(), value);
        }
    }

    #[test]
    fn names_stand_behind_the_module() {
        // One function that is imported, and two that are empty.
        let module = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x02\x07\x01\x01a\x01b\0\0\x03\x03\x02\0\0\x0a\x07\x02\x02\0\x0b\x02\0\x0b";
        let section = b"\0\x1e\x04name\x01\x17\x02\x01\x09f00000000\x02\x09f00000001";
        assert_eq!(name(module).unwrap(), [&module[..], section].concat());
        assert!(name(&module[..20]).is_err() && name(b"").is_err());
    }
}
