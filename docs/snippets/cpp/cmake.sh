cmake -S . -B build
cmake --build build
build/client build/agent
