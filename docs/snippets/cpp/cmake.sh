cmake -S . -B build
cmake --build build
printf Hello | build/client build/agent
