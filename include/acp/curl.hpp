// libacp for C++17: a remote agent over libcurl (7.68 or newer), HTTP/1.1 and HTTP/2.
//
//     auto remote = acp::CurlRemote::open({"https://agents.example.com/acp"});
//     while (!remote->is_closed()) {
//         remote->turn(*connection, 100, told);          // carries messages both ways, and waits up to 100 ms
//         while (auto event = connection->poll_event()) { … }
//     }
//
// The connection has the framing `messages`. All times are of `CurlRemote::now`. One thread uses an object at a time, but for
// `wake`. The program links with libcurl, and calls `curl_global_init` before it has threads. HTTP/2 is used where TLS agrees on
// it. WebSocket is not here: libcurl has it only since version 7.86, and many systems build it without.

#ifndef ACP_CURL_HPP
#define ACP_CURL_HPP

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include <curl/curl.h>

#include "../acp.hpp"
#include "../acp_http.hpp"

namespace acp {

/// How a remote agent is reached.
struct CurlSettings {
    /// The address: `http://` or `https://`, without a fragment.
    std::string url;
    /// Headers of all requests, such as `authorization`.
    HttpHeaders headers{};
    /// Further options of `acp_http_client_new`, an object; `target`, `host` and `secure` come from the address.
    std::string options = "{}";
    /// Called with each new request, for options of libcurl's: roots, proxies, versions of HTTP. May be empty.
    std::function<void(CURL *)> prepare{};
};

/// A remote agent. It makes the requests of an `HttpClient`, and carries the messages of a `Connection`.
class CurlRemote {
public:
    /// Bytes of messages after which streams wait for the next turn, and until the host has taken some of them.
    static constexpr std::size_t AT_ONCE = 1024 * 1024;
    /// Milliseconds that the request which ends a conversation may take.
    static constexpr long LAST = 2000;

    /// Takes an address apart; nothing is sent before the connection has something to send.
    [[nodiscard]] static Result<CurlRemote> open(CurlSettings settings)
    {
        // By themselves: beside the members that come from the address, what is no object would not be seen.
        if (const auto usable = HttpClient::open(settings.options, 0); !usable) {
            return usable.error();
        }
        if (Json(settings.options).boolean("/websocket").value_or(false)) {
            return Error{ACP_INVALID_ARGUMENT, MisuseKind::none, {}, {}, "CurlRemote::open: there is no WebSocket here"};
        }
        auto state = std::make_unique<State>();
        state->settings = std::move(settings);
        std::string options;
        if (!state->read_address(options)) {
            return Error{ACP_INVALID_ARGUMENT, MisuseKind::none, {}, {},
                         "CurlRemote::open: the address is no URL of http or https"};
        }
        auto client = HttpClient::open(options, std::random_device{}());
        if (!client) {
            return client.error();
        }
        state->client = std::move(*client);
        for (const auto &[name, value] : state->settings.headers) {
            const Result<void> set = state->client.set_header(name, value);
            if (!set) {
                return Error{set.error().status, MisuseKind::none, {}, {}, "CurlRemote::open: a header that cannot be one"};
            }
        }
        state->multi.reset(curl_multi_init());
        if (state->multi == nullptr) {
            return Error{ACP_PANIC, MisuseKind::none, {}, {}, "CurlRemote::open: curl_multi_init failed"};
        }
        return CurlRemote(std::move(state));
    }

    /// Milliseconds on the clock of this object, for `Connection::handle_timeout`.
    static std::uint64_t now() noexcept
    {
        const auto since = std::chrono::steady_clock::now().time_since_epoch();
        return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
    }

    /// Carries messages in both directions, waiting for something to happen for up to so many milliseconds. `told` is called
    /// with each `http_client::Action` that says what happened: `Connected`, `Lost`, `Retrying` and so on. Afterwards take the
    /// connection's events. Fails if the connection has another framing.
    ///
    /// Also waits for `count` other descriptors at `also`, and notes in them what has happened, as curl_multi_poll does.
    template <class Told>
    [[nodiscard]] Result<void> turn(Connection &connection, std::uint64_t most, Told &&told, curl_waitfd *also = nullptr,
                                    unsigned count = 0)
    {
        State &state = *state_;
        // What the host has not taken counts, so that a host which takes nothing holds its agent back.
        state.taken = connection.buffered();
        state.busy = false;
        state.go_on();
        const Result<void> begun = state.work(connection, told);
        if (!begun) {
            return begun;
        }
        int running = 0, ready = 0;
        (void)curl_multi_perform(state.multi.get(), &running);
        state.finish();
        // What has come waits for the host, and so the host does not wait.
        if (!state.busy) {
            (void)curl_multi_poll(state.multi.get(), also, count, state.patience(connection, most), &ready);
            (void)curl_multi_perform(state.multi.get(), &running);
            state.finish();
        }
        return state.work(connection, told);
    }

    /// The state machine, for `set_header` and `retry` after `Unauthorized`, and for `close`.
    HttpClient &client() noexcept { return state_->client; }
    /// Whether the conversation is over, and the server was told so; the connection was told as well.
    bool is_closed() const noexcept { return state_->closed && state_->exchanges.empty(); }
    /// What libcurl said of the last request that came to nothing; empty without one.
    std::string_view problem() const noexcept { return state_->problem; }
    /// Ends the waiting of `turn` early. From any thread.
    void wake() noexcept { (void)curl_multi_wakeup(state_->multi.get()); }

private:
    struct State;

    /// A request that is being made. Removed from the handle of all before it goes.
    struct Exchange {
        State *state = nullptr;
        std::uint64_t number = 0;
        CURL *easy = nullptr;
        curl_slist *headers = nullptr;
        std::string body{};
        std::size_t sent = 0;
        HttpHeaders answer{};
        std::uint16_t status = 0;
        bool responded = false;
        bool paused = false;

        Exchange() = default;
        Exchange(const Exchange &) = delete;
        Exchange &operator=(const Exchange &) = delete;
        ~Exchange();
    };

    struct FreeMulti {
        void operator()(CURLM *multi) const noexcept { (void)curl_multi_cleanup(multi); }
    };

    struct State {
        CurlSettings settings{};
        std::string origin{};
        HttpClient client{nullptr};
        std::unique_ptr<CURLM, FreeMulti> multi{};
        std::map<std::uint64_t, std::unique_ptr<Exchange>> exchanges{};
        std::string problem{};
        /// Sessions that are opened again. Their history was told before.
        std::set<std::string, std::less<>> reopening{};
        std::size_t taken = 0;
        bool closed = false;
        /// Something came, or was told, in this turn.
        bool busy = false;

        bool read_address(std::string &options)
        {
            const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), &curl_url_cleanup);
            if (url == nullptr || curl_url_set(url.get(), CURLUPART_URL, settings.url.c_str(), 0) != CURLUE_OK) {
                return false;
            }
            const auto part = [&url](CURLUPart which) {
                char *text = nullptr;
                std::string out;
                if (curl_url_get(url.get(), which, &text, 0) == CURLUE_OK) {
                    out = text;
                    curl_free(text);
                }
                return out;
            };
            const std::string scheme = part(CURLUPART_SCHEME), host = part(CURLUPART_HOST), port = part(CURLUPART_PORT);
            const std::string path = part(CURLUPART_PATH), query = part(CURLUPART_QUERY);
            if ((scheme != "http" && scheme != "https") || host.empty()) {
                return false;
            }
            origin = scheme + "://" + host + (port.empty() ? "" : ":" + port);
            Writer writer;
            writer.begin_object().member("target", path + (query.empty() ? "" : "?" + query));
            writer.member("host", host).member("secure", scheme == "https");
            for (const Item item : Json(settings.options).items()) {
                if (item.key != "target" && item.key != "host" && item.key != "secure") {
                    writer.member(item.key, item.value);
                }
            }
            const auto text = writer.end_object().finish();
            options = std::string(text ? *text : std::string_view());
            return true;
        }

        /// What there is to be done: messages of the connection, actions of the client, time.
        template <class Told> Result<void> work(Connection &connection, Told &told)
        {
            (void)connection.handle_timeout(now());
            (void)client.handle_timeout(now());
            act(connection, told);
            while (!closed && client.is_hungry() && !connection.transmit().empty()) {
                const std::string_view message = connection.transmit();
                // Messages between lines would be sent, and no answer to them would ever be seen.
                if (message.back() == '\n') {
                    return Error{ACP_INVALID_ARGUMENT, MisuseKind::none, {}, {},
                                 "CurlRemote::turn: the connection has another framing than `messages`"};
                }
                const Result<Sent> sent = client.send(message);
                if (!sent && !refuse(connection, message, sent.error())) {
                    return sent.error();
                }
                if (sent && *sent != Sent::sent) {
                    break;
                }
                (void)connection.consume(connection.transmit().size());
                act(connection, told);
            }
            // The host has ended it, or no version suits both.
            if (!closed && connection.phase() == Phase::closed && connection.transmit().empty()) {
                (void)client.close();
                act(connection, told);
            }
            return {};
        }

        /// Answers a call that cannot be sent. Nothing waits for an answer to other messages.
        static bool refuse(Connection &connection, std::string_view message, const Error &why)
        {
            const Json json(message);
            if (json.find("/jsonrpc") == std::nullopt) {
                return false;
            }
            const auto id = json.find("/id");
            if (id && json.find("/method")) {
                Writer writer;
                writer.form("{'jsonrpc':'2.0','id':?,'error':{'code':-32600,'message':?}}", {*id, why.message});
                const auto answer = writer.finish();
                (void)connection.receive(answer ? *answer : std::string_view());
            }
            return true;
        }

        template <class Told> void act(Connection &connection, Told &told)
        {
            while (const auto action = client.poll_action()) {
                busy = true;
                action->match(
                    [&](const http_client::Request &request) { start(request); },
                    [&](const http_client::Abort &abort) { exchanges.erase(abort.exchange()); },
                    [&](const http_client::Message &message) {
                        if (!message.replayed() || !is_reopening(message.text())) {
                            deliver(connection, std::string(message.text()));
                        }
                    },
                    [&](const http_client::Lost &lost) {
                        told(*action);
                        end_lost(connection, lost);
                        for (const Item session : lost.sessions()) {
                            reopening.insert(session.value.string().value_or(std::string()));
                        }
                    },
                    [&](const http_client::Attached &attached) {
                        reopening.erase(attached.session());
                        told(*action);
                    },
                    [&](const http_client::Detached &detached) {
                        reopening.erase(detached.session());
                        told(*action);
                    },
                    [&](const http_client::Closed &) {
                        closed = true;
                        told(*action);
                        (void)connection.receive_eof();
                    },
                    [&](const auto &) { told(*action); });
            }
        }

        bool is_reopening(std::string_view message) const
        {
            return !reopening.empty() && reopening.count(Json(message).string("/params/sessionId").value_or(std::string())) > 0;
        }

        void deliver(Connection &connection, const std::string &message)
        {
            taken += message.size();
            (void)connection.receive(message);
        }

        /// Calls that nobody answers end with an error, and questions that nobody waits for are cancelled.
        void end_lost(Connection &connection, const http_client::Lost &lost)
        {
            for (const Item call : lost.calls()) {
                if (const auto answer = http_lost_answer(call.value.text())) {
                    deliver(connection, *answer);
                }
            }
            for (const Item question : lost.questions()) {
                const std::string id(question.value.text());
                deliver(connection,
                        R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":)" + id + "}}");
            }
        }

        void start(const http_client::Request &request);
        void finish();

        /// Lets streams go on that waited, if there is room. One that waits on is alive all the same.
        void go_on()
        {
            for (const auto &[number, exchange] : exchanges) {
                if (exchange->paused && taken >= AT_ONCE) {
                    (void)client.data(number, {});
                } else if (exchange->paused) {
                    exchange->paused = false;
                    (void)curl_easy_pause(exchange->easy, CURLPAUSE_CONT);
                }
            }
        }

        int patience(const Connection &connection, std::uint64_t most) const
        {
            const std::uint64_t time = now();
            for (const auto &at : {client.poll_timeout(), connection.poll_timeout()}) {
                most = at ? std::min(most, *at > time ? *at - time : 0) : most;
            }
            return static_cast<int>(std::min<std::uint64_t>(most, 60'000));
        }
    };

    explicit CurlRemote(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}

    static std::size_t head(char *data, std::size_t, std::size_t size, void *context) noexcept;
    static std::size_t body(char *data, std::size_t, std::size_t size, void *context) noexcept;
    static std::size_t give(char *data, std::size_t size, std::size_t count, void *context) noexcept;
    static int rewind(void *, curl_off_t, int) noexcept { return CURL_SEEKFUNC_FAIL; }

    std::unique_ptr<State> state_;
};

inline CurlRemote::Exchange::~Exchange()
{
    if (easy != nullptr) {
        (void)curl_multi_remove_handle(state->multi.get(), easy);
        curl_easy_cleanup(easy);
    }
    curl_slist_free_all(headers);
}

inline void CurlRemote::State::start(const http_client::Request &request)
{
    auto made = std::make_unique<Exchange>();
    Exchange &exchange = *made;
    exchange.state = this;
    exchange.number = request.exchange();
    exchange.easy = curl_easy_init();
    exchange.body = std::string(request.body());
    CURL *easy = exchange.easy;
    if (easy == nullptr) {
        (void)client.failed(exchange.number, false);
        return;
    }
    const std::string method = request.method(), url = origin + request.target();
    for (const auto &[name, value] : request.headers()) {
        const std::string line = name + (value.empty() ? ";" : ": " + value);
        exchange.headers = curl_slist_append(exchange.headers, line.c_str());
    }
    (void)curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
    (void)curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    (void)curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L);
    if (settings.prepare) {
        settings.prepare(easy);
    }
    if (method == "POST") {
        exchange.headers = curl_slist_append(exchange.headers, "Expect:");
        (void)curl_easy_setopt(easy, CURLOPT_POST, 1L);
        (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(exchange.body.size()));
        (void)curl_easy_setopt(easy, CURLOPT_READFUNCTION, give);
        (void)curl_easy_setopt(easy, CURLOPT_READDATA, &exchange);
        // libcurl sends a request once more if its connection was closed before a response came. The server may have
        // carried it out (HTTP-18), so it must not be able to.
        (void)curl_easy_setopt(easy, CURLOPT_SEEKFUNCTION, rewind);
        (void)curl_easy_setopt(easy, CURLOPT_SEEKDATA, &exchange);
    } else if (method != "GET") {
        (void)curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, method.c_str());
        // Nothing more depends on it than that the server forgets sooner.
        (void)curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, LAST);
    }
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, exchange.headers);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, head);
    (void)curl_easy_setopt(easy, CURLOPT_HEADERDATA, &exchange);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, body);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, &exchange);
    (void)curl_easy_setopt(easy, CURLOPT_PRIVATE, &exchange);
    const std::uint64_t number = exchange.number;
    exchanges[number] = std::move(made);
    (void)curl_multi_add_handle(multi.get(), easy);
}

/// Tells the client of requests that are over.
inline void CurlRemote::State::finish()
{
    int left = 0;
    while (const CURLMsg *message = curl_multi_info_read(multi.get(), &left)) {
        if (message->msg != CURLMSG_DONE) {
            continue;
        }
        const CURLcode result = message->data.result;
        Exchange *exchange = nullptr;
        (void)curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &exchange);
        const std::uint64_t number = exchange->number;
        const bool responded = exchange->responded;
        exchanges.erase(number);
        busy = true;
        if (result == CURLE_OK && responded) {
            (void)client.end(number);
            continue;
        }
        problem = curl_easy_strerror(result);
        const bool unsent = result == CURLE_COULDNT_RESOLVE_HOST || result == CURLE_COULDNT_RESOLVE_PROXY ||
                            result == CURLE_COULDNT_CONNECT || result == CURLE_SSL_CONNECT_ERROR ||
                            result == CURLE_PEER_FAILED_VERIFICATION;
        (void)client.failed(number, !unsent);
    }
}

/// One line of a head, or the empty one behind it.
inline std::size_t CurlRemote::head(char *data, std::size_t, std::size_t size, void *context) noexcept
{
    Exchange &exchange = *static_cast<Exchange *>(context);
    std::string_view line(data, size);
    while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) {
        line.remove_suffix(1);
    }
    const std::size_t colon = line.find(':');
    if (line.substr(0, 5) == "HTTP/") {
        exchange.answer.clear();
    } else if (colon != std::string_view::npos && !exchange.responded) {
        std::string name(line.substr(0, colon));
        for (char &each : name) {
            each = each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
        }
        const std::size_t start = line.find_first_not_of(" \t", colon + 1);
        exchange.answer.emplace_back(name, start == std::string_view::npos ? "" : line.substr(start));
    } else if (line.empty() && !exchange.responded) {
        long status = 0;
        (void)curl_easy_getinfo(exchange.easy, CURLINFO_RESPONSE_CODE, &status);
        // What comes before the response itself is not for the client.
        if (status >= 200) {
            exchange.responded = true;
            std::vector<HttpHeader> headers;
            for (const auto &[name, value] : exchange.answer) {
                headers.emplace_back(name, value);
            }
            exchange.state->busy = true;
            (void)exchange.state->client.response(exchange.number, static_cast<std::uint16_t>(status), headers);
        }
    }
    return size;
}

inline std::size_t CurlRemote::body(char *data, std::size_t, std::size_t size, void *context) noexcept
{
    Exchange &exchange = *static_cast<Exchange *>(context);
    State &state = *exchange.state;
    if (state.taken >= AT_ONCE) {
        exchange.paused = true;
        return CURL_WRITEFUNC_PAUSE;
    }
    state.taken += size;
    state.busy = true;
    (void)state.client.data(exchange.number, std::string_view(data, size));
    return size;
}

inline std::size_t CurlRemote::give(char *data, std::size_t size, std::size_t count, void *context) noexcept
{
    Exchange &exchange = *static_cast<Exchange *>(context);
    const std::size_t length = std::min(size * count, exchange.body.size() - exchange.sent);
    exchange.body.copy(data, length, exchange.sent);
    exchange.sent += length;
    return length;
}

} // namespace acp

#endif // ACP_CURL_HPP
