//! The command line.

use libacp_examples::{fail, Result};

/// What both sides take; `work` is nothing that these conversations need.
#[derive(Default)]
pub(crate) struct Options {
    pub(crate) script: String,
    pub(crate) cwd: Option<String>,
    pub(crate) trace: Option<String>,
    pub(crate) agent: Vec<String>,
}

impl Options {
    pub(crate) fn read(mut arguments: impl Iterator<Item = String>) -> Result<Self> {
        let mut options = Options::default();
        while let Some(name) = arguments.next() {
            if name == "--" {
                options.agent = arguments.collect();
                break;
            }
            let Some(value) = arguments.next() else { fail!("{name}: expected a value after it") };
            match name.as_str() {
                "--script" => options.script = value,
                "--work" => {}
                "--cwd" => options.cwd = Some(value),
                "--trace" => options.trace = Some(value),
                other => fail!("expected --script, --work, --cwd, --trace or --, got {other}"),
            }
        }
        Ok(options)
    }
}
