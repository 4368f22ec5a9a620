cargo build --bins
echo Hello | target/debug/chat target/debug/echo
# Its input stays open, and the agent ends after a second.
(sleep 20 2> /dev/null & echo Hello) | timeout 15 target/debug/chat timeout 1 target/debug/echo || echo "ended with $?"
