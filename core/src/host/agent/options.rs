//! Config options of a session, one of which may be its modes (MODE-09).

use std::borrow::Cow;

use super::object::{each, quoted, text, Object};
use crate::json;

const MODE: &str = "mode";

/// The options of a session in the shapes of version 2.
#[derive(Debug, Clone, Default)]
pub(super) struct Options {
    /// Those that the agent has listed.
    list: Vec<String>,
    mode: Option<Modes>,
}

/// The modes of version 1.
#[derive(Debug, Clone)]
struct Modes {
    /// A list as JSON text.
    values: String,
    current: String,
}

impl Options {
    /// Reads what an answer of version 1 lists, and puts the list of version 2 in its place.
    pub(super) fn of(answer: &mut Object<'_>) -> Self {
        let list = answer.take("configOptions");
        let modes = answer.take("modes");
        let mut options = Options::default();
        options.replace(list.as_deref().unwrap_or("[]"));
        options.mode = modes.as_deref().and_then(Modes::of);
        let full = options.full();
        if list.is_some() || full != "[]" {
            answer.set("configOptions", full);
        }
        options
    }

    /// Replaces the options that the agent lists.
    pub(super) fn replace(&mut self, list: &str) {
        self.list = json::items(&shapes(list)).into_iter().map(Into::into).collect();
    }

    /// The id of the option that was made of the modes, if it is in the list.
    pub(super) fn mode_id(&self) -> Option<Cow<'static, str>> {
        let of_its_kind = |option: &String| text(option, "/category").is_some_and(|category| category == MODE);
        if self.mode.is_none() || self.list.iter().any(of_its_kind) {
            return None;
        }
        let taken =
            |id: &str| self.list.iter().any(|option| text(option, "/configId").is_some_and(|known| known == id));
        let mut ids = (2..).map(|number| Cow::Owned(format!("{MODE}-{number}")));
        Some(if taken(MODE) { ids.find(|id| !taken(id))? } else { MODE.into() })
    }

    /// Sets the mode, in the option that was made of the modes or in the agent's own. `false` if there is neither.
    pub(super) fn set_mode(&mut self, mode: &str) -> bool {
        let is_made = self.mode_id().is_some();
        if let Some(modes) = &mut self.mode {
            mode.clone_into(&mut modes.current);
        }
        let own =
            self.list.iter_mut().find(|option| text(option, "/category").is_some_and(|category| category == MODE));
        if let Some(option) = own {
            let mut changed = Object::of(option);
            changed.set_text("currentValue", mode);
            *option = changed.write();
            return true;
        }
        is_made
    }

    /// The complete list (CONF-07).
    pub(super) fn full(&self) -> String {
        let modes = self.mode_id().zip(self.mode.as_ref()).map(|(id, modes)| modes.write(&id));
        let all: Vec<&str> = modes.as_deref().into_iter().chain(self.list.iter().map(|option| &**option)).collect();
        format!("[{}]", all.join(","))
    }
}

impl Modes {
    fn of(modes: &str) -> Option<Self> {
        let values = each(json::pointer(modes, "/availableModes")?, |mode| {
            let mut mode = Object::of(mode);
            mode.rename("id", "value");
            mode.write()
        });
        let current = text(modes, "/currentModeId")?.into_owned();
        (values != "[]").then_some(Modes { values, current })
    }

    fn write(&self, id: &str) -> String {
        let Modes { values, current } = self;
        let (id, current) = (quoted(id), quoted(current));
        format!(
            r#"{{"configId":{id},"name":"Mode","category":"mode","type":"select","currentValue":{current},"options":{values}}}"#
        )
    }
}

/// A list of options of version 1 in the shapes of version 2 (CONF-11).
fn shapes(list: &str) -> String {
    each(list, |option| {
        let mut option = Object::of(option);
        option.rename("id", "configId");
        option.set_absent("type", "\"select\"");
        option.change("options", |values| {
            each(values, |value| {
                let mut value = Object::of(value);
                value.rename("group", "groupId");
                value.write()
            })
        });
        option.write()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODES: &str = r#"{"currentModeId":"ask","availableModes":[{"id":"ask","name":"Ask"},{"id":"code","name":"Code","description":"C"}]}"#;

    fn ids(options: &Options) -> Vec<String> {
        json::items(&options.full()).iter().map(|option| text(option, "/configId").unwrap().into_owned()).collect()
    }

    #[test]
    fn modes_are_an_option() {
        let given = format!(
            r#"{{"modes":{MODES},"configOptions":[{{"id":"mode","name":"M","currentValue":"a","options":[{{"group":"g","name":"G","options":[{{"value":"a","name":"A"}}]}}]}}]}}"#
        );
        let mut answer = Object::of(&given);
        let mut options = Options::of(&mut answer);
        assert_eq!(ids(&options), ["mode-2", "mode"]);
        assert_eq!(
            answer.write(),
            r#"{"configOptions":[{"configId":"mode-2","name":"Mode","category":"mode","type":"select","currentValue":"ask","options":[{"value":"ask","name":"Ask"},{"value":"code","name":"Code","description":"C"}]},{"configId":"mode","name":"M","currentValue":"a","options":[{"groupId":"g","name":"G","options":[{"value":"a","name":"A"}]}],"type":"select"}]}"#
        );
        assert!(options.set_mode("code"));
        assert_eq!(text(&options.full(), "/0/currentValue").unwrap(), "code");
        options.replace("[]");
        assert_eq!(ids(&options), ["mode"]);
    }

    #[test]
    fn an_option_of_the_agents_own_takes_the_place_of_the_modes() {
        let given = format!(
            r#"{{"modes":{MODES},"configOptions":[{{"id":"m","name":"M","category":"mode","currentValue":"ask","options":[{{"value":"ask","name":"A"}},{{"value":"code","name":"C"}}]}}]}}"#
        );
        let mut options = Options::of(&mut Object::of(&given));
        assert_eq!((ids(&options), options.mode_id()), (vec!["m".to_owned()], None));
        assert!(options.set_mode("code"));
        assert_eq!(text(&options.full(), "/0/currentValue").unwrap(), "code");
        let mut none = Object::of("{}");
        assert!(!Options::of(&mut none).set_mode("code") && none.write() == "{}");
    }
}
