//! The C interface: calls in any order with any numbers and texts, as far as callers may make them. Address errors and
//! caught panics are what is looked for.
//!
//! An input is lines: the first byte says what is called, the rest is its text.

use std::ptr::{null, null_mut};

use crate::border::{acp_slice, acp_status, ACP_OK, ACP_PANIC};
use crate::calls::*;
use crate::config::*;
use crate::connection::*;
use crate::event::*;
use crate::flow::*;
use crate::known::*;
use crate::lists::*;
use crate::reader::*;

pub(crate) fn run(data: &[u8]) {
    let Some((&[role, settings], lines)) = data.split_first_chunk::<2>() else { return };
    // SAFETY: every handle is used between its making and its freeing, every slice while its bytes are there.
    unsafe { live(role, settings, lines) }
}

fn slice(bytes: &[u8]) -> acp_slice {
    acp_slice { data: bytes.as_ptr().cast(), len: bytes.len() }
}

const EMPTY: acp_slice = acp_slice { data: null(), len: 0 };

/// No defect, whatever else became of a call.
fn fine(status: acp_status) -> bool {
    assert_ne!(status, ACP_PANIC);
    status == ACP_OK
}

/// Every byte of an output is read, so that a dangling one is found.
fn look(status: acp_status, out: acp_slice) -> bool {
    let done = fine(status);
    if done && out.len > 0 {
        // SAFETY: the interface says that so many bytes are there.
        let bytes = unsafe { std::slice::from_raw_parts(out.data.cast::<u8>(), out.len) };
        std::hint::black_box(bytes.iter().fold(0, |sum, byte| sum ^ byte));
    }
    done
}

unsafe fn live(role: u8, settings: u8, lines: &[u8]) {
    let mut config = null_mut();
    if !fine(acp_config_new(i32::from(role % 4), &raw mut config)) {
        return;
    }
    fine(acp_config_set_framing(config, i32::from(settings & 3)));
    fine(acp_config_set_policy(config, i32::from(settings >> 2 & 3)));
    fine(acp_config_set_limit(config, i32::from(settings >> 4), u64::from(settings)));
    let versions: &[_] = match (settings & 1, role & 4) {
        (0, _) => &[1],
        (_, 0) => &[1, 2],
        _ => &[2],
    };
    fine(acp_config_set_versions(config, versions.as_ptr(), versions.len()));
    let mut connection = null_mut();
    let made = fine(acp_connection_new(config, &raw mut connection));
    acp_config_free(config);
    assert!(made);
    // Kept past the end of what they came from, as callers may.
    let mut events = Vec::new();
    for line in lines.split(|&byte| byte == b'\n').take(100) {
        let Some((&what, text)) = line.split_first() else { continue };
        call(connection, what, text);
        drain(connection, &mut events);
    }
    fine(acp_connection_receive_eof(connection));
    drain(connection, &mut events);
    acp_connection_free(connection);
    for event in events {
        read(event);
        acp_event_free(event);
    }
}

unsafe fn call(connection: *mut acp_connection, what: u8, text: &[u8]) {
    let (head, rest) = text.split_at(text.iter().position(|&byte| byte == b' ').unwrap_or(text.len()));
    let (method, params) = (slice(head), slice(rest));
    let serial = u64::from(what >> 4);
    let (mut number, mut out, mut count) = (0, EMPTY, 0);
    match what & 15 {
        0..=3 => {
            fine(acp_connection_receive(connection, slice(text)));
            fine(acp_connection_receive(connection, slice(b"\n")));
        }
        4 => drop(fine(acp_connection_request(connection, method, params, &raw mut number))),
        5 => drop(fine(acp_connection_request_with(connection, method, params, method, serial, &raw mut number))),
        6 => drop(fine(acp_connection_notify(connection, method, params))),
        7 | 8 => drop(fine(acp_connection_respond(connection, serial, slice(text)))),
        9 => drop(fine(acp_connection_respond_error(connection, serial, i32::from(what), method, params))),
        10 => drop(fine(acp_connection_cancel(connection, serial))),
        11 => drop(fine(acp_connection_handle_timeout(connection, serial * 20_000))),
        12 => {
            if look(acp_connection_transmit(connection, &raw mut out), out) {
                fine(acp_connection_consume(connection, serial as usize * 20));
            }
            fine(acp_connection_poll_timeout(connection, &raw mut number));
            fine(acp_connection_buffered(connection, &raw mut count));
        }
        13 => known(connection, text),
        14 => json(text),
        _ => drop(fine(acp_connection_close(connection))),
    }
    for error in [acp_connection_error_rule, acp_connection_error_pointer, acp_connection_error_message] {
        let mut out = EMPTY;
        let status = error(connection, &raw mut out);
        look(status, out);
    }
}

unsafe fn known(connection: *mut acp_connection, text: &[u8]) {
    let mut out = EMPTY;
    for told in [acp_connection_capabilities, acp_connection_own_capabilities, acp_connection_peer_info] {
        let status = told(connection, &raw mut out);
        look(status, out);
    }
    let status = acp_connection_snapshot(connection, &raw mut out);
    look(status, out);
    let status = acp_connection_session_snapshot(connection, slice(text), &raw mut out);
    look(status, out);
    fine(acp_connection_why_not(connection, slice(text)));
    let (mut sessions, mut count) = (null_mut(), 0);
    if fine(acp_connection_sessions(connection, &raw mut sessions)) {
        fine(acp_sessions_len(sessions, &raw mut count));
        for at in 0..=count {
            let status = acp_sessions_id(sessions, at, &raw mut out);
            look(status, out);
        }
        acp_sessions_free(sessions);
    }
}

unsafe fn json(text: &[u8]) {
    let mut out = EMPTY;
    let (pointer, value) = text.split_at(text.iter().position(|&byte| byte == b' ').unwrap_or(text.len()));
    let status = acp_json_find(slice(value), slice(pointer), &raw mut out);
    look(status, out);
}

unsafe fn drain(connection: *mut acp_connection, events: &mut Vec<*mut acp_event>) {
    let mut event = null_mut();
    while fine(acp_connection_poll_event(connection, &raw mut event)) {
        read(event);
        events.push(event);
    }
}

unsafe fn read(event: *const acp_event) {
    let texts = [
        acp_event_method,
        acp_event_id,
        acp_event_session,
        acp_event_params,
        acp_event_update,
        acp_event_result,
        acp_event_error_message,
        acp_event_error_data,
        acp_event_rule,
        acp_event_message,
        acp_event_pointer,
        acp_event_excerpt,
    ];
    for text in texts {
        let mut out = EMPTY;
        let status = text(event, &raw mut out);
        look(status, out);
    }
    let (mut count, mut one, mut other) = (0, EMPTY, EMPTY);
    if fine(acp_event_unanswered_len(event, &raw mut count)) {
        for at in 0..=count {
            let status = acp_event_unanswered_id(event, at, &raw mut one);
            look(status, one);
        }
    }
    if fine(acp_event_terminals_len(event, &raw mut count)) {
        for at in 0..=count {
            let status = acp_event_terminal(event, at, &raw mut one, &raw mut other);
            look(status, other);
        }
    }
}
