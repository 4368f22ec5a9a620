//! Patterns of absolute paths, compared step by step as text.

use crate::path::Steps;

/// A pattern: steps with `*` and `?`, of which `**` stands for any number of steps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern(Vec<Box<str>>);

impl Pattern {
    /// `None` unless it is absolute or begins with `**`, so that it says which paths it means wherever the host runs.
    pub(super) fn of(text: &str) -> Option<Self> {
        let steps = match text.strip_prefix("**") {
            Some("") => vec!["**"],
            Some(rest) if rest.starts_with('/') => std::iter::once("**").chain(parts(rest)).collect(),
            Some(_) => return None,
            None => Steps::of(text)?.steps,
        };
        Some(Pattern(steps.into_iter().map(Into::into).collect()))
    }

    /// Whether it fits a path. One that is not absolute fits nothing.
    pub(super) fn fits(&self, path: &str) -> bool {
        Steps::of(path).is_some_and(|path| all(&self.0, &path.steps, path.windows))
    }
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|step| !step.is_empty() && *step != ".")
}

/// Linear for each `**`, as only the last one is tried again.
fn all(pattern: &[Box<str>], path: &[&str], fold: bool) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut again = None;
    while from < path.len() {
        match pattern.get(at).map(|step| &**step) {
            Some("**") => {
                again = Some((at, from));
                at += 1;
            }
            Some(step) if fits(step, path[from], fold) => (at, from) = (at + 1, from + 1),
            _ => {
                let Some((star, taken)) = again else { return false };
                again = Some((star, taken + 1));
                (at, from) = (star + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|step| &**step == "**")
}

/// Whether a word fits a pattern with `*` and `?`. `fold` says that the case of ASCII letters makes no difference.
pub(super) fn fits(pattern: &str, word: &str, fold: bool) -> bool {
    let same = |a: char, b: char| a == b || fold && a.eq_ignore_ascii_case(&b);
    let (mut pattern, mut word) = (pattern.chars(), word.chars());
    let mut again: Option<(std::str::Chars<'_>, std::str::Chars<'_>)> = None;
    loop {
        let (mut rest, mut left) = (pattern.clone(), word.clone());
        match (rest.next(), left.next()) {
            (None, None) => return true,
            (Some('*'), _) => {
                again = Some((rest.clone(), word.clone()));
                pattern = rest;
            }
            (Some(a), Some(b)) if a == '?' || same(a, b) => (pattern, word) = (rest, left),
            _ => {
                let Some((after, from)) = &mut again else { return false };
                if from.next().is_none() {
                    return false;
                }
                (pattern, word) = (after.clone(), from.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str, path: &str) -> bool {
        Pattern::of(pattern).unwrap().fits(path)
    }

    #[test]
    fn patterns_fit_step_by_step() {
        assert!(of("/work", "/work/") && of("/work", "/work/./x/..") && !of("/work", "/work/x") && !of("/work", "/w"));
        assert!(of("/work/*", "/work/x") && !of("/work/*", "/work") && !of("/work/*", "/work/x/y"));
        assert!(of("/work/**", "/work") && of("/work/**", "/work/x/y") && !of("/work/**", "/work/../etc/passwd"));
        assert!(of("**/.env", "/.env") && of("**/.env", "/a/b/.env") && !of("**/.env", "/a/.env/b"));
        assert!(of("**/.env/**", "/a/.env/b") && of("/a/**/b/**/c", "/a/x/b/b/y/c") && !of("/a/**/b/**/c", "/a/c/b"));
        assert!(of("**", "/anything/at/all") && of("/src/*.r?", "/src/main.rs") && !of("/src/*.r?", "/src/main.rsx"));
        assert!(of("C:\\Work\\**", "c:\\work\\X") && !of("/Work/**", "/work/x"));
        for path in ["", "work/x", "./work", "~/work"] {
            assert!(!of("**", path), "{path}");
            assert_eq!(Pattern::of(path), None);
        }
        assert_eq!(Pattern::of("**x"), None);
    }

    #[test]
    fn words_fit_in_time_whatever_the_pattern() {
        assert!(fits("a*b*c", "a123b45bc", false) && !fits("a*b*c", "a123b45b", false) && fits("*", "", false));
        assert!(fits("Ä?", "Äß", false) && !fits("?", "", false) && fits("BASH*", "bash -c", true));
        let (many, long) = ("a*".repeat(200) + "b", "a".repeat(2000));
        assert!(!fits(&many, &long, false));
        let steps = format!("/{}", "a/".repeat(2000));
        assert!(!of(&format!("{}b", "/**/a".repeat(200)), &steps));
    }
}
