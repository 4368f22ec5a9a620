//! Programs that only some hosts of the demo take: on a machine without them, these hosts take no part.

use std::process::Command;

use super::find;

/// A program, what asks it for its version, and the least version that will do.
type Tool = (&'static str, &'static str, &'static [u32]);

const TOOLS: &[Tool] = &[
    // From here on, it brings the release that a module names.
    ("go", "version", &[1, 21]),
    ("java", "-version", &[17]),
    ("javac", "-version", &[17]),
    ("mvn", "--version", &[3, 6, 3]),
    ("sha256sum", "", &[]),
];

/// Says what is lacking: the program, or a newer one. Nothing is, of programs that are required.
pub(super) fn lacks(tool: &str) -> Option<String> {
    let (_, argument, least) = TOOLS.iter().find(|(name, ..)| *name == tool)?;
    if find(tool).is_none() {
        return Some(format!("{tool} is not on this machine"));
    }
    if least.is_empty() {
        return None;
    }
    let printed = Command::new(tool).arg(argument).output();
    let printed = printed.map(|output| [output.stdout, output.stderr].concat()).unwrap_or_default();
    too_old(tool, &String::from_utf8_lossy(&printed), least)
}

fn too_old(tool: &str, printed: &str, least: &[u32]) -> Option<String> {
    let dotted = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(".");
    match version(printed) {
        Some(found) if found.as_slice() >= least => None,
        Some(found) => Some(format!("{tool} is {}, and {} is needed", dotted(&found), dotted(least))),
        None => Some(format!("{tool} does not tell its version")),
    }
}

/// The first word that is one: `17.0.15` of `openjdk version "17.0.15"`, `1.26.8` of `go version go1.26.8`.
fn version(printed: &str) -> Option<Vec<u32>> {
    printed.split_whitespace().find_map(|word| {
        let word = word.trim_start_matches('"').trim_start_matches("go");
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let numbers: Option<Vec<u32>> = word[..end].split('.').map(|number| number.parse().ok()).collect();
        numbers
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_programs_print() {
        for (printed, expected) in [
            ("go version go1.26.8 linux/amd64\n", Some(vec![1, 26, 8])),
            ("openjdk version \"17.0.15\" 2025-04-15\nOpenJDK Runtime", Some(vec![17, 0, 15])),
            ("javac 21\n", Some(vec![21])),
            ("\u{1b}[1mApache Maven 3.8.7\u{1b}[m\nMaven home: /usr", Some(vec![3, 8, 7])),
            ("The operation couldn't be completed.", None),
            ("", None),
        ] {
            assert_eq!(version(printed), expected, "{printed}");
        }
    }

    #[test]
    fn what_is_missing_or_too_old_is_said() {
        assert_eq!(too_old("javac", "javac 17.0.15", &[17]), None);
        assert_eq!(too_old("javac", "javac 11.0.2", &[17]).unwrap(), "javac is 11.0.2, and 17 is needed");
        assert_eq!(too_old("mvn", "Apache Maven 3.6.1", &[3, 6, 3]).unwrap(), "mvn is 3.6.1, and 3.6.3 is needed");
        assert_eq!(too_old("java", "no Java here", &[17]).unwrap(), "java does not tell its version");
        assert_eq!(lacks("cc"), None, "required programs are asked for by their steps");
    }
}
