//! The protocol as static data, one table per version. `cargo xtask codegen` writes the tables; their shape is in
//! [`crate::validation::table`].

use crate::validation::table::Tables;

pub mod v1;
pub mod v2;

/// The tables of a protocol version, if there is such a version.
pub fn version(number: u16) -> Option<&'static Tables> {
    [&v1::TABLES, &v2::TABLES].into_iter().find(|tables| tables.version == number)
}
