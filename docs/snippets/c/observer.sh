cc -std=c99 observer.c $(pkg-config --cflags --libs acp) -o observer
./observer
