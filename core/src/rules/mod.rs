//! The rule catalogue: every rule of the protocol that this library enforces or follows, by area.
//!
//! The rows are data (`core/protocol/rules.json`), from which `table` is generated. `catalogue` has the types, and
//! `switch` lets a test switch a rule off. The code of a rule is elsewhere: the tables of the model hold types, gates,
//! phases and directions, and name the rule that a wrong value breaks; checks and trackers are in the engine. A row
//! says how its rule is enforced, so that `cargo xtask rules` can compare that with the tests.

#[macro_use]
mod catalogue;
mod switch;
mod table;

pub use catalogue::{Area, Level, Rule, RuleId, Severity};
#[doc(hidden)]
pub use switch::Way;
#[cfg(feature = "prove")]
#[doc(hidden)]
pub use switch::{asked, without};
pub use table::AREAS;

/// The rule with this id, if there is one.
pub fn rule(id: &str) -> Option<&'static Rule> {
    let area = id.split('-').next()?;
    let area = AREAS.iter().find(|known| known.name == area)?;
    area.rules.iter().find(|rule| rule.id == id)
}
