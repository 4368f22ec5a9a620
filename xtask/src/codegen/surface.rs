//! `docs/src/surface.md`: what the high levels of the three languages offer, side by side, from `docs/surface.json`.
//!
//! `tests/docs` compares the same file with the packages, in both directions.

use std::fmt::Write as _;
use std::fs;

use anyhow::{bail, ensure, Context, Result};
use serde_json::Value;

const SOURCE: &str = "docs/surface.json";
const LANGUAGES: [(&str, &str); 3] = [("python", "Python"), ("javascript", "JavaScript"), ("rust", "Rust")];

/// The page.
pub(super) fn page() -> Result<String> {
    let text = fs::read_to_string(SOURCE).context(SOURCE)?;
    render(&serde_json::from_str(&text).context(SOURCE)?)
}

fn render(surface: &Value) -> Result<String> {
    let mut page = format!("<!-- {} -->\n\n# What each language offers\n\n", super::MARK);
    page.push_str(
        "The same features have the same names, in the convention of each language. A dash is a gap, explained below its table. \
         Tests compare this page with the packages, in both directions.\n",
    );
    for section in list(surface, "sections")? {
        let title = text(section, "title")?;
        write!(page, "\n## {title}\n\n{}\n\n| |", text(section, "about")?)?;
        LANGUAGES.iter().try_for_each(|(_, title)| write!(page, " {title} |"))?;
        page.push_str("\n| --- | --- | --- | --- |\n");
        let mut gaps = String::new();
        for row in list(section, "rows")? {
            let what = text(row, "what")?;
            let cells: Vec<_> = LANGUAGES
                .iter()
                .map(|language| cell(row, language, &mut gaps).context(what.to_owned()))
                .collect::<Result<_>>()?;
            writeln!(page, "| {what} | {} |", cells.join(" | "))?;
        }
        if !gaps.is_empty() {
            write!(page, "\n{gaps}")?;
        }
    }
    Ok(page)
}

/// A language's names for a row, or a dash, and then the reason among the gaps.
fn cell(row: &Value, (language, title): &(&str, &str), gaps: &mut String) -> Result<String> {
    match (row["names"].get(*language), row["gaps"].get(*language).and_then(Value::as_str)) {
        (Some(Value::Array(names)), None) if !names.is_empty() => {
            let quoted = names.iter().map(|name| Ok(format!("`{}`", name.as_str().context("a name is no text")?)));
            Ok(quoted.collect::<Result<Vec<_>>>()?.join("<br>"))
        }
        (None, Some(reason)) => {
            writeln!(gaps, "* {}, {title}: {reason}", text(row, "what")?)?;
            Ok("–".to_owned())
        }
        _ => bail!("{language} needs names, or a reason why it has none"),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Result<&'a str> {
    let text = value[name].as_str().with_context(|| format!("{name} is missing in {value}"))?;
    ensure!(!text.trim().is_empty(), "{name} is empty in {value}");
    Ok(text)
}

fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value[name].as_array().with_context(|| format!("{name} is missing in {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(row: &str) -> Result<String> {
        let text =
            format!(r#"{{"sections":[{{"title":"Calls","about":"Of a client.","rows":[{row}]}}],"apart":{{}}}}"#);
        render(&serde_json::from_str(&text)?)
    }

    #[test]
    fn a_gap_stands_in_the_table_and_below_it() {
        let row = r#"{"what":"spawning","names":{"python":["spawn_agent"],"rust":["spawn"]},"gaps":{"javascript":"Browsers have no processes."}}"#;
        let page = rendered(row).unwrap();
        let table =
            "| spawning | `spawn_agent` | – | `spawn` |\n\n* spawning, JavaScript: Browsers have no processes.\n";
        assert!(page.ends_with(table), "{page}");
    }

    #[test]
    fn a_gap_without_a_reason_is_refused() {
        let neither = r#"{"what":"spawning","names":{"python":["a"],"rust":["b"]}}"#;
        let both = r#"{"what":"x","names":{"python":["a"],"rust":["b"],"javascript":["c"]},"gaps":{"rust":"why"}}"#;
        let empty = r#"{"what":"x","names":{"python":["a"],"rust":["b"],"javascript":[]}}"#;
        for row in [neither, both, empty] {
            let error = rendered(row).unwrap_err();
            assert!(format!("{error:#}").contains("needs names, or a reason"), "{error:#}");
        }
    }
}
