//! How a call is given up that nobody waits for any more: it depends on its method.

use crate::connection::Turn;
use crate::json::Writer;
use crate::Connection;

/// Gives up an open call.
pub(super) fn give_up(connection: &mut Connection, serial: u64) {
    let Some(open) = connection.pending_by_serial(serial) else { return };
    match (&*open.method, open.session.as_deref()) {
        ("session/prompt", Some(session)) => {
            let turn = connection.session(session);
            if turn.is_some_and(|session| session.turn != Turn::Idle && !session.has_cancelled(open)) {
                let session = session.to_owned();
                cancel_turn(connection, &session);
            }
        }
        ("terminal/release", _) => {}
        _ => {
            // This fails if the connection is over, and the call with it.
            let _ = connection.cancel(serial);
        }
    }
}

/// Cancels what goes on in a session.
pub(super) fn cancel_turn(connection: &mut Connection, session: &str) {
    let mut params = Writer::new();
    params.begin_object().key("sessionId").string(session).end_object();
    // This fails if the session or the connection is over: nothing to do then.
    let _ = connection.notify("session/cancel", &params.finish().unwrap_or_default());
}
