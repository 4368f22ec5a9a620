//! Ends the children of this process if it ends without doing so itself: killed, by a signal, by `exit`.
//!
//! It is a shell at the other end of a pipe, in a process group of its own where no key of a terminal reaches it. It
//! reads which processes start and end; when the pipe ends, so has this process. This needs no signal handlers, which
//! belong to the host, and no thread that would have to outlive others.
//!
//! Without `/bin/sh` there is no warden; agents still see the end of their input.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::process::Orphaned;

/// Its lines are `+ HOW TARGET` and `- HOW TARGET`; a target is what `kill` takes, so that of a group has a minus.
///
/// Those that have a moment are looked at all the time meanwhile: one that is gone is forgotten at once, as its number
/// may become another's.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
now= later=
without() { for each in $1; do [ "$each" = "$2" ] || printf '%s ' "$each"; done; }
while read -r what how target; do
  case "$what$how" in
    +now) now="$now $target" ;;
    -now) now=$(without "$now" "$target") ;;
    +later) later="$later $target" ;;
    -later) later=$(without "$later" "$target") ;;
  esac
done
all() { for each in $2; do kill -s "$1" -- "$each"; done 2>/dev/null; }
moment() {
  for round in 1 2 3 4 5 6 7 8 9 10; do
    for each in $later; do kill -s 0 -- "$each" 2>/dev/null || later=$(without "$later" "$each"); done
    [ -n "$later" ] || exit 0
    sleep 0.1
  done
}
all KILL "$now"
moment
all TERM "$later"
moment
all KILL "$later"
"#;

static WARDEN: Mutex<Warden> = Mutex::new(Warden { shell: None, watched: BTreeMap::new() });

struct Warden {
    shell: Option<Child>,
    watched: BTreeMap<String, &'static str>,
}

/// A process that is watched until this is dropped, which has to be before it is waited for.
#[derive(Debug)]
pub(crate) struct Lease(String);

fn warden() -> MutexGuard<'static, Warden> {
    WARDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sees to it that there is one, so that the time is short between the start of a process and that it is known there.
pub(crate) fn prepare() {
    let mut warden = warden();
    if warden.shell.is_none() {
        warden.start();
    }
}

/// Watches a process that runs, or its group.
pub(crate) fn watch(pid: i32, group: bool, orphaned: Orphaned) -> Lease {
    let target = if group { format!("-{pid}") } else { pid.to_string() };
    let how = match orphaned {
        Orphaned::Waits => "later",
        Orphaned::Ends => "now",
    };
    let mut warden = warden();
    warden.watched.insert(target.clone(), how);
    warden.say('+', how, &target);
    Lease(target)
}

impl Drop for Lease {
    fn drop(&mut self) {
        let mut warden = warden();
        if let Some(how) = warden.watched.remove(&self.0) {
            warden.say('-', how, &self.0);
        }
    }
}

impl Warden {
    fn start(&mut self) {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        shell.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/").process_group(0);
        self.shell = shell.spawn().ok();
    }

    fn say(&mut self, what: char, how: &str, target: &str) {
        if self.write(what, how, target) {
            return;
        }
        // The shell was ended by somebody. The next one is told about all processes.
        if let Some(mut shell) = self.shell.take() {
            drop(shell.kill());
            drop(shell.wait());
        }
        self.start();
        for (target, how) in &self.watched.clone() {
            self.write('+', how, target);
        }
    }

    fn write(&mut self, what: char, how: &str, target: &str) -> bool {
        let pipe = self.shell.as_mut().and_then(|shell| shell.stdin.as_mut());
        // A single write, so that the shell never reads a part of a line.
        pipe.is_some_and(|pipe| pipe.write_all(format!("{what} {how} {target}\n").as_bytes()).is_ok())
    }
}
