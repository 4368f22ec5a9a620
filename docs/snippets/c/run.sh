cc -std=c99 client.c $(pkg-config --cflags --libs acp) -o client
cc -std=c99 agent.c $(pkg-config --cflags --libs acp) -o agent
printf Hello | ./client ./agent
