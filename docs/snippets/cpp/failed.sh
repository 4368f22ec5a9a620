c++ -std=c++17 client.cpp $(pkg-config --cflags --libs acp) -o client
printf Hello | ./client false || echo "ended with $?"
