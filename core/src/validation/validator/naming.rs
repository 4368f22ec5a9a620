//! What the model says about members in addition to their types: the rule that a wrong one breaks, and the other name
//! by which peers are known to send it.

use super::{Fail, Mode, Naming, Validator};
use crate::json::{Checkpoint, Kind, Scanner};
use crate::rules::RuleId;
use crate::validation::problem::{Problem, Segment};
use crate::validation::table::{Field, TypeId};
use crate::validation::words::general;

/// In place of the index of a member: the type itself.
const WHOLE: u8 = 255;
/// In place of the index of a member: the tag of a union.
const TAG: u8 = 254;

impl Validator {
    /// The rule that an unknown tag or value of a type breaks.
    pub(super) fn rule_of_unknown(&self, ty: TypeId) -> Option<RuleId> {
        find(self.tables.rules, ty, WHOLE)
    }

    /// The rule that a missing tag of a type breaks.
    pub(in crate::validation) fn rule_of_tag(&self, ty: TypeId) -> Option<RuleId> {
        find(self.tables.rules, ty, TAG)
    }

    /// Whether a tag means the same as no tag: `agent` for `AuthMethodAgent`.
    pub(in crate::validation) fn is_untagged(&self, owner: TypeId, tag: &str) -> bool {
        find(self.tables.aliases, owner, TAG) == Some(tag)
    }

    fn rule_of_member(&self, owner: TypeId, field: &'static Field, index: u8) -> Option<RuleId> {
        if field.name == "_meta" {
            Some(id!("EXT-02"))
        } else {
            find(self.tables.rules, owner, index)
        }
    }

    /// From here on, problems are with the value of a member. Returns the naming to restore after it.
    pub(super) fn enter_member(&mut self, owner: TypeId, field: &'static Field, index: u8) -> Naming {
        let outside = self.naming;
        if let Mode::Mixed(_) = self.mode {
            let here = self.rule_of_member(owner, field, index);
            self.naming = Naming { around: here.or(outside.around), here };
        }
        outside
    }

    /// Moves a problem into a member. A rule that the model names for the member takes precedence over a general one.
    pub(super) fn name(&self, problem: &mut Problem, owner: TypeId, field: &'static Field, index: u8) {
        let own = self.rule_of_member(owner, field, index);
        let direct = problem.is_here();
        problem.within(Segment::Name(field.name));
        if let Some(rule) = own {
            // A closed value or a number further in already has a specific rule.
            if (direct && general(problem.rule)) || problem.rule == self.rule() {
                problem.rule = rule;
            }
        }
    }

    /// Looks for a missing member of the object that begins at `head` under its other name. If it is there, it is
    /// renamed and reported. The scanner stays where it is, except for white space.
    pub(super) fn renamed(
        &mut self,
        scanner: &mut Scanner<'_>,
        head: Checkpoint,
        owner: TypeId,
        field: &'static Field,
        index: u8,
    ) -> Result<bool, Fail> {
        let mut problem = Problem::new(self.rule(), "this name", "another name for it");
        let alias = find(self.tables.aliases, owner, index).filter(|_| {
            self.name(&mut problem, owner, field, index);
            self.repairs(problem.rule)
        });
        let Some(alias) = alias else { return Ok(false) };
        let behind = scanner.checkpoint();
        scanner.rewind(head);
        let mut more = scanner.enter(Kind::Object)?;
        while more {
            let at = scanner.checkpoint().offset();
            if !scanner.key()?.is(alias) {
                scanner.skip()?;
                more = scanner.more(Kind::Object)?;
                continue;
            }
            let (edits, problems, depth, lists) = (self.edits.len(), self.problems.len(), self.depth, self.lists);
            let outcome = self.value(scanner, field.ty);
            scanner.rewind(behind);
            let quoted = at..at + alias.len() + 2;
            if outcome.is_err() || scanner.slice(quoted.clone()).trim_matches('"') != alias {
                self.edits.truncate(edits);
                self.problems.truncate(problems);
                (self.depth, self.lists) = (depth, lists);
                return Ok(false);
            }
            self.edits.push(quoted, format!("\"{}\"", field.name));
            self.file(problem);
            return Ok(true);
        }
        scanner.rewind(behind);
        Ok(false)
    }
}

/// The row of a member.
fn find<T: Copy>(rows: &[(TypeId, u8, T)], ty: TypeId, index: u8) -> Option<T> {
    let at = rows.binary_search_by_key(&(ty, index), |&(ty, index, _)| (ty, index)).ok()?;
    Some(rows[at].2)
}
