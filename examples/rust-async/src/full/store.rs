//! The conversations that the full agent keeps, and what a user can set in them.

use serde_json::{json, Map, Value};

pub(crate) const MODES: &[(&str, &str)] = &[("ask", "Ask before changes"), ("code", "Change files at once")];
const MODELS: &[(&str, &[&str])] = &[("Local", &["small", "large"]), ("Hosted", &["huge"])];
const PAGE: usize = 2;

/// What is left of a session when it is closed.
pub(crate) struct Conversation {
    id: String,
    roots: Vec<String>,
    pub(crate) mode: String,
    options: Map<String, Value>,
    title: Option<String>,
    updated: String,
    pub(crate) history: Vec<Value>,
}

impl Conversation {
    pub(crate) fn new(id: &str, roots: Vec<String>) -> Self {
        let options = Map::from_iter([("model".to_owned(), json!("small")), ("web".to_owned(), json!(false))]);
        let (title, history) = (None, Vec::new());
        let (mode, updated) = ("ask".to_owned(), now());
        Conversation { id: id.to_owned(), roots, mode, options, title, updated, history }
    }

    /// Keeps a message.
    pub(crate) fn add(&mut self, kind: &str, blocks: &Value) {
        let id = format!("message-{}", self.history.len());
        let blocks = blocks.as_array().into_iter().flatten();
        self.history.extend(blocks.map(|block| json!({"sessionUpdate": kind, "content": block, "messageId": id})));
    }

    pub(crate) fn touch(&mut self) {
        self.updated = now();
    }

    /// Its title, which is that of the first prompt, and when it was changed.
    pub(crate) fn named(&mut self, prompt: &str) -> (String, String) {
        self.touch();
        let title = self.title.get_or_insert_with(|| prompt.chars().take(40).collect());
        (title.clone(), self.updated.clone())
    }

    /// As `session/list` has it.
    fn info(&self) -> Value {
        let (cwd, further) = self.roots.split_first().map_or(("", &[][..]), |(cwd, further)| (cwd.as_str(), further));
        json!({
            "sessionId": self.id, "cwd": cwd, "additionalDirectories": further,
            "title": self.title, "updatedAt": self.updated,
        })
    }

    /// The modes and the options.
    pub(crate) fn state(&self, booleans: bool) -> Value {
        let modes: Vec<Value> =
            MODES.iter().map(|(id, about)| json!({"id": id, "name": titled(id), "description": about})).collect();
        json!({
            "modes": {"currentModeId": self.mode, "availableModes": modes},
            "configOptions": self.config_options(booleans),
        })
    }

    /// All options; a client that does not take switches gets none.
    pub(crate) fn config_options(&self, booleans: bool) -> Vec<Value> {
        let value = |model: &&str| json!({"value": model, "name": titled(model)});
        let group = |(name, models): &(&str, &[&str])| {
            let options: Vec<Value> = models.iter().map(value).collect();
            json!({"group": name.to_lowercase(), "name": name, "options": options})
        };
        let groups: Vec<Value> = MODELS.iter().map(group).collect();
        let mut options = vec![json!({
            "type": "select", "id": "model", "name": "Model", "category": "model",
            "currentValue": self.options["model"], "options": groups,
        })];
        if booleans {
            let web = &self.options["web"];
            options.push(json!({"type": "boolean", "id": "web", "name": "Search the web", "currentValue": web}));
        }
        options
    }

    /// Sets an option, if there is such a one.
    pub(crate) fn set(&mut self, id: &str, value: &Value) -> bool {
        let is_model = || MODELS.iter().any(|(_, models)| models.iter().any(|model| value == model));
        let fits = match id {
            "model" => is_model(),
            "web" => value.is_boolean(),
            _ => false,
        };
        if fits {
            self.options.insert(id.to_owned(), value.clone());
        }
        fits
    }
}

/// All conversations of this process.
#[derive(Default)]
pub(crate) struct Store {
    all: Vec<Conversation>,
}

impl Store {
    pub(crate) fn add(&mut self, conversation: Conversation) {
        self.all.push(conversation);
    }

    pub(crate) fn find(&mut self, id: &str) -> Option<&mut Conversation> {
        self.all.iter_mut().find(|conversation| conversation.id == id)
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.all.retain(|conversation| conversation.id != id);
    }

    /// Some conversations, those of a directory or all, and where the next ones begin.
    pub(crate) fn page(&self, cwd: Option<&str>, cursor: Option<&str>) -> Value {
        let wanted = |each: &&Conversation| cwd.is_none_or(|cwd| each.roots.first().is_some_and(|root| root == cwd));
        let begin = cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
        let mut found = self.all.iter().filter(wanted).skip(begin);
        let sessions: Vec<Value> = found.by_ref().take(PAGE).map(Conversation::info).collect();
        let next = found.next().map(|_| (begin + PAGE).to_string());
        json!({"sessions": sessions, "nextCursor": next})
    }
}

fn titled(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// The time, as ISO 8601 has it.
fn now() -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_secs();
    // The days of the era that begins in March of the year 0, of 400 years each, as civil calendars count them.
    let (days, seconds) = (now / 86_400 + 719_468, now % 86_400);
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (day, month) = (day - (153 * month + 2) / 5 + 1, if month < 10 { month + 3 } else { month - 9 });
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
