//! The budget of answers, as `js/budget.js` asks for shares of it.

use libacp::host::Budget as Shares;
use wasm_bindgen::prelude::*;

use crate::config;

/// Shares of requests, by their serial numbers, in the memory of answers.
#[wasm_bindgen]
#[derive(Debug, Default)]
pub struct Budget(Shares);

#[wasm_bindgen]
impl Budget {
    /// A budget of 16 MiB.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Budget {
        Budget::default()
    }

    /// Whether the answer of a method may be so large that its request takes a share.
    #[wasm_bindgen(js_name = isLarge)]
    pub fn is_large(method: &str) -> bool {
        Shares::is_large(method)
    }

    /// Asks for a share. Says whether it is there; otherwise it waits for `poll`.
    pub fn ask(&mut self, request: f64, bytes: f64) -> bool {
        let bytes = usize::try_from(config::whole(bytes)).unwrap_or(usize::MAX);
        self.0.ask(config::whole(request), bytes)
    }

    /// Gives a share back, or stops waiting for one.
    pub fn release(&mut self, request: f64) {
        self.0.release(config::whole(request));
    }

    /// The next request that has its share now; -1 where there is none.
    pub fn poll(&mut self) -> f64 {
        self.0.poll().map_or(-1.0, config::double)
    }
}
