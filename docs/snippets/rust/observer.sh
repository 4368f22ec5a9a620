cargo build --quiet
target/debug/observer
