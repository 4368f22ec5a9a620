//! Policies for requests for permission. `js/policy.js` is the other side.

use libacp::host::{Decision, PermissionPolicy};
use wasm_bindgen::prelude::*;

use crate::shared::{self, with_texts};
use crate::{type_error, Core};

/// A policy; see `PermissionPolicy` in `js/index.d.ts`.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Rules {
    policy: PermissionPolicy,
}

#[wasm_bindgen]
impl Rules {
    /// A policy from its JSON text.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Result<Rules, JsValue> {
        let policy = with_texts(|[policy, ..]| PermissionPolicy::read(policy));
        policy.map(|policy| Rules { policy }).map_err(|error| type_error(&error.to_string()))
    }

    /// Tells what is decided about a request for permission with these params, which a connection has received.
    pub fn decide(&mut self, core: &Core) {
        let decision = with_texts(|[params, ..]| self.policy.decide(core.host.connection(), params));
        shared::tell(Some(decision.to_json()));
    }

    /// Tells the last decisions, as a list.
    pub fn decisions(&self) {
        let decisions: Vec<String> = self.policy.decisions().map(Decision::to_json).collect();
        shared::tell(Some(format!("[{}]", decisions.join(","))));
    }
}
