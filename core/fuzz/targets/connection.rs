//! The connection: a host of `tests/support` lives through the input and keeps account: each of its requests ends once,
//! each of the peer's is answered once, nothing that was planted is repeated.
//!
//! An input is the role with the versions, the settings, and lines; the first byte of each says what the host does
//! besides.

use libacp::connection::{Policy, Role, Versions};
use libacp::framing::Framing;
use libacp::Config;

use crate::host::Host;
use crate::rng::Rng;

/// No answer may repeat it.
const PLANTED: &str = "canary";

pub(crate) fn run(data: &[u8]) {
    let Some((&[role, settings], lines)) = data.split_first_chunk::<2>() else { return };
    let mut config = Config::new(if role % 2 == 0 { Role::Client } else { Role::Agent });
    config.policy = [Policy::Tolerant, Policy::Strict][usize::from(settings & 1)];
    config.framing = [Framing::Lines, Framing::ContentLength, Framing::Messages][usize::from(settings >> 1) % 3];
    config.versions = match (settings & 64, role & 2) {
        (0, _) => Versions::only(1),
        (_, 0) => Versions::ALL,
        _ => Versions::only(2),
    };
    config.timeout = (settings & 128 != 0).then_some(50);
    config.limits.frame = 16_000;
    config.limits.pending = 10;
    config.limits.sessions = 3;
    config.limits.terminals = 2;
    config.limits.remembered = 4;
    let mut host = Host::new(config, settings & 32 == 0);
    for line in lines.split(|&byte| byte == b'\n').take(100) {
        let Some((&does, text)) = line.split_first() else { continue };
        host.live(&mut Rng::new(u64::from(does) * 0x9e37_79b9), text, PLANTED);
    }
    host.end();
}
