//! The protocol as static data, one table per version over one list of types. `cargo xtask codegen` writes them; their
//! shape is in [`crate::validation::table`].

use crate::validation::table::Tables;

mod types;
pub mod v1;
pub mod v2;

/// The numbers of all versions, oldest first.
pub use crate::versions::VERSIONS;

/// The tables of a protocol version, if there is such a version.
pub fn version(number: u16) -> Option<&'static Tables> {
    all().find(|tables| tables.version == number)
}

/// The tables of all versions, oldest first.
pub fn all() -> impl DoubleEndedIterator<Item = &'static Tables> {
    [&v1::TABLES, &v2::TABLES].into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::drafts::DRAFTS;
    use crate::validation::table::{Field, Other, Type, TypeId};

    #[test]
    fn there_is_no_other_version() {
        assert!(version(0).is_none() && version(3).is_none());
        assert!(all().map(|tables| tables.version).eq(VERSIONS.iter().copied()));
    }

    #[test]
    fn look_ups_can_search_in_halves() {
        for tables in all() {
            assert!(tables.names.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(tables.methods.windows(2).all(|pair| pair[0].name < pair[1].name));
            assert!(tables.rules.windows(2).all(|pair| (pair[0].0, pair[0].1) < (pair[1].0, pair[1].1)));
        }
    }

    #[test]
    fn everything_that_is_referred_to_exists() {
        for tables in all() {
            let exists = |id: TypeId| usize::from(id) < tables.types.len();
            let draft = |draft: u8| usize::from(draft) <= DRAFTS.len();
            assert_eq!(tables.types[0], Type::Any);
            for ty in tables.types {
                match *ty {
                    Type::Array { item, .. } => assert!(exists(item)),
                    Type::Map { value } => assert!(exists(value)),
                    Type::Object { fields } => {
                        assert!(fields.iter().all(|field| exists(field.ty) && draft(field.draft)));
                    }
                    Type::Union { variants, other, untagged, .. } => {
                        assert!(variants.iter().all(|variant| exists(variant.ty) && draft(variant.draft)));
                        assert!(untagged.is_none_or(exists));
                        assert!(!matches!(other, Other::Open(id) if !exists(id)));
                    }
                    Type::AnyOf { of } => assert!(of.iter().copied().all(exists)),
                    _ => {}
                }
            }
            assert!(tables.names.iter().all(|&(_, id)| exists(id)));
            assert!(tables.methods.iter().all(|m| exists(m.params) && exists(m.result) && draft(m.draft)));
            for &(id, field, _) in tables.rules {
                let known = match &tables.types[usize::from(id)] {
                    Type::Object { fields } => usize::from(field) < fields.len(),
                    Type::Union { .. } => field >= 254,
                    Type::Enum { .. } => field == 255,
                    _ => false,
                };
                assert!(known, "rule of {id}, {field}");
            }
        }
    }

    #[test]
    fn a_type_can_be_found_by_constant_and_name() {
        let id = v1::ids::NEW_SESSION_REQUEST;
        let named = v1::TABLES.names.contains(&("NewSessionRequest", id));
        assert_eq!(named, cfg!(feature = "words"));
        let Type::Object { fields } = v1::TABLES.types[usize::from(id)] else { panic!("not an object") };
        let cwd = fields.iter().find(|field| field.name == "cwd").unwrap();
        assert!(cwd.has(Field::REQUIRED) && !cwd.has(Field::NULL));
    }
}
