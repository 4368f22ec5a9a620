cargo build
target/debug/client target/debug/agent
