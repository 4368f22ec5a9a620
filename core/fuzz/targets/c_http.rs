//! The remote part of the C interface: a client and a server, and calls of all their functions in any order, with any
//! numbers and texts, as far as callers may make them. Address errors and caught panics are what is looked for.
//!
//! An input is lines as those of `http_server.rs` and `http_client.rs`, whose first byte says whose function it is: `<` the
//! client's, `>` the server's. `0` calls with NULL; `@` makes both anew, with the text as their options.

use std::ptr::{null, null_mut};

use crate::border::{acp_slice, acp_status, ACP_NONE, ACP_OK, ACP_PANIC};
use crate::http::*;
use crate::http_agents::*;
use crate::http_client::*;
use crate::http_server::*;
use crate::values::{acp_string, acp_string_free};

/// Lines of one input that are looked at.
const MOST: usize = 200;
const EMPTY: acp_slice = acp_slice { data: null(), len: 0 };
const SERVED: &[u8] =
    br#"{"limits":{"body":2000,"bodies":3000,"headers":12,"connections":3,"sessions":4,"calls":4,"stream":400,
    "unread":200,"inbox":1000,"remembered":2}}"#;
const ASKED: &[u8] =
    br#"{"host":"localhost","limits":{"message":2000,"outbox":2000,"calls":8,"sessions":4,"streams":4}}"#;

pub(crate) fn run(data: &[u8]) {
    // SAFETY: each handle is used between its making and its freeing, every slice while its bytes are there.
    unsafe {
        let mut both = Both { client: null_mut(), server: null_mut(), now: 0, open: Vec::new() };
        both.make(ASKED, SERVED);
        for line in data.split(|&byte| byte == b'\n').take(MOST) {
            both.line(line);
        }
        both.free();
    }
}

fn slice(bytes: &[u8]) -> acp_slice {
    // As a host may write it that has nothing.
    if bytes.is_empty() {
        EMPTY
    } else {
        acp_slice { data: bytes.as_ptr().cast(), len: bytes.len() }
    }
}

/// No defect, whatever else became of a call.
fn fine(status: acp_status) -> bool {
    assert_ne!(status, ACP_PANIC);
    status == ACP_OK
}

/// Every byte of an output is read, so that a dangling one is found.
unsafe fn look(out: acp_slice) {
    if out.len > 0 {
        // SAFETY: the interface says that so many bytes are there.
        let bytes = unsafe { std::slice::from_raw_parts(out.data.cast::<u8>(), out.len) };
        std::hint::black_box(bytes.iter().fold(0, |sum, byte| sum ^ byte));
    }
}

/// A text that the caller owns.
unsafe fn owned(text: impl FnOnce(*mut acp_string) -> acp_status) {
    let mut out = std::mem::zeroed();
    if fine(text(&raw mut out)) {
        look(acp_slice { data: out.data.cast(), len: out.len });
    }
    acp_string_free(&raw mut out);
}

/// The headers of a line, between `|`, and what stands before them.
fn parts(text: &[u8]) -> (&[u8], Vec<acp_header>) {
    let mut parts = text.split(|&byte| byte == b'|');
    let first = parts.next().unwrap_or_default();
    let headers = parts.map(|part| {
        let (name, value) = part.split_at(part.iter().position(|&byte| byte == b':').unwrap_or(part.len()));
        let name: &[u8] = match name {
            b"c" => b"acp-connection-id",
            b"s" => b"acp-session-id",
            b"t" => b"content-type",
            other => other,
        };
        acp_header { name: slice(name), value: slice(value.get(1..).unwrap_or_default()) }
    });
    (first, headers.collect())
}

struct Both {
    client: *mut acp_http_client,
    server: *mut acp_http_server,
    now: u64,
    /// The last exchanges that the client has asked for.
    open: Vec<u64>,
}

impl Both {
    unsafe fn make(&mut self, client: &[u8], server: &[u8]) {
        self.free();
        self.open.clear();
        if !fine(acp_http_client_new(slice(client), self.now, &raw mut self.client)) {
            owned(|out| acp_http_client_options_error(slice(client), out));
            assert!(fine(acp_http_client_new(slice(ASKED), 1, &raw mut self.client)));
        }
        if !fine(acp_http_server_new(slice(server), &raw mut self.server)) {
            owned(|out| acp_http_server_options_error(slice(server), out));
            assert!(fine(acp_http_server_new(slice(SERVED), &raw mut self.server)));
        }
    }

    unsafe fn free(&mut self) {
        acp_http_client_free(std::mem::replace(&mut self.client, null_mut()));
        acp_http_server_free(std::mem::replace(&mut self.server, null_mut()));
    }

    unsafe fn line(&mut self, line: &[u8]) {
        match line {
            [b'<', what, which, text @ ..] => self.ask(*what, *which, text),
            [b'>', what, which, text @ ..] => self.serve(*what, *which, text),
            [b'@', text @ ..] => self.make(text, text),
            [b'0', ..] => nothing(),
            _ => return,
        }
        self.events();
        self.actions();
    }

    unsafe fn ask(&mut self, what: u8, which: u8, text: &[u8]) {
        let client = self.client;
        let back = usize::from(which % 16);
        let exchange = self.open.iter().rev().nth(back).copied().unwrap_or(u64::from(which));
        let mut number = 0;
        match what {
            b's' => drop(fine(acp_http_client_send(client, slice(text), &raw mut number))),
            b'R' => {
                let (status, headers) = parts(text);
                let status = std::str::from_utf8(status).ok().and_then(|status| status.parse().ok()).unwrap_or(200);
                let list = if headers.is_empty() { null() } else { headers.as_ptr() };
                fine(acp_http_client_response(client, exchange, status, list, headers.len()));
            }
            b'd' => drop(fine(acp_http_client_data(client, exchange, slice(text)))),
            b'v' => {
                let event = [b"data: ", text, b"\n\n"].concat();
                fine(acp_http_client_data(client, exchange, slice(&event)));
            }
            b'e' => drop(fine(acp_http_client_end(client, exchange))),
            b'f' => drop(fine(acp_http_client_failed(client, exchange, text.is_empty()))),
            b't' => drop(fine(acp_http_client_text(client, exchange, slice(text)))),
            b'n' => drop(fine(acp_http_client_binary(client, exchange))),
            b'k' => {
                self.now += u64::from(which) * 100;
                fine(acp_http_client_handle_timeout(client, self.now));
            }
            b'h' => {
                let (name, value) = text.split_at(text.iter().position(|&byte| byte == b':').unwrap_or(text.len()));
                fine(acp_http_client_set_header(client, slice(name), slice(value)));
            }
            b'y' => drop(fine(acp_http_client_retry(client))),
            b'o' => drop(fine(acp_http_client_closed(client, exchange, 1000 + u16::from(which)))),
            b'x' => drop(fine(acp_http_client_close(client))),
            b'l' => owned(|out| acp_http_lost_answer(slice(text), out)),
            _ => {}
        }
    }

    unsafe fn serve(&mut self, what: u8, which: u8, text: &[u8]) {
        let (server, exchange) = (self.server, u64::from(which % 16));
        let (mut out, mut other, mut number, mut size) = (EMPTY, EMPTY, 0, 0);
        if fine(acp_http_server_wants_entropy(server, &raw mut size)) && what != b'q' {
            let bytes: Vec<u8> = (0..size).map(|at| at as u8 ^ which).collect();
            fine(acp_http_server_add_entropy(server, slice(&bytes)));
        }
        // The id of a connection stands for itself.
        let mut id = EMPTY;
        fine(acp_http_server_connection_id(server, exchange, &raw mut id));
        look(id);
        match what {
            b'P' | b'G' | b'D' | b'W' | b'M' => {
                let (first, more) = parts(text);
                let method: &[u8] = match what {
                    b'P' => b"POST",
                    b'D' => b"DELETE",
                    b'M' => first,
                    _ => b"GET",
                };
                let known =
                    |name: &'static [u8], value: &'static [u8]| acp_header { name: slice(name), value: slice(value) };
                let mut headers = match what {
                    b'P' => vec![known(b"host", b"localhost"), known(b"content-type", b"application/json")],
                    b'G' => vec![known(b"host", b"localhost"), known(b"accept", b"text/event-stream")],
                    b'D' => vec![known(b"host", b"localhost")],
                    b'W' => vec![
                        known(b"host", b"localhost"),
                        known(b"upgrade", b"websocket"),
                        known(b"connection", b"Upgrade"),
                        known(b"sec-websocket-version", b"13"),
                        known(b"sec-websocket-key", b"dGhlIHNhbXBsZSBub25jZQ=="),
                    ],
                    _ => Vec::new(),
                };
                // An id that a call has lent is copied before the next call that changes the server.
                let copy =
                    std::slice::from_raw_parts(if id.len == 0 { [].as_ptr() } else { id.data.cast() }, id.len).to_vec();
                if which & 16 == 0 && !copy.is_empty() {
                    headers.push(acp_header { name: slice(b"acp-connection-id"), value: slice(&copy) });
                }
                headers.extend(more);
                let list = if headers.is_empty() { null() } else { headers.as_ptr() };
                let target: &[u8] = if which & 32 == 0 { b"/acp" } else { first };
                if fine(acp_http_server_request(
                    server,
                    u64::from(which),
                    slice(method),
                    slice(target),
                    list,
                    headers.len(),
                    &raw mut out,
                )) {
                    look(out);
                }
                if what == b'P'
                    && !first.is_empty()
                    && fine(acp_http_server_body(server, u64::from(which), slice(first), true, &raw mut out))
                {
                    look(out);
                }
            }
            b'b' | b'e'
                if fine(acp_http_server_body(server, u64::from(which), slice(text), what == b'e', &raw mut out)) =>
            {
                look(out)
            }
            b't' => drop(fine(acp_http_server_text(server, u64::from(which), slice(text)))),
            b'n' => drop(fine(acp_http_server_binary(server, u64::from(which)))),
            b'o' => drop(fine(acp_http_server_pong(server, u64::from(which)))),
            b's' => drop(fine(acp_http_server_send(server, exchange, slice(text), &raw mut number))),
            b'x' => drop(fine(acp_http_server_close(server, exchange))),
            b'a' => drop(fine(acp_http_server_fail(server, exchange, slice(text)))),
            b'p' => drop(fine(acp_http_server_pause(server, exchange, text.is_empty()))),
            b'c' => drop(fine(acp_http_server_closed(server, u64::from(which)))),
            b'r' => {
                if fine(acp_http_server_transmit(server, u64::from(which), &raw mut out)) {
                    look(out);
                }
                fine(acp_http_server_consume(server, u64::from(which), text.len()));
            }
            b'f' => {
                while fine(acp_http_server_frame(server, u64::from(which), &raw mut out, &raw mut other)) {
                    look(out);
                    look(other);
                }
            }
            b'k' => {
                self.now += u64::from(which) * 500;
                fine(acp_http_server_handle_timeout(server, self.now));
            }
            _ => {}
        }
    }

    unsafe fn events(&mut self) {
        let (mut out, mut text, mut is, mut at, mut count) = (EMPTY, EMPTY, false, 0, 0);
        loop {
            let status = acp_http_server_poll_event(self.server, &raw mut out, &raw mut text);
            if !fine(status) {
                assert_eq!(status, ACP_NONE);
                break;
            }
            look(out);
            look(text);
        }
        fine(acp_http_server_poll_timeout(self.server, &raw mut at));
        fine(acp_http_server_connections(self.server, &raw mut count));
        for exchange in 0..16 {
            fine(acp_http_server_is_hungry(self.server, exchange, &raw mut is));
        }
        for error in [acp_http_server_error_rule, acp_http_server_error_message] {
            if fine(error(self.server, &raw mut out)) {
                look(out);
            }
        }
    }

    unsafe fn actions(&mut self) {
        let (mut out, mut text, mut is, mut at) = (EMPTY, EMPTY, false, 0);
        loop {
            let status = acp_http_client_poll_action(self.client, &raw mut out, &raw mut text);
            if !fine(status) {
                assert_eq!(status, ACP_NONE);
                break;
            }
            look(out);
            look(text);
            let json = std::slice::from_raw_parts(out.data.cast::<u8>(), out.len);
            let action = serde_json::from_slice::<serde_json::Value>(json).expect("an action is JSON");
            self.open.extend(action["exchange"].as_u64());
        }
        fine(acp_http_client_poll_timeout(self.client, &raw mut at));
        fine(acp_http_client_is_hungry(self.client, &raw mut is));
        for text in [acp_http_client_connection_id, acp_http_client_error_rule, acp_http_client_error_message] {
            if fine(text(self.client, &raw mut out)) {
                look(out);
            }
        }
    }
}

/// NULL in place of a handle, of an output, or of bytes that are said to be there, is refused.
unsafe fn nothing() {
    let missing = acp_slice { data: null(), len: 1 };
    let (mut out, mut text, mut is, mut number, mut size, mut at) = (EMPTY, EMPTY, false, 0, 0, 0);
    let (client, server) = (null_mut::<acp_http_client>(), null_mut::<acp_http_server>());
    let (mut made, mut served) = (null_mut(), null_mut());
    acp_http_client_free(client);
    acp_http_server_free(server);
    let refused = [
        acp_http_client_new(missing, 0, &raw mut made),
        acp_http_client_new(slice(b"{}"), 0, null_mut()),
        acp_http_client_options_error(missing, null_mut()),
        acp_http_client_set_header(client, slice(b"a"), slice(b"b")),
        acp_http_client_poll_action(client, &raw mut out, &raw mut text),
        acp_http_client_is_hungry(client, &raw mut is),
        acp_http_client_connection_id(client, &raw mut out),
        acp_http_client_send(client, slice(b"{}"), &raw mut number),
        acp_http_client_error_rule(client, &raw mut out),
        acp_http_client_error_message(client, &raw mut out),
        acp_http_client_response(client, 1, 200, null(), 1),
        acp_http_client_data(client, 1, missing),
        acp_http_client_end(client, 1),
        acp_http_client_failed(client, 1, true),
        acp_http_client_text(client, 1, missing),
        acp_http_client_binary(client, 1),
        acp_http_client_closed(client, 1, 1009),
        acp_http_client_retry(client),
        acp_http_client_close(client),
        acp_http_client_handle_timeout(client, 1),
        acp_http_client_poll_timeout(client, &raw mut at),
        acp_http_lost_answer(missing, null_mut()),
        acp_http_server_new(missing, &raw mut served),
        acp_http_server_new(slice(b"{}"), null_mut()),
        acp_http_server_options_error(missing, null_mut()),
        acp_http_server_add_entropy(server, missing),
        acp_http_server_wants_entropy(server, &raw mut size),
        acp_http_server_connections(server, &raw mut size),
        acp_http_server_connection_id(server, 1, &raw mut out),
        acp_http_server_request(server, 1, missing, missing, null(), 1, &raw mut out),
        acp_http_server_body(server, 1, missing, true, &raw mut out),
        acp_http_server_text(server, 1, missing),
        acp_http_server_binary(server, 1),
        acp_http_server_pong(server, 1),
        acp_http_server_closed(server, 1),
        acp_http_server_poll_event(server, &raw mut out, &raw mut text),
        acp_http_server_transmit(server, 1, &raw mut out),
        acp_http_server_consume(server, 1, 1),
        acp_http_server_frame(server, 1, &raw mut out, &raw mut text),
        acp_http_server_is_hungry(server, 1, &raw mut is),
        acp_http_server_handle_timeout(server, 1),
        acp_http_server_poll_timeout(server, &raw mut at),
        acp_http_server_send(server, 1, missing, &raw mut number),
        acp_http_server_error_rule(server, &raw mut out),
        acp_http_server_error_message(server, &raw mut out),
        acp_http_server_close(server, 1),
        acp_http_server_fail(server, 1, missing),
        acp_http_server_pause(server, 1, true),
    ];
    assert!(refused.iter().all(|status| *status == crate::border::ACP_INVALID_ARGUMENT), "{refused:?}");
}
