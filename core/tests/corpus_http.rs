//! What fuzzing has collected in `core/fuzz/corpus` for the remote transports, once more, without the fuzzer.

#[path = "support/corpus.rs"]
mod corpus;
#[path = "../fuzz/targets/http_client.rs"]
mod http_client;
#[path = "../fuzz/targets/http_server.rs"]
mod http_server;
#[path = "../fuzz/targets/http_stream.rs"]
mod http_stream;

#[test]
fn stream_inputs() {
    corpus::replay("http_stream", http_stream::run);
}

#[test]
fn server_inputs() {
    corpus::replay("http_server", http_server::run);
}

#[test]
fn client_inputs() {
    corpus::replay("http_client", http_client::run);
}
