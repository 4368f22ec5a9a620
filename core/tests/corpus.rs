//! What fuzzing has collected in `core/fuzz/corpus`, once more, without the fuzzer.

#[path = "support/corpus.rs"]
mod corpus;
#[path = "../fuzz/targets/framing.rs"]
mod framing;
#[path = "support/host.rs"]
mod host;
#[path = "../fuzz/targets/json.rs"]
mod json;
#[path = "../fuzz/targets/model.rs"]
mod model;
#[path = "../fuzz/targets/moulds.rs"]
mod moulds;
#[path = "support/rng.rs"]
mod rng;
#[path = "../fuzz/targets/connection.rs"]
mod whole;

use libacp::schema::tables;

#[test]
fn framing_inputs() {
    corpus::replay("framing", framing::run);
}

#[test]
fn json_inputs() {
    corpus::replay("json", json::run);
}

#[test]
fn mould_inputs() {
    corpus::replay("moulds", moulds::run);
}

#[test]
fn version_1_inputs() {
    corpus::replay("v1", |data| model::run(&tables::v1::TABLES, data));
}

#[test]
fn version_2_inputs() {
    corpus::replay("v2", |data| model::run(&tables::v2::TABLES, data));
}

#[test]
fn connection_inputs() {
    corpus::replay("connection", whole::run);
}
