c++ -std=c++17 client.cpp $(pkg-config --cflags --libs acp) -o client
c++ -std=c++17 agent.cpp $(pkg-config --cflags --libs acp) -o agent
printf Hello | ./client ./agent
