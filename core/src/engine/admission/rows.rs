//! Method, side, form, phase, capability and logins.

use super::{Attempt, Refusal};
use crate::engine::{MisuseKind, Role};
use crate::json;
use crate::jsonrpc::ErrorCode;
use crate::rules::Way;
use crate::text::joined;
use crate::validation::table::{From, Gate, Kind, Method, Phase, Tables};

/// INIT-01: `initialize` comes first, and nothing else before its answer. INIT-02 is the agent's side of that.
pub(super) fn phase(attempt: &Attempt<'_>) -> Option<Refusal> {
    let early = !attempt.ready && attempt.method.phase == Phase::Ready;
    early.then(|| too_early(attempt.sender))
}

/// The refusal by INIT-01 or INIT-02, also for unknown methods: before the version is agreed, the methods are not
/// known.
pub(crate) fn too_early(sender: Role) -> Refusal {
    Refusal {
        rule: if sender == Role::Client { id!("INIT-01") } else { id!("INIT-02") },
        code: ErrorCode::INVALID_REQUEST,
        kind: MisuseKind::Phase,
        message: "nothing may be sent before initialize has been answered".into(),
    }
}

/// INIT-09: `initialize` is sent once, except as INIT-23 allows, which [`Attempt::begun`] takes into account.
pub(super) fn once(attempt: &Attempt<'_>) -> Option<Refusal> {
    (attempt.begun && attempt.method.phase == Phase::Start).then(|| Refusal {
        rule: id!("INIT-09"),
        code: ErrorCode::INVALID_REQUEST,
        kind: MisuseKind::Phase,
        message: "initialize has been called, and may not be repeated now".into(),
    })
}

/// RPC-27: agents serve the methods of agents, clients those of clients.
pub(super) fn side(attempt: &Attempt<'_>) -> Option<Refusal> {
    let right = match attempt.method.from {
        From::Both => true,
        From::Client => attempt.sender == Role::Client,
        From::Agent => attempt.sender == Role::Agent,
    };
    (!right).then(|| Refusal {
        rule: id!("RPC-27"),
        code: ErrorCode::METHOD_NOT_FOUND,
        kind: MisuseKind::Method,
        message: format!("{} is sent only by the {}", attempt.method.name, attempt.sender.other().name()),
    })
}

/// RPC-28 and RPC-29: requests have an id, notifications have none.
pub(super) fn form(attempt: &Attempt<'_>) -> Option<Refusal> {
    let (rule, message) = match (attempt.method.kind, attempt.form) {
        (Kind::Request, Kind::Notification) => (id!("RPC-28"), "is a request and needs an id"),
        (Kind::Notification, Kind::Request) => (id!("RPC-29"), "is a notification and has no id"),
        _ => return None,
    };
    Some(Refusal {
        rule,
        code: ErrorCode::INVALID_REQUEST,
        kind: MisuseKind::Method,
        message: format!("{} {message}", attempt.method.name),
    })
}

/// CAP-15 and the rule of each gate: the receiver does not serve methods whose capability it has not advertised.
pub(super) fn gate(attempt: &Attempt<'_>) -> Option<Refusal> {
    let gate = attempt.method.gate?;
    if attempt.gates.open(attempt.method) {
        return None;
    }
    let receiver = attempt.sender.other().name();
    Some(Refusal {
        rule: gate.rule,
        code: ErrorCode::METHOD_NOT_FOUND,
        kind: MisuseKind::Capability,
        message: format!(
            "{} needs the capability {}, which the {receiver} did not advertise",
            attempt.method.name,
            joined(gate.path, ".")
        ),
    })
}

/// AUTH-16: an agent that lists no authentication methods serves none of the methods for logging in and out.
pub(super) fn login(attempt: &Attempt<'_>) -> Option<Refusal> {
    attempt.unlisted.then(|| Refusal {
        rule: id!("AUTH-16"),
        code: ErrorCode::METHOD_NOT_FOUND,
        kind: MisuseKind::Capability,
        message: format!("{}, but the agent has listed no login method", attempt.method.name),
    })
}

/// Which gated methods one side serves; fixed by `initialize` (CAP-07).
#[derive(Debug, Default, Clone)]
pub(crate) struct Gates {
    open: u128,
    methods: &'static [Method],
}

impl Gates {
    /// Reads the capabilities object of the side that would receive.
    pub(crate) fn read(tables: &'static Tables, receiver: Role, capabilities: &str) -> Self {
        let serves = |method: &Method| match method.from {
            From::Both => true,
            From::Client => receiver == Role::Agent,
            From::Agent => receiver == Role::Client,
        };
        let mut open = 0;
        for (index, method) in tables.methods.iter().enumerate() {
            let opens = serves(method) && method.gate.is_none_or(|gate| advertised(&gate, capabilities));
            open |= u128::from(opens) << index;
        }
        Gates { open, methods: tables.methods }
    }

    fn open(&self, method: &Method) -> bool {
        let index = self.methods.binary_search_by_key(&method.name, |row| row.name);
        index.is_ok_and(|index| self.open & (1 << index) != 0)
    }
}

/// CAP-01 and CAP-04: absent, null or, for a boolean, anything but `true` means not advertised.
fn advertised(gate: &Gate, capabilities: &str) -> bool {
    let pointer: String = gate.path.iter().flat_map(|name| ["/", name]).collect();
    match json::pointer(capabilities, &pointer) {
        Some(value) if gate.boolean || !id!("CAP-04").is_on(Way::Track) => value == "true",
        Some(value) => value.starts_with('{'),
        None => !id!("CAP-01").is_on(Way::Track),
    }
}
