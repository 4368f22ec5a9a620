#include <acp.hpp>

#include <cstdio>

int main()
{
    acp::Connection client(acp::Role::client);
    if (!acp::compatible() || !client.request(ACP_METHOD_INITIALIZE, "{}").value()) {
        return 1;
    }
    std::puts(acp_library_version());
}
