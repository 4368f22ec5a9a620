//! A JSON value together with where it is, so that every complaint can say so. [`super::load`] reads with it.

use anyhow::{anyhow, bail, Result};
use serde_json::{Map, Value};

use super::{is_type_name, TypeExpr};

/// A value and where it is.
pub(super) struct Node<'a> {
    pub(super) at: String,
    pub(super) value: &'a Value,
}

impl<'a> Node<'a> {
    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        Err(anyhow!("{}: expected {what}", self.at))
    }

    pub(super) fn map(&self) -> Result<&'a Map<String, Value>> {
        self.value.as_object().map_or_else(|| self.expected("an object"), Ok)
    }

    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Node<'a>)>> {
        let node = |(name, value): (&'a String, &'a Value)| {
            (name.as_str(), Node { at: format!("{} › {name}", self.at), value })
        };
        Ok(self.map()?.iter().map(node).collect())
    }

    /// Checks that an object has no members but these.
    pub(super) fn only(&self, names: &[&str]) -> Result<()> {
        match self.map()?.keys().find(|key| !names.contains(&key.as_str())) {
            Some(key) => bail!("{} › {key}: unknown member; expected one of {}", self.at, names.join(", ")),
            None => Ok(()),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<Node<'a>> {
        let value = self.value.get(name)?;
        Some(Node { at: format!("{} › {name}", self.at), value })
    }

    pub(super) fn need(&self, name: &str) -> Result<Node<'a>> {
        self.get(name).map_or_else(|| self.expected(&format!("a member {name}")), Ok)
    }

    pub(super) fn str(&self) -> Result<&'a str> {
        self.value.as_str().map_or_else(|| self.expected("a string"), Ok)
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        self.get(name).map(|node| Ok(node.str()?.to_owned())).transpose()
    }

    /// `true`, or absent.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        self.get(name).map_or(Ok(false), |node| match node.value {
            Value::Bool(true) => Ok(true),
            _ => node.expected("true, or no such member"),
        })
    }

    /// One certain word, or absent.
    pub(super) fn word(&self, name: &str, word: &str) -> Result<bool> {
        self.get(name).map_or(Ok(false), |node| match node.value.as_str() {
            Some(text) if text == word => Ok(true),
            _ => node.expected(&format!("{word:?}, or no such member")),
        })
    }

    pub(super) fn named<T>(&self, names: &[&str], parse: impl Fn(&str) -> Option<T>) -> Result<T> {
        parse(self.str()?).map_or_else(|| self.expected(&format!("one of {}", names.join(", "))), Ok)
    }

    pub(super) fn number<T: TryFrom<i64>>(&self, name: &str) -> Result<Option<T>> {
        let read = |node: Node<'a>| {
            let number = node.value.as_i64().and_then(|number| T::try_from(number).ok());
            number.map_or_else(|| node.expected("a whole number in range"), Ok)
        };
        self.get(name).map(read).transpose()
    }

    pub(super) fn type_name(&self) -> Result<String> {
        match self.str()? {
            name if is_type_name(name) => Ok(name.to_owned()),
            _ => self.expected("the name of a type"),
        }
    }

    pub(super) fn type_expr(&self) -> Result<TypeExpr> {
        TypeExpr::parse(self.str()?).map_or_else(|| self.expected("a type, as in string, uint32, Name, [T] or {T}"), Ok)
    }

    pub(super) fn texts(&self) -> Result<Vec<String>> {
        let texts =
            self.value.as_array().map(|items| items.iter().map(|item| item.as_str().map(str::to_owned)).collect());
        texts.flatten().map_or_else(|| self.expected("a list of strings"), Ok)
    }

    pub(super) fn list(&self) -> Result<Vec<Node<'a>>> {
        let Some(items) = self.value.as_array() else {
            return self.expected("a list");
        };
        Ok(items.iter().enumerate().map(|(i, value)| Node { at: format!("{} › {i}", self.at), value }).collect())
    }

    pub(super) fn types(&self) -> Result<Vec<TypeExpr>> {
        self.list()?.iter().map(Node::type_expr).collect()
    }
}
