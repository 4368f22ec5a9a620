//! Finding handlers and options that cannot work, before anything is read.

use std::io;

use serde::Serialize;

use super::handlers::Handlers;
use super::message::LEFT;
use super::setup::Setup;
use super::told::said;
use super::transport::Transport;
use crate::host::offers;

/// Checks the handlers, and the configuration with this transport. `stated` has the capabilities that the host set
/// explicitly. Returns all of them: those that the handlers show, added to these.
pub(super) fn check<H: Handlers, T: Transport>(
    setup: &Setup,
    handlers: &H,
    transport: &mut T,
    stated: &impl Serialize,
) -> io::Result<String> {
    let config = &setup.config;
    let timed = [("timeout", config.timeout), ("reminder", config.reminder)];
    if let Some((name, _)) = timed.iter().find(|(_, limit)| limit.is_some()) {
        if transport.clock().is_none() {
            return refused(format!("{name}: the transport has no clock; `timed` gives it one"));
        }
    }
    let mut methods = Vec::new();
    handlers.each(&mut |method, request| methods.push((method.to_owned(), request)));
    let twice = methods.iter().enumerate().find(|(index, method)| methods[..*index].contains(method));
    if let Some((_, (method, _))) = twice {
        let method = if method == LEFT { "on_update" } else { method };
        return refused(format!("{method}: there are two handlers of it, and only one can be called"));
    }
    let methods: Vec<&str> =
        methods.iter().map(|(method, _)| method.as_str()).filter(|method| *method != LEFT).collect();
    let stated = said(&crate::schema::write(stated)?);
    offers(&setup.config, &methods, &stated).or_else(|error| refused(error.message))
}

fn refused<T>(reason: String) -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}
