// What outlives a server, a host that takes nothing or ends its side, and what cannot work: `lasting ACP AGENT`, with the
// program `acp` and the agent cli/examples/storyteller.rs. Ends with `N passed, N failed`.

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <acp/curl.hpp>

namespace {

/// More than anything here takes.
constexpr std::uint64_t LIMIT = 60'000;
int failed = 0;

void check(bool right, const char *what, int line)
{
    if (!right) {
        std::printf("FAILED line %d: %s\n", line, what);
        ++failed;
    }
}
#define CHECK(what) check(static_cast<bool>(what), #what, __LINE__)

std::string acp_path, agent_path;

/// A server that can be killed, and started again where it was.
class Server {
public:
    Server() { start("127.0.0.1:0"); }
    Server(const Server &) = delete;
    Server &operator=(const Server &) = delete;
    ~Server() { kill(); }

    void kill()
    {
        if (pid_ > 0) {
            (void)::kill(pid_, SIGKILL);
            (void)waitpid(pid_, nullptr, 0);
            pid_ = 0;
        }
    }
    void start(const std::string &where)
    {
        int ends[2];
        CHECK(pipe(ends) == 0);
        pid_ = fork();
        if (pid_ == 0) {
            (void)dup2(ends[1], STDOUT_FILENO);
            (void)execl(acp_path.c_str(), "acp", "--quiet", "serve", "--listen", where.c_str(), "--", agent_path.c_str(),
                        static_cast<char *>(nullptr));
            _exit(127);
        }
        (void)close(ends[1]);
        url.clear();
        for (char byte = 0; read(ends[0], &byte, 1) == 1 && byte != '\n';) {
            url += byte;
        }
        (void)close(ends[0]);
        CHECK(!url.empty());
    }
    void restart()
    {
        const std::size_t from = url.find("//") + 2;
        start(url.substr(from, url.find('/', from) - from));
    }

    std::string url{};

private:
    pid_t pid_ = 0;
};

/// One client with one session.
struct Client {
    acp::CurlRemote remote;
    acp::Connection connection;
    /// What the agent said, what became of the last call, and what happened to the connection.
    std::string said{};
    std::optional<std::string> result{};
    std::string error{};
    std::string told{};
    std::string session{};

    explicit Client(const std::string &url)
        : remote(std::move(*acp::CurlRemote::open({url, {}, R"({"times":{"retry":50}})"}))),
          connection(acp::Connection::open(acp::Config(acp::Role::client).framing(acp::Framing::messages))->release())
    {
        CHECK(call("initialize", R"({"clientCapabilities":{}})"));
        CHECK(call("session/new", R"({"cwd":"/tmp","mcpServers":[]})"));
        session = acp::Json(result.value_or("{}")).string("/sessionId").value_or("");
    }

    void turn(std::uint64_t most)
    {
        CHECK(remote.turn(connection, most, [this](const acp::http_client::Action &action) {
            action.match([this](const auto &what) { told += std::string(what.NAME) + " "; });
        }));
    }

    void take()
    {
        for (const acp::Event &event : connection.events()) {
            event.match(
                [this](const acp::Notification &update) {
                    said += update.params().string("/update/content/text").value_or("");
                },
                [this](const acp::Response &response) {
                    const auto got = response.result();
                    result = got ? std::string(got->text()) : std::string();
                    error = got ? std::string() : std::string(response.error_data().value_or(acp::Json()).text());
                },
                [](const auto &) {});
        }
    }

    void begin(std::string_view method, const std::string &params)
    {
        said.clear();
        result.reset();
        CHECK(connection.request(method, params));
    }

    /// Whether the call succeeds.
    bool end()
    {
        for (const std::uint64_t until = acp::CurlRemote::now() + LIMIT; !result && acp::CurlRemote::now() < until; take()) {
            turn(100);
        }
        return result && !result->empty();
    }

    bool call(std::string_view method, const std::string &params)
    {
        begin(method, params);
        return end();
    }

    std::string prompt(const std::string &text) const
    {
        return R"({"sessionId":")" + session + R"(","prompt":[{"type":"text","text":")" + text + R"("}]})";
    }

    void until(const std::string &part)
    {
        for (const std::uint64_t end = acp::CurlRemote::now() + LIMIT; said.find(part) == std::string::npos && acp::CurlRemote::now() < end; take()) {
            turn(100);
        }
    }
};

/// The turn fails with the reason; the session is open again in the new server, and its history is not told a second time.
void a_server_that_is_killed()
{
    Server server;
    Client client(server.url);
    client.begin("session/prompt", client.prompt("slowly 2000"));
    client.until("3 ");
    client.told.clear();
    server.kill();
    // Some attempts find nobody.
    for (const std::uint64_t until = acp::CurlRemote::now() + 500; acp::CurlRemote::now() < until; client.take()) {
        client.turn(50);
    }
    server.restart();
    CHECK(!client.end());
    CHECK(acp::Json(client.error).string("/rule") == std::string("HTTP-18"));
    CHECK(acp::Json(client.error).string("/outcome") == std::string("unknown"));
    // It comes after the session is open again, and what was told for that would be before it.
    CHECK(client.call("session/prompt", client.prompt("hello")));
    CHECK(client.said == "You said: hello");
    for (const char *what : {"lost ", "retrying ", "connected ", "attached "}) {
        CHECK(client.told.find(what) != std::string::npos);
    }
    CHECK(client.told.find("lost ") < client.told.rfind("connected "));
    CHECK(client.told.rfind("connected ") < client.told.rfind("attached "));
}

/// A host that takes nothing keeps no more than it has room for, and gets all of it later.
void a_host_that_takes_nothing()
{
    constexpr int NUMBERS = 60'000;
    Server server;
    Client client(server.url);
    client.begin("session/prompt", client.prompt("count " + std::to_string(NUMBERS)));
    std::size_t most = 0;
    for (const std::uint64_t until = acp::CurlRemote::now() + 2'000; acp::CurlRemote::now() < until;) {
        client.turn(20);
        most = std::max(most, client.connection.buffered());
    }
    // Room for what one read brings beyond it.
    CHECK(most >= acp::CurlRemote::AT_ONCE && most < 2 * acp::CurlRemote::AT_ONCE);
    CHECK(client.end());
    std::string all;
    for (int number = 0; number < NUMBERS; ++number) {
        all += std::to_string(number) + " ";
    }
    CHECK(client.said == all);
    CHECK(client.told.find("gap") == std::string::npos && client.told.find("lost") == std::string::npos);
}

/// A connection that is over on this side ends the conversation with the server as well.
void a_connection_that_ends()
{
    Server server;
    Client client(server.url);
    (void)client.connection.close();
    for (const std::uint64_t until = acp::CurlRemote::now() + 5'000; !client.remote.is_closed() && acp::CurlRemote::now() < until; client.take()) {
        client.turn(100);
    }
    CHECK(client.remote.is_closed());
    CHECK(client.told.find("closed ") != std::string::npos);
}

/// Options that are no object, that cannot be used, or that ask for a WebSocket fail at once. The address says where.
void options_that_cannot_be_used()
{
    const std::string nowhere = "http://127.0.0.1:9/acp";
    for (const char *options : {"", "[]", "null", R"({"reconnect":false)", R"({"other":1})", R"({"websocket":true})"}) {
        const auto remote = acp::CurlRemote::open({nowhere, {}, options});
        CHECK(!remote && remote.error().status == ACP_INVALID_ARGUMENT);
    }
    const auto odd = acp::CurlRemote::open({nowhere, {{"a name", "x"}}});
    CHECK(!odd && odd.error().text().find("header") != std::string::npos);
    Server server;
    auto remote = acp::CurlRemote::open({server.url, {}, R"({"target":"/x","host":"x","secure":true,"websocket":false})"});
    auto connection = acp::Connection::open(acp::Config(acp::Role::client).framing(acp::Framing::messages));
    CHECK(remote && connection && connection->request("initialize", R"({"clientCapabilities":{}})"));
    for (const std::uint64_t until = acp::CurlRemote::now() + 5'000; remote && !remote->client().connection_id() && acp::CurlRemote::now() < until;) {
        CHECK(remote->turn(*connection, 100, [](const acp::http_client::Action &) {}));
    }
    CHECK(remote && remote->client().connection_id());
}

/// A connection with another framing would never see an answer.
void another_framing()
{
    for (const acp::Framing framing : {acp::Framing::lines, acp::Framing::content_length}) {
        auto remote = acp::CurlRemote::open({"http://127.0.0.1:9/acp"});
        auto connection = acp::Connection::open(acp::Config(acp::Role::client).framing(framing));
        CHECK(remote && connection && connection->request("initialize", R"({"clientCapabilities":{}})"));
        CHECK(!remote->turn(*connection, 0, [](const acp::http_client::Action &) {}));
    }
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        std::fprintf(stderr, "usage: lasting ACP AGENT\n");
        return 2;
    }
    acp_path = arguments[1];
    agent_path = arguments[2];
    int passed = 0, broken = 0;
    for (void (*test)() : {a_server_that_is_killed, a_host_that_takes_nothing, a_connection_that_ends,
                           options_that_cannot_be_used, another_framing}) {
        failed = 0;
        test();
        ++(failed == 0 ? passed : broken);
    }
    std::printf("%d passed, %d failed\n", passed, broken);
    return broken == 0 ? 0 : 1;
}
