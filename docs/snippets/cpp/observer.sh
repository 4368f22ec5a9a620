c++ -std=c++17 observer.cpp $(pkg-config --cflags --libs acp) -o observer
./observer
