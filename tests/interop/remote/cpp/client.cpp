// The client of the remote script in C++, on acp/curl.hpp: `client ADDRESS WAY`, where the way is `http` or `http2`.

#include <iostream>
#include <optional>
#include <stdexcept>

#include <acp/curl.hpp>

namespace {

using Texts = std::vector<std::string>;

/// More than a step takes; a peer that does not answer costs no more than this.
constexpr std::uint64_t LIMIT = 6000;

std::string quoted(std::string_view text)
{
    acp::Writer writer;
    return std::string(writer.value(text).finish().value());
}

std::string listed(const Texts &items)
{
    std::string out = "[";
    for (const std::string &item : items) {
        out += (out.size() > 1 ? "," : "") + quoted(item);
    }
    return out + "]";
}

void tell_violation(std::string_view rule, std::string_view message)
{
    std::cout << R"({"violation":)" << quoted(rule) << R"(,"message":)" << quoted(message) << "}" << std::endl;
}

/// One connection to the agent, which waits for what it asks.
class Peer {
public:
    Peer(const std::string &address, bool http2) : remote_(open(address, http2)), agent_(connection()) {}

    /// Makes a call, and returns its result once it is there. What the agent says meanwhile is kept.
    std::string call(std::string_view method, const std::string &params)
    {
        said.clear();
        (void)agent_.request(method, params).value();
        const std::uint64_t until = acp::CurlRemote::now() + LIMIT;
        answer_.reset();
        while (!answer_) {
            if (acp::CurlRemote::now() > until || remote_.is_closed()) {
                throw std::runtime_error("no answer: " + std::string(remote_.problem()));
            }
            turn(100);
        }
        if (!problem_.empty()) {
            throw std::runtime_error(problem_);
        }
        return *answer_;
    }

    std::string new_session()
    {
        const std::string result = call("session/new", R"({"cwd":"/tmp","mcpServers":[]})");
        return acp::Json(result).string("/sessionId").value_or("");
    }

    std::pair<std::string, std::string> prompt(const std::string &session, std::string_view text)
    {
        const std::string result = call("session/prompt", R"({"sessionId":)" + quoted(session) +
                                                              R"(,"prompt":[{"type":"text","text":)" + quoted(text) + "}]}");
        std::string all;
        for (const auto &[update, piece] : said) {
            all += update == ACP_UPDATE_AGENT_MESSAGE_CHUNK ? piece : "";
        }
        return {all, acp::Json(result).string("/stopReason").value_or("")};
    }

    Texts load(const std::string &session)
    {
        call("session/load", R"({"cwd":"/tmp","mcpServers":[],"sessionId":)" + quoted(session) + "}");
        Texts told;
        for (const auto &[update, piece] : said) {
            if (update == ACP_UPDATE_USER_MESSAGE_CHUNK) {
                told.push_back(piece);
            }
        }
        return told;
    }

    void close()
    {
        (void)remote_.client().close();
        for (int count = 0; count < 50 && !remote_.is_closed(); ++count) {
            turn(100);
        }
    }

    /// Updates with text, each with its kind.
    std::vector<std::pair<std::string, std::string>> said{};

private:
    static acp::CurlRemote open(const std::string &address, bool http2)
    {
        acp::CurlSettings settings{address, {}, R"({"reconnect":false})"};
        if (http2) {
            settings.prepare = [](CURL *easy) {
                (void)curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE));
            };
        }
        return std::move(acp::CurlRemote::open(settings).value());
    }

    static acp::Connection connection()
    {
        return std::move(acp::Connection::open(acp::Config(acp::Role::client).framing(acp::Framing::messages)).value());
    }

    void turn(std::uint64_t most)
    {
        remote_.turn(agent_, most, [](const acp::http_client::Action &action) {
            action.match([](const acp::http_client::Violation &broken) { tell_violation(broken.rule(), broken.message()); },
                         [](const auto &) {});
        }).value();
        for (const acp::Event &event : agent_.events()) {
            event.match(
                [this](const acp::Response &response) {
                    problem_ = response.result() ? "" : std::string(response.error_message());
                    answer_ = response.result() ? std::string(response.result()->text()) : "";
                },
                [this](const acp::Notification &told) {
                    const auto text = told.params().string("/update/content/text");
                    if (text) {
                        said.emplace_back(told.update().value_or(""), *text);
                    }
                    if (text == "waiting") {
                        (void)acp::client::cancel(agent_, told.params().string("/sessionId").value_or("")).value();
                    }
                },
                [this](const acp::Request &asked) {
                    const auto option = asked.params().string("/options/0/optionId");
                    (void)acp::client::answer_permission(agent_, asked.serial(), option.value_or("")).value();
                },
                [](const acp::Violation &broken) { tell_violation(broken.rule(), broken.message()); },
                [](const auto &) {});
        }
    }

    acp::CurlRemote remote_;
    acp::Connection agent_;
    std::optional<std::string> answer_{};
    std::string problem_{};
};

/// Does a step and tells what came of it.
template <class Work> void step(std::string_view name, Work work)
{
    try {
        const std::string found = work();
        std::cout << R"({"step":)" << quoted(name) << R"(,"found":)" << found << "}" << std::endl;
    } catch (const std::exception &problem) {
        std::cout << R"({"step":)" << quoted(name) << R"(,"cannot":)" << quoted(problem.what()) << "}" << std::endl;
    }
}

} // namespace

int main(int count, char **arguments)
{
    if (count != 3) {
        std::cerr << "client ADDRESS WAY\n";
        return 2;
    }
    (void)curl_global_init(CURL_GLOBAL_DEFAULT);
    const std::string address = arguments[1], hello = R"({"protocolVersion":1,"clientCapabilities":{}})";
    const bool http2 = std::string_view(arguments[2]) == "http2";
    Peer agent(address, http2);
    std::string session, second;
    step("initialize", [&] {
        const std::string answer = agent.call("initialize", hello);
        return std::to_string(acp::Json(answer).uint64("/protocolVersion").value_or(0));
    });
    step("new", [&] {
        session = agent.new_session();
        return session.empty() ? "false" : "true";
    });
    const auto prompted = [&](std::string_view text) {
        const auto [said, stop] = agent.prompt(session, text);
        return listed({said, stop});
    };
    step("prompt", [&] { return prompted("hello"); });
    step("permission", [&] { return prompted("ask"); });
    step("cancel", [&] { return quoted(agent.prompt(session, "wait").second); });
    step("load", [&] {
        Peer other(address, http2);
        (void)other.call("initialize", hello);
        Texts told = other.load(session);
        told.push_back(other.prompt(session, "more").first);
        other.close();
        return listed(told);
    });
    step("second", [&] {
        second = agent.new_session();
        const std::string said = agent.prompt(second, "again").first;
        return std::string(second != session ? "[true," : "[false,") + quoted(said) + "]";
    });
    step("delete", [&] {
        const std::string had = agent.prompt(session, "has " + second).first;
        (void)agent.call("session/delete", R"({"sessionId":)" + quoted(second) + "}");
        return listed({had, agent.prompt(session, "has " + second).first});
    });
    agent.close();
    curl_global_cleanup();
    return 0;
}
