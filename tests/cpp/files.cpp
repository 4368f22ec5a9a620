// Files for agents in C++: each call reaches libacp_files, what comes back is whole, and a request is answered with it. What
// the library holds an agent to is tested in files/tests and tests/c/files.c.

#include "check.hpp"

#include <acp_files.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;

static_assert(!std::is_copy_constructible_v<acp::Files> && std::is_nothrow_move_constructible_v<acp::Files>);
static_assert(!std::is_copy_constructible_v<acp::FileAnswer>);

namespace {

/// A folder that goes with it.
struct Folder {
    Folder()
    {
        std::string name = (fs::temp_directory_path() / "acp-XXXXXX").string();
        path = mkdtemp(name.data()) == nullptr ? fs::path() : fs::canonical(name);
    }
    Folder(const Folder &) = delete;
    Folder &operator=(const Folder &) = delete;
    ~Folder()
    {
        std::error_code ignored;
        fs::remove_all(path, ignored);
    }
    std::string operator/(const char *name) const { return (path / name).string(); }

    fs::path path;
};

/// The answer to a request of the agent's, as it goes out.
std::string served(const acp::Files &files, const std::string &folder, std::string_view method, acp::Writer params)
{
    acp::Connection client(acp::Role::client);
    CHECK(client.request(ACP_METHOD_INITIALIZE,
                         R"({"clientCapabilities":{"fs":{"readTextFile":true,"writeTextFile":true}}})"));
    feed(client, R"({"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}})");
    next<acp::Response>(client, [](const acp::Response &) {});
    CHECK(acp::client::new_session(client, folder));
    feed(client, R"({"jsonrpc":"2.0","id":2,"result":{"sessionId":"s-1"}})");
    next<acp::Response>(client, [](const acp::Response &) {});
    take(client);
    acp::Writer message;
    message.begin_object().member("jsonrpc", "2.0").member("id", 7).member("method", method);
    message.member("params", acp::Json(*params.end_object().finish())).end_object();
    feed(client, *message.finish());
    next<acp::Request>(client, [&](const acp::Request &request) { CHECK(files.serve(client, request)); });
    return take(client);
}

acp::Writer of_path(std::string_view path)
{
    acp::Writer params;
    params.begin_object().member("sessionId", "s-1").member("path", path);
    return params;
}

} // namespace

void file_access()
{
    const Folder folder;
    const std::string file = folder / "deep/file", other = folder / "none";
    const acp::Result<acp::Files> files = acp::Files::open({folder.path.native()}, 20);
    CHECK(files);
    const acp::Result<acp::FileAnswer> written = files->write(file, "one\ntwo\nthree");
    CHECK(written && written->done() && written->text() == "" && !written->code() && written->message().empty());
    const acp::Result<acp::FileAnswer> whole = files->read(file), part = files->read(file, 2, 1);
    CHECK(whole && whole->text() == "one\ntwo\nthree" && part && part->text() == "two\n");
    CHECK(files->read(file, 3)->text() == "three" && files->read(file, std::nullopt, 1)->text() == "one\n");

    // What is told to the agent is no error of the call.
    const acp::Result<acp::FileAnswer> missing = files->read(other), large = files->write(other, std::string(21, 'x'));
    CHECK(missing && !missing->done() && !missing->text() && missing->code() == ACP_CODE_RESOURCE_NOT_FOUND);
    CHECK(large && large->code() == ACP_CODE_INVALID_PARAMS && !large->message().empty());
    CHECK(!files->read("/etc/hostname")->done());

    // What is wrong with the call is.
    const auto bytes = files->read("\xff");
    CHECK(!bytes && bytes.error().status == ACP_INVALID_ARGUMENT);
    CHECK(bytes.error().text() == "Files::read: the path is not UTF-8, or the Files was moved from");
    CHECK(!files->write("\xff", "") && !files->write(file, "\xff"));
    const auto unopened = acp::Files::open({folder.path.native(), other}), relative = acp::Files::open({"here"});
    CHECK(!unopened && unopened.error().status == ACP_NONE && !relative);
    CHECK(unopened.error().text().find("no folder that can be opened") != std::string::npos);
    CHECK(acp::Files::open({"\xff"}).error().status == ACP_INVALID_ARGUMENT);
    CHECK(acp::Files::open({}));
}

void file_permission()
{
    const Folder folder;
    const std::string file = folder / "file", git = folder / ".git/config";
    CHECK(acp::Files::guarded(".git/config", false) && !acp::Files::guarded(".git/config", true));
    CHECK(!acp::Files::open({folder.path.native()})->write(git, "")->done());

    std::string asked;
    acp::Result<acp::Files> files = acp::Files::open(
        {folder.path.native()}, 0, [&](std::string_view path, bool writing, std::string_view root) {
            asked.append(path).append(writing ? " written" : " read").append(root == folder.path.native() ? "; " : "!");
            return path != "file";
        });
    CHECK(files && files->write(git, "x")->done() && files->read(git)->text() == "x");
    // The function goes with the files.
    const acp::Files moved = std::move(*files);
    CHECK(!moved.write(file, "")->done() && !fs::exists(file));
    CHECK(asked == ".git/config written; .git/config read; file written; ");
    CHECK(!files->read(file) && files->handle() == nullptr); // NOLINT: it was moved from
#if ACP_HAS_EXCEPTIONS
    const auto thrower = acp::Files::open({folder.path.native()}, 0,
                                          [](std::string_view, bool, std::string_view) -> bool { throw 1; });
    CHECK(thrower && !thrower->write(file, "")->done());
#endif
}

void file_requests()
{
    const Folder folder;
    const std::string file = folder / "file";
    const acp::Result<acp::Files> files = acp::Files::open({folder.path.native()});
    CHECK(files);
    acp::Writer write = of_path(file), part = of_path(file);
    write.member("content", "one\n\"two\"\n");
    CHECK(served(*files, folder.path, ACP_METHOD_FS_WRITE_TEXT_FILE, std::move(write)) ==
          "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
    part.member("line", 2).member("limit", 1);
    CHECK(served(*files, folder.path, ACP_METHOD_FS_READ_TEXT_FILE, std::move(part)).find(R"("content":"\"two\"\n")") !=
          std::string::npos);
    CHECK(served(*files, folder.path, ACP_METHOD_FS_READ_TEXT_FILE, of_path(file)).find(R"("one\n\"two\"\n")") != std::string::npos);
    CHECK(served(*files, folder.path, ACP_METHOD_FS_READ_TEXT_FILE, of_path(folder / "none")).find("-32002") != std::string::npos);

    // Another request is left open.
    acp::Connection client = with_session();
    feed(client, R"({"jsonrpc":"2.0","id":"a","method":"_x/a"})");
    next<acp::Request>(client, [&](const acp::Request &request) {
        const auto answer = files->serve(client, request);
        CHECK(!answer && answer.error().status == ACP_INVALID_ARGUMENT && take(client).empty());
        CHECK(client.unanswered_by_id(R"("a")") == request.serial());
    });
}
