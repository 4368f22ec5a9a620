//! Ends the child processes if this process ends without doing so itself: by a signal, or by `exit`.
//!
//! The warden is a shell at the other end of a pipe, in its own process group, so that Ctrl-C in a terminal does not
//! reach it. It reads which processes start and end; the end of the pipe means that this process has ended. This needs
//! no signal handlers, which belong to the host, and no thread that would have to outlive others.
//!
//! Without `/bin/sh` there is no warden; agents still see the end of their input.

use std::collections::BTreeMap;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::process::Orphaned;

/// Reads lines `+ HOW TARGET` and `- HOW TARGET`; a target is an argument of `kill`, so that of a group has a minus.
///
/// While it waits for processes to end, it keeps checking them: one that has ended is forgotten at once, because
/// another process may get its id.
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

/// Watches a process until this is dropped, which has to be before the process is reaped.
#[derive(Debug)]
pub(crate) struct Lease(String);

fn warden() -> MutexGuard<'static, Warden> {
    WARDEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts the warden if it is not running, so that a process can be registered right after its start.
pub(crate) fn prepare() {
    let mut warden = warden();
    if warden.shell.is_none() {
        warden.start();
    }
}

/// Watches a running process, or its group.
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
        // The shell was killed. A new one gets all processes.
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
