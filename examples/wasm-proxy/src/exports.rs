//! What a host calls: numbers in, numbers out. Texts cross in the module's memory: the host writes what it passes where
//! [`acp_proxy_input`] says, and reads what waits for a side where [`acp_proxy_output`] says, before its next call.
//!
//! Sides are 0 for the client and 1 for the agent. One module instance is one proxy.
// An exported name could clash with another; nothing else here is unsafe.
#![allow(unsafe_code)]

use std::cell::RefCell;

use libacp::relay::Side;

use crate::policy::{Policy, Rules};
use crate::proxy::Proxy;

#[derive(Default)]
struct Instance {
    input: Vec<u8>,
    problem: String,
    proxy: Option<Proxy>,
}

thread_local! {
    static INSTANCE: RefCell<Instance> = RefCell::default();
}

fn with<T>(work: impl FnOnce(&mut Instance) -> T) -> T {
    INSTANCE.with_borrow_mut(work)
}

fn with_proxy<T>(side: u32, work: impl FnOnce(&mut Proxy, Side, &[u8]) -> T) -> Option<T> {
    let side = match side {
        0 => Side::Client,
        1 => Side::Agent,
        _ => return None,
    };
    with(|Instance { input, proxy, .. }| proxy.as_mut().map(|proxy| work(proxy, side, input)))
}

/// Makes room for `size` bytes of input and says where.
#[no_mangle]
pub extern "C" fn acp_proxy_input(size: usize) -> usize {
    with(|instance| {
        instance.input.clear();
        instance.input.resize(size, 0);
        instance.input.as_ptr() as usize
    })
}

/// Starts the proxy with the rules in the input, as JSON. 0, or 1 when they are not rules.
#[no_mangle]
pub extern "C" fn acp_proxy_start() -> u32 {
    with(|instance| match serde_json::from_slice::<Rules>(&instance.input) {
        Ok(rules) => {
            instance.proxy = Some(Proxy::new(Policy::new(rules)));
            0
        }
        Err(error) => {
            instance.problem = error.to_string();
            1
        }
    })
}

/// Where it stands what was wrong with the rules, in one sentence.
#[no_mangle]
pub extern "C" fn acp_proxy_problem() -> usize {
    with(|instance| instance.problem.as_ptr() as usize)
}

/// How many bytes it has.
#[no_mangle]
pub extern "C" fn acp_proxy_problem_size() -> usize {
    with(|instance| instance.problem.len())
}

/// Takes the input as bytes from a side. 0, or 1 before the start or for no side.
#[no_mangle]
pub extern "C" fn acp_proxy_receive(from: u32) -> u32 {
    u32::from(with_proxy(from, Proxy::receive).is_none())
}

/// A side has ended. 0, or 1 before the start or for no side.
#[no_mangle]
pub extern "C" fn acp_proxy_receive_eof(from: u32) -> u32 {
    u32::from(with_proxy(from, |proxy, from, _| proxy.receive_eof(from)).is_none())
}

/// How many bytes wait for a side.
#[no_mangle]
pub extern "C" fn acp_proxy_waiting(to: u32) -> usize {
    with_proxy(to, |proxy, to, _| proxy.transmit(to).len()).unwrap_or(0)
}

/// Where they are.
#[no_mangle]
pub extern "C" fn acp_proxy_output(to: u32) -> usize {
    with_proxy(to, |proxy, to, _| proxy.transmit(to).as_ptr() as usize).unwrap_or(0)
}

/// Takes `count` of them as written.
#[no_mangle]
pub extern "C" fn acp_proxy_consume(to: u32, count: usize) {
    with_proxy(to, |proxy, to, _| proxy.consume(to, count));
}

/// Tool calls that the agent has reported.
#[no_mangle]
pub extern "C" fn acp_proxy_tool_calls() -> u32 {
    with(|instance| instance.proxy.as_ref().map_or(0, |proxy| proxy.policy().tool_calls() as u32))
}
