//! `docs/src/tasks.md`: ten ordinary tasks in three languages, and how many lines each takes, from `docs/tasks.json`.
//!
//! The lines are those of the programs in `docs/snippets`, between their anchors; `tests/docs/programs.py` runs these programs.

use std::fmt::Write as _;
use std::fs;

use anyhow::{ensure, Context, Result};
use serde::Deserialize;

const SOURCE: &str = "docs/tasks.json";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    /// The anchor of its lines.
    id: String,
    title: String,
    about: String,
    /// The programs that have lines of it, in their order.
    parts: Vec<Part>,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Part {
    Agent,
    Client,
}

struct Language {
    title: &'static str,
    fence: &'static str,
    agent: &'static str,
    client: &'static str,
    /// What the lines of its comments and descriptions begin with.
    comments: &'static [&'static str],
}

const LANGUAGES: [Language; 3] = [
    Language {
        title: "Python",
        fence: "python",
        agent: "snippets/recipes/tasks_agent.py",
        client: "snippets/recipes/tasks.py",
        comments: &["#", "\"\"\""],
    },
    Language {
        title: "JavaScript",
        fence: "js",
        agent: "snippets/node/tasks-agent.mjs",
        client: "snippets/node/tasks.mjs",
        comments: &["//", "/**"],
    },
    Language {
        title: "Rust",
        fence: "rust",
        agent: "snippets/tokio/src/bin/tasks-agent.rs",
        client: "snippets/tokio/src/bin/tasks.rs",
        comments: &["//"],
    },
];

/// The page.
pub(super) fn page() -> Result<String> {
    let tasks: Vec<Task> = serde_json::from_str(&fs::read_to_string(SOURCE).context(SOURCE)?).context(SOURCE)?;
    let titles = LANGUAGES.iter().map(|language| language.title).collect::<Vec<_>>().join(" | ");
    let mut page = format!(
        "<!-- {} -->\n\n# Ten tasks\n\n\
        What clients and agents do most, in three languages: parts of programs that the tests run. The numbers are lines without \
        comments. Nothing is released yet: [Recipes](recipes.md) say what to install until then.\n\n\
        | lines | {titles} |\n| --- | --- | --- | --- |\n",
        super::MARK
    );
    let mut parts = String::new();
    for Task { id, title, about, parts: of } in &tasks {
        write!(page, "| [{title}](#{}) |", title.to_lowercase().replace(' ', "-"))?;
        write!(parts, "\n## {title}\n\n{about}\n")?;
        for language in &LANGUAGES {
            let Language { title, fence, .. } = language;
            let mut lines = 0;
            for part in of {
                let file = match part {
                    Part::Agent => language.agent,
                    Part::Client => language.client,
                };
                let path = format!("docs/{file}");
                let text = fs::read_to_string(&path).context(path.clone())?;
                lines += count(&text, id, language.comments).context(path)?;
                let of = match (of.as_slice(), part) {
                    ([_], _) => "",
                    (_, Part::Agent) => ", the agent",
                    (_, Part::Client) => ", the client",
                };
                write!(parts, "\n{title}{of}:\n\n```{fence}\n{{{{#include ../{file}:{id}}}}}\n```\n")?;
            }
            write!(page, " {lines} |")?;
        }
        page.push('\n');
    }
    Ok(page + &parts)
}

/// The lines between an anchor's marks that are neither empty nor comments.
fn count(text: &str, id: &str, comments: &[&str]) -> Result<usize> {
    let marked = |line: &&str, mark: &str| line.trim_end().ends_with(&format!(" {mark}: {id}"));
    let mut lines = text.lines().skip_while(|line| !marked(line, "ANCHOR"));
    ensure!(lines.next().is_some(), "there is no anchor {id}");
    let between = lines.take_while(|line| !marked(line, "ANCHOR_END")).map(str::trim);
    let count = between.filter(|line| !line.is_empty() && !comments.iter().any(|sign| line.starts_with(sign))).count();
    ensure!(count > 0, "nothing is between the anchors {id}");
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_empty_lines_do_not_count() {
        let text = "a\n# ANCHOR: x\n\n\"\"\"What it is.\"\"\"\nb\n  # why\n  c  # how\n# ANCHOR_END: x\nd\n";
        assert_eq!(count(text, "x", &["#", "\"\"\""]).unwrap(), 2);
        assert_eq!(count(text, "y", &[]).unwrap_err().to_string(), "there is no anchor y");
        assert_eq!(
            count("# ANCHOR: x\n# ANCHOR_END: x\n", "x", &["#"]).unwrap_err().to_string(),
            "nothing is between the anchors x"
        );
    }
}
