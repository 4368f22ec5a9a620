//! Absolute paths as text: what they are once `.` and `..` are resolved.

/// The components of a path.
#[derive(Debug)]
pub(crate) struct Steps<'a> {
    pub(crate) windows: bool,
    pub(crate) steps: Vec<&'a str>,
}

impl<'a> Steps<'a> {
    /// The components of an absolute path; `None` for any other.
    pub(crate) fn of(path: &'a str) -> Option<Steps<'a>> {
        let windows = !path.starts_with('/');
        let separator = |c| c == '/' || (windows && c == '\\');
        let rooted = !windows || path.starts_with("\\\\") || path.get(1..).is_some_and(|rest| rest.starts_with(':'));
        if !rooted {
            return None;
        }
        // `..` does not remove a drive or a host.
        let fixed = usize::from(windows);
        let mut steps = Vec::new();
        for step in path.split(separator).filter(|step| !step.is_empty() && *step != ".") {
            match step {
                ".." if steps.len() > fixed => drop(steps.pop()),
                ".." => {}
                step => steps.push(step),
            }
        }
        Some(Steps { windows, steps })
    }

    pub(crate) fn starts_with(&self, root: &Steps<'_>) -> bool {
        let same = |(a, b): (&&str, &&str)| if self.windows { a.eq_ignore_ascii_case(b) } else { a == b };
        self.windows == root.windows
            && self.steps.len() >= root.steps.len()
            && self.steps.iter().zip(&root.steps).all(same)
    }
}
