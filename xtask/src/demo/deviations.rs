//! Where a host is known to deviate from the script, held against how its pairs end.
//!
//! `tests/interop/deviations.json` has these places, by host and side, with the reason. A pair with such a host has to
//! end there and nowhere else: one that ends right is wrong, as the declaration is out of date.

use std::fs;

use anyhow::{bail, ensure, Context, Result};
use serde_json::{Map, Value};

use super::hosts::Host;
use super::pair::Pair;

const DECLARED: &str = "tests/interop/deviations.json";
const MEMBERS: &[&str] = &["place", "why", "with"];

/// One place at which one side of a pair deviates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Deviation {
    host: &'static str,
    /// `client` or `agent`: the side that deviates. The other one finds it.
    pub(super) side: &'static str,
    pub(super) place: String,
    why: String,
    /// The hosts that find it, where not all do.
    with: Option<Vec<String>>,
}

/// All that is declared.
pub(super) struct Declared(Vec<Deviation>);

impl Declared {
    pub(super) fn load() -> Result<Self> {
        let text = fs::read_to_string(DECLARED).context(DECLARED)?;
        serde_json::from_str(&text).context(DECLARED).and_then(|value| Self::read(&value)).context(DECLARED)
    }

    pub(super) fn read(value: &Value) -> Result<Self> {
        let mut all = Vec::new();
        for (name, sides) in value.as_object().context("expected an object by host")? {
            let host = known(name)?;
            for (side, entries) in sides.as_object().with_context(|| format!("/{name}: expected an object by side"))? {
                let at = format!("/{name}/{side}");
                let side = ["client", "agent"].into_iter().find(|known| known == side);
                let side = side.with_context(|| format!("{at}: expected client or agent"))?;
                for (index, entry) in
                    entries.as_array().with_context(|| format!("{at}: expected a list"))?.iter().enumerate()
                {
                    all.push(one(host, side, entry).with_context(|| format!("{at}/{index}"))?);
                }
            }
        }
        Ok(Declared(all))
    }

    /// What is declared of a pair.
    pub(super) fn of(&self, pair: Pair) -> Vec<Deviation> {
        let concerns = |one: &&Deviation| {
            let (host, other) = match one.side {
                "client" => (pair.client.name, pair.agent.name),
                _ => (pair.agent.name, pair.client.name),
            };
            one.host == host && one.with.as_ref().is_none_or(|with| with.iter().any(|name| name == other))
        };
        self.0.iter().filter(concerns).cloned().collect()
    }
}

impl Deviation {
    /// What is shown when a pair ends as it has to.
    pub(super) fn shown(&self, pair: Pair) -> String {
        let Deviation { host, side, place, why, .. } = self;
        format!("{:<18} the {side} ({host}) deviates at {place}: {why}", pair.name())
    }

    /// Looks for it in what the other side said: hosts begin with the place.
    pub(super) fn check(&self, said: &str) -> Result<()> {
        let Deviation { host, side, place, .. } = self;
        ensure!(
            said.contains(&format!("{place}: ")),
            "the {side} ({host}) does not deviate at {place}, as {DECLARED} says, but elsewhere"
        );
        Ok(())
    }

    /// Why a pair is wrong that has ended right.
    pub(super) fn gone(&self) -> String {
        let Deviation { host, side, place, .. } = self;
        format!("the {side} ({host}) no longer deviates at {place}, as {DECLARED} says")
    }
}

fn known(name: &str) -> Result<&'static str> {
    Host::find(name).map(|host| host.name).with_context(|| format!("/{name}: no such host"))
}

/// The members of a declaration, all of which are known.
pub(super) fn members<'e>(entry: &'e Value, known: &[&str]) -> Result<&'e Map<String, Value>> {
    let members = entry.as_object().context("expected an object")?;
    match members.keys().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => bail!("{unknown} is not known; there are {}", known.join(", ")),
        None => Ok(members),
    }
}

/// A member that has to be a text.
pub(super) fn text(members: &Map<String, Value>, name: &str) -> Result<String> {
    let text = members.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    text.map(str::to_owned).with_context(|| format!("expected a text as {name}"))
}

fn one(host: &'static str, side: &'static str, entry: &Value) -> Result<Deviation> {
    let members = members(entry, MEMBERS)?;
    let with = match members.get("with") {
        None => None,
        Some(with) => {
            let names =
                with.as_array().filter(|names| !names.is_empty()).context("expected a list of hosts as with")?;
            let name = |name: &Value| known(name.as_str().unwrap_or_default()).map(str::to_owned);
            Some(names.iter().map(name).collect::<Result<Vec<_>>>()?)
        }
    };
    Ok(Deviation { host, side, place: text(members, "place")?, why: text(members, "why")?, with })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pair(client: &str, agent: &str) -> Pair {
        Pair { client: Host::find(client).unwrap(), agent: Host::find(agent).unwrap() }
    }

    #[test]
    fn a_declaration_is_about_one_side_of_its_pairs() {
        let value = json!({
            "go-sdk": {"agent": [{"place": "/steps/2", "why": "w"}]},
            "java-sdk": {"client": [{"place": "/steps/3", "why": "w", "with": ["c"]}]},
        });
        let declared = Declared::read(&value).unwrap();
        let places =
            |client, agent| declared.of(pair(client, agent)).into_iter().map(|one| one.place).collect::<Vec<_>>();
        assert_eq!(places("rust", "go-sdk"), ["/steps/2"]);
        assert_eq!(places("java-sdk", "c"), ["/steps/3"]);
        for (client, agent) in [("go-sdk", "rust"), ("c", "java-sdk"), ("java-sdk", "rust"), ("rust", "c")] {
            assert!(places(client, agent).is_empty(), "{client}:{agent}");
        }
    }

    #[test]
    fn the_other_side_has_to_name_the_place() {
        let value = json!({"go-sdk": {"agent": [{"place": "/steps/2/during/1", "why": "w"}]}});
        let one = Declared::read(&value).unwrap().of(pair("c", "go-sdk")).remove(0);
        assert!(one.check("python agent: /steps/2/during/1: expected x").is_ok());
        for said in ["", "/steps/2/during/11: expected x", "/steps/2/during/1/a: expected x"] {
            let error = one.check(said).unwrap_err().to_string();
            assert!(error.contains("does not deviate at /steps/2/during/1"), "{error}");
        }
        assert!(one.gone().contains("the agent (go-sdk) no longer deviates at /steps/2/during/1"));
    }

    #[test]
    fn what_a_declaration_lacks_is_said() {
        for (value, message) in [
            (json!([]), "expected an object by host"),
            (json!({"x": {}}), "/x: no such host"),
            (json!({"c": {"host": []}}), "/c/host: expected client or agent"),
            (json!({"c": {"agent": {}}}), "/c/agent: expected a list"),
            (json!({"c": {"agent": [{"place": "/steps/1"}]}}), "/c/agent/0: expected a text as why"),
            (json!({"c": {"agent": [{"why": "w", "place": ""}]}}), "/c/agent/0: expected a text as place"),
            (json!({"c": {"agent": [{"count": 1}]}}), "/c/agent/0: count is not known; there are place, why, with"),
            (json!({"c": {"agent": [{"place": "/", "why": "w", "with": ["x"]}]}}), "/c/agent/0: /x: no such host"),
        ] {
            let error = format!("{:#}", Declared::read(&value).err().unwrap());
            assert_eq!(error, message);
        }
    }
}
