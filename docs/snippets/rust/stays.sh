cargo build
# It does not end with its input.
timeout 15 target/debug/client sh -c 'target/debug/agent; exec sleep 60'
