//! What can be asked of a connection, and of a session: `getters.json`. Its format is in `core/protocol/README.md`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{ensure, Context, Result};
use indexmap::IndexMap;
use serde_json::Value;

use super::node::Node;
use super::{DRAFTS, FOLDER};

/// The file, below the model's root.
const FILE: &str = "getters.json";
/// The file of the rules that getters may name.
const RULES: &str = "rules.json";

/// The whole file.
#[derive(Debug)]
pub(crate) struct Getters {
    /// Enumerations by name.
    pub(crate) enums: IndexMap<String, Enumeration>,
    /// Getters that stand together, by the name of their group.
    pub(crate) groups: IndexMap<String, Group>,
}

/// Values that have names.
#[derive(Debug)]
pub(crate) struct Enumeration {
    /// What C's constants begin with, where it has any.
    pub(crate) c: Option<String>,
    /// The names, in the order in which the core declares the values.
    pub(crate) values: Vec<String>,
}

/// Getters that stand together.
#[derive(Debug)]
pub(crate) struct Group {
    /// What they are, in one sentence.
    pub(crate) about: String,
    /// Whether an observer is asked for the same.
    pub(crate) of_observers: bool,
    /// They, in the order of the C header.
    pub(crate) getters: Vec<Getter>,
}

/// A language that the data can speak of by itself. C stands for C++ as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    C,
    Python,
    JavaScript,
}

impl Language {
    const ALL: [Language; 3] = [Language::C, Language::Python, Language::JavaScript];
    const NAMES: [&str; 3] = ["c", "python", "javascript"];

    fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().position(|known| *known == name).map(|place| Self::ALL[place])
    }
}

/// Something that can be asked.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "the format has as many independent marks")]
pub(crate) struct Getter {
    /// Its name in all languages, each in its own way of writing.
    pub(crate) name: String,
    /// The core's method, or field.
    pub(crate) core: String,
    /// What of the connection's it is asked of; the first parameter is the session's id then.
    pub(crate) of: Option<Of>,
    /// The core has a field instead of a method.
    pub(crate) field: bool,
    /// The core's method changes the connection.
    pub(crate) changes: bool,
    /// The core makes the text for the caller.
    pub(crate) made: bool,
    /// What it takes beside the session.
    pub(crate) takes: Vec<Parameter>,
    /// What it gives.
    pub(crate) gives: Shape,
    /// When there is nothing to give, where the core says so: as in "nothing, before it is agreed on"; of a session, what
    /// goes on behind "the session".
    pub(crate) none: Option<String>,
    /// What a boolean about a session that is not known is, instead of nothing.
    pub(crate) otherwise: bool,
    /// Languages in which it is called although it takes nothing.
    pub(crate) called: Vec<Language>,
    /// Languages that have it.
    pub(crate) languages: Vec<Language>,
    /// Its type in stubs for Python, where the shape does not say enough.
    pub(crate) python: Option<String>,
    /// The same for TypeScript.
    pub(crate) typescript: Option<String>,
    /// What numbers count.
    pub(crate) unit: Option<String>,
    pub(crate) rule: Option<String>,
    pub(crate) page: Option<String>,
    pub(crate) draft: Option<String>,
    pub(crate) doc: String,
    /// The members of an object, where the language has no type that lists them.
    pub(crate) members: Vec<String>,
}

/// What a connection has of each session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Of {
    Session,
    View,
}

impl Of {
    /// The core's method that finds it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Of::Session => "session",
            Of::View => "view",
        }
    }

    /// When there is none.
    fn none(self) -> &'static str {
        match self {
            Of::Session => "when the session is not known",
            Of::View => "when there is no view of the session",
        }
    }
}

/// Something that a getter takes.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) kind: Takes,
    /// What it is, without an end mark.
    pub(crate) doc: String,
    /// What it is where it is left out.
    pub(crate) default: Option<String>,
}

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Takes {
    Text,
    /// The id of a request.
    Id,
    /// A whole number.
    Number,
}

/// The type of what a getter gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    Boolean,
    /// A number of things.
    Count,
    Uint16,
    Uint64,
    Text,
    /// Bytes that stay where they are; for C alone.
    Bytes,
    /// A JSON text that is a value in languages that read it.
    Json,
    /// As [`Json`](Shape::Json), with the session's terminals by id.
    SessionSnapshot,
    /// A value of an enumeration.
    Enum(String),
    /// A list of texts.
    Names,
    /// A list of objects with these members.
    Rows(IndexMap<String, Shape>),
    /// What a language has for the configuration, a session, all sessions, an open request, its id, a list of open requests,
    /// and a list of terminals.
    Config,
    Session,
    Sessions,
    Request,
    RequestId,
    Requests,
    Terminals,
}

impl Shape {
    const WORDS: [(&'static str, Shape); 16] = [
        ("boolean", Shape::Boolean),
        ("count", Shape::Count),
        ("uint16", Shape::Uint16),
        ("uint64", Shape::Uint64),
        ("text", Shape::Text),
        ("bytes", Shape::Bytes),
        ("json", Shape::Json),
        ("session-snapshot", Shape::SessionSnapshot),
        ("names", Shape::Names),
        ("config", Shape::Config),
        ("session", Shape::Session),
        ("sessions", Shape::Sessions),
        ("request", Shape::Request),
        ("request-id", Shape::RequestId),
        ("requests", Shape::Requests),
        ("terminals", Shape::Terminals),
    ];
}

impl Getter {
    pub(crate) fn is_in(&self, language: Language) -> bool {
        self.languages.contains(&language)
    }

    /// Whether every language has it.
    pub(crate) fn is_everywhere(&self) -> bool {
        self.languages.len() == Language::ALL.len()
    }

    /// Whether it is called in a language, rather than read.
    pub(crate) fn is_called(&self, language: Language) -> bool {
        self.of.is_some() || !self.takes.is_empty() || self.called.contains(&language)
    }

    /// Whether there may be nothing to give.
    pub(crate) fn may_be_nothing(&self) -> bool {
        self.none.is_some() || (self.of.is_some() && !self.otherwise)
    }

    /// When there is nothing to give, in words that go on behind "nothing".
    pub(crate) fn nothing(&self) -> Option<String> {
        match (&self.none, self.of) {
            (Some(none), Some(of)) => Some(format!("{}, or {none}", of.none())),
            (None, Some(of)) if !self.otherwise => Some(of.none().to_owned()),
            (none, _) => none.clone(),
        }
    }

    /// All parameters, the session's id among them.
    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        // As the languages have long named it: `session_state(id)`, but `in_roots(session, path)`.
        let name = if self.name.starts_with("session") { "id" } else { "session" };
        let session = self.of.map(|_| Parameter {
            name: name.to_owned(),
            kind: Takes::Text,
            doc: "the session's id".to_owned(),
            default: None,
        });
        let takes = self.takes.iter().map(|parameter| Parameter {
            name: parameter.name.clone(),
            kind: parameter.kind,
            doc: parameter.doc.clone(),
            default: parameter.default.clone(),
        });
        session.into_iter().chain(takes).collect()
    }
}

impl Getters {
    /// Those that observers have too.
    pub(crate) fn of_observers(&self) -> impl Iterator<Item = &Getter> {
        self.groups.values().filter(|group| group.of_observers).flat_map(|group| &group.getters)
    }

    /// All getters in their order.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Getter> {
        self.groups.values().flat_map(|group| &group.getters)
    }
}

/// Reads the file.
pub(crate) fn load() -> Result<Getters> {
    let read = |name: &str| {
        let path = Path::new(FOLDER).join(name);
        fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))
    };
    let areas: Vec<Value> = serde_json::from_str(&read(RULES)?).context(RULES)?;
    let rules = areas.iter().filter_map(|area| area["rules"].as_array()).flatten();
    let rules = rules.filter_map(|rule| Some(rule["id"].as_str()?.to_owned())).collect();
    parse(&read(FILE)?, &rules)
}

/// Reads the file from its text; rules that it names must be among these.
fn parse(text: &str, rules: &BTreeSet<String>) -> Result<Getters> {
    let value: Value = serde_json::from_str(text).context(FILE)?;
    let node = Node { at: FILE.to_owned(), value: &value };
    let mut getters = Getters { enums: IndexMap::new(), groups: IndexMap::new() };
    for (name, node) in node.need("enums")?.entries()? {
        node.only(&["c", "values"])?;
        let values = node.need("values")?.texts()?;
        getters.enums.insert(name.to_owned(), Enumeration { c: node.text("c")?, values });
    }
    let mut names = BTreeSet::new();
    for (name, node) in node.entries()?.into_iter().filter(|(name, _)| *name != "enums") {
        node.only(&["about", "observers", "getters"])?;
        let about = node.need("about")?.str()?.to_owned();
        let mut group = Group { about, of_observers: node.flag("observers")?, getters: Vec::new() };
        for (name, node) in node.need("getters")?.entries()? {
            let getter = getter(name, &node, &getters.enums).with_context(|| node.at.clone())?;
            ensure!(names.insert(name.to_owned()), "{}: there is another getter of this name", node.at);
            if let Some(rule) = getter.rule.as_ref().filter(|rule| !rules.contains(*rule)) {
                return node.expected(&format!("a rule of the catalogue; it has no {rule}"));
            }
            group.getters.push(getter);
        }
        getters.groups.insert(name.to_owned(), group);
    }
    Ok(getters)
}

fn getter(name: &str, node: &Node<'_>, enums: &IndexMap<String, Enumeration>) -> Result<Getter> {
    node.only(&[
        "of",
        "core",
        "field",
        "changes",
        "made",
        "in",
        "takes",
        "gives",
        "none",
        "otherwise",
        "called",
        "unit",
        "rule",
        "page",
        "draft",
        "types",
        "doc",
        "members",
    ])?;
    let languages = |member: &str| match node.get(member) {
        None => Ok(Vec::new()),
        Some(node) => {
            let names = node.texts()?;
            let parsed: Option<Vec<_>> = names.iter().map(|name| Language::parse(name)).collect();
            parsed.map_or_else(|| node.expected(&format!("some of {}", Language::NAMES.join(", "))), Ok)
        }
    };
    let mut takes = Vec::new();
    for (name, node) in node.get("takes").map_or(Ok(Vec::new()), |node| node.entries())? {
        takes.push(parameter(name, &node)?);
    }
    let types = node.get("types");
    if let Some(types) = &types {
        types.only(&["python", "typescript"])?;
    }
    let ty = |language: &str| types.as_ref().map_or(Ok(None), |types| types.text(language));
    let of = node.get("of").map(|node| {
        node.named(&["session", "view"], |word| [Of::Session, Of::View].into_iter().find(|of| of.name() == word))
    });
    let getter = Getter {
        name: name.to_owned(),
        core: node.text("core")?.unwrap_or_else(|| name.to_owned()),
        of: of.transpose()?,
        field: node.flag("field")?,
        changes: node.flag("changes")?,
        made: node.flag("made")?,
        takes,
        gives: shape(&node.need("gives")?, enums)?,
        none: node.text("none")?,
        otherwise: node.get("otherwise").is_some(),
        called: languages("called")?,
        languages: Some(languages("in")?).filter(|list| !list.is_empty()).unwrap_or_else(|| Language::ALL.to_vec()),
        python: ty("python")?,
        typescript: ty("typescript")?,
        unit: node.text("unit")?,
        rule: node.text("rule")?,
        page: node.text("page")?,
        draft: node.text("draft")?,
        doc: node.need("doc")?.str()?.to_owned(),
        members: node.get("members").map_or(Ok(Vec::new()), |node| node.texts())?,
    };
    let snake = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
    ensure!(snake, "the name is not written with small letters and underscores");
    ensure!(getter.doc.ends_with('.'), "the description is no sentence");
    ensure!(getter.draft.as_deref().is_none_or(|draft| DRAFTS.contains(&draft)), "there is no such draft");
    ensure!(
        !getter.otherwise
            || (getter.of.is_some() && getter.gives == Shape::Boolean && node.value["otherwise"] == false),
        "`otherwise` is for booleans of sessions, and false"
    );
    let counted = matches!(getter.gives, Shape::Count | Shape::Uint16);
    ensure!(getter.unit.is_none() || counted, "only numbers have a unit");
    ensure!(getter.unit.is_some() || getter.gives != Shape::Count, "what does it count? Its `unit` is missing");
    ensure!(!getter.changes || getter.gives == Shape::Boolean, "what changes the connection is a boolean");
    let only_c = getter.languages == [Language::C];
    ensure!(getter.gives != Shape::Bytes || only_c, "bytes are for C");
    Ok(getter)
}

fn parameter(name: &str, node: &Node<'_>) -> Result<Parameter> {
    node.only(&["type", "doc", "default"])?;
    let kind = node.need("type")?.named(&["text", "id", "number"], |word| match word {
        "text" => Some(Takes::Text),
        "id" => Some(Takes::Id),
        "number" => Some(Takes::Number),
        _ => None,
    })?;
    let doc = node.need("doc")?.str()?.to_owned();
    Ok(Parameter { name: name.to_owned(), kind, doc, default: node.text("default")? })
}

fn shape(node: &Node<'_>, enums: &IndexMap<String, Enumeration>) -> Result<Shape> {
    if node.value.is_object() {
        let member = |(name, node): (&str, Node<'_>)| match shape(&node, enums)? {
            inner @ (Shape::Text | Shape::Boolean | Shape::Enum(_)) => Ok((name.to_owned(), inner)),
            _ => node.expected("a text, a boolean or an enumeration"),
        };
        return Ok(Shape::Rows(node.entries()?.into_iter().map(member).collect::<Result<_>>()?));
    }
    let word = node.str()?;
    let known = Shape::WORDS.iter().find(|(name, _)| *name == word).map(|(_, shape)| shape.clone());
    let known = known.or_else(|| enums.contains_key(word).then(|| Shape::Enum(word.to_owned())));
    known.map_or_else(|| node.expected("a shape, or an enumeration of this file"), Ok)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(getter: &str) -> Result<Getters> {
        let text = format!(
            r#"{{"enums": {{"Turn": {{"values": ["idle"]}}}}, "known": {{"about": "All.", "getters": {{"a_b": {getter}}}}}}}"#
        );
        parse(&text, &BTreeSet::from(["SESS-06".to_owned()]))
    }

    #[test]
    fn a_getter_of_a_session_takes_its_id_and_may_give_nothing() {
        let getters =
            parsed(r#"{"of": "session", "gives": "Turn", "none": "is new", "rule": "SESS-06", "doc": "A."}"#).unwrap();
        let getter = getters.all().next().unwrap();
        assert_eq!((getter.core.as_str(), &getter.gives), ("a_b", &Shape::Enum("Turn".to_owned())));
        assert_eq!(getter.parameters().len(), 1);
        assert_eq!(getter.nothing().unwrap(), "when the session is not known, or is new");
        assert!(getter.is_everywhere() && getter.is_called(Language::Python));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let wrong = [
            (r#"{"gives": "boolean", "doc": "A", "x": 1}"#, "unknown member"),
            (r#"{"gives": "boolean", "doc": "A"}"#, "no sentence"),
            (r#"{"gives": "Phase", "doc": "A."}"#, "expected a shape"),
            (r#"{"gives": "count", "doc": "A."}"#, "what does it count"),
            (r#"{"gives": {"a": "names"}, "doc": "A."}"#, "expected a text"),
            (r#"{"gives": "boolean", "rule": "SESS-99", "doc": "A."}"#, "it has no SESS-99"),
            (r#"{"gives": "boolean", "in": ["go"], "doc": "A."}"#, "expected some of"),
            (r#"{"gives": "boolean", "otherwise": false, "doc": "A."}"#, "booleans of sessions"),
            (r#"{"gives": "boolean", "takes": {"a": {"type": "list", "doc": "b"}}, "doc": "A."}"#, "expected one of"),
        ];
        for (getter, why) in wrong {
            let error = format!("{:#}", parsed(getter).unwrap_err());
            assert!(error.contains(why) && error.contains("a_b"), "{error}");
        }
    }
}
