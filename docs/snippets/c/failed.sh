cc -std=c99 client.c $(pkg-config --cflags --libs acp) -o client
printf Hello | ./client false || echo "ended with $?"
