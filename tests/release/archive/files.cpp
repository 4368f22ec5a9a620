// Both libraries in one program: `files FILE` prints a file by libacp_files, and the version of libacp.

#include <acp.hpp>
#include <acp_files.hpp>

#include <cstdio>
#include <filesystem>

int main(int, char **arguments)
{
    const std::filesystem::path file = std::filesystem::canonical(arguments[1]);
    const acp::Connection client(acp::Role::client);
    const acp::FileAnswer answer = acp::Files::open({file.parent_path().native()}).value().read(file.native()).value();
    if (client.phase() != acp::Phase::start || !answer.done()) {
        return 1;
    }
    std::printf("%s%s\n", std::string(*answer.text()).c_str(), acp_library_version());
}
