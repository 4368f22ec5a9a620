// The remote transports, function by function. What they do is what the vectors are about (remote.c); here is what those
// cannot say: numbers of functions, texts beside the JSON, texts that are lent, mistakes of the host.

#include "check.h"

static const char HELLO[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":1}}";
static const char ANSWER[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1}}";
static const char LATER[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/new\",\"params\":{}}";

static acp_header header(const char *name, const char *value)
{
    acp_header header;
    header.name = acp_text(name);
    header.value = acp_text(value);
    return header;
}

static bool is(acp_slice json, const char *pointer, const char *word)
{
    bool same = false;
    return acp_json_string_is(json, acp_text(pointer), acp_text(word), &same) == ACP_OK && same;
}

static uint64_t number(acp_slice json, const char *pointer)
{
    uint64_t out = 0;
    OK(acp_json_uint64(json, acp_text(pointer), &out));
    return out;
}

// Posts a message to a server.
static acp_slice post(acp_http_server *server, uint64_t exchange, const char *message)
{
    acp_slice step = {NULL, 0};
    acp_header headers[2];
    headers[0] = header("Host", "localhost:7332");
    headers[1] = header("Content-Type", "application/json");
    OK(acp_http_server_request(server, exchange, acp_text("POST"), acp_text("/acp"), headers, COUNT(headers), &step));
    CHECK(is(step, "/step", "body"));
    OK(acp_http_server_body(server, exchange, acp_text(message), true, &step));
    return step;
}

acp_http_server *http_server(bool at_the_start)
{
    acp_http_server *server = NULL;
    OK(acp_http_server_new(acp_text("{}"), &server));
    OK(acp_http_server_add_entropy(server, acp_text("sixteen or more bytes, by chance")));
    if (!at_the_start) {
        CHECK(is(post(server, 1, HELLO), "/step", "wait"));
    }
    return server;
}

acp_http_client *http_client(bool at_the_start)
{
    acp_http_client *client = NULL;
    int32_t sent = 0;
    OK(acp_http_client_new(acp_text("{}"), 7, &client));
    if (!at_the_start) {
        OK(acp_http_client_send(client, acp_text(HELLO), &sent));
        CHECK(sent == ACP_HTTP_SENT);
    }
    return client;
}

static void none(acp_http_server *server, acp_http_client *client)
{
    acp_slice event, text;
    if (server != NULL) {
        STATUS(acp_http_server_poll_event(server, &event, &text), ACP_NONE);
    }
    if (client != NULL) {
        STATUS(acp_http_client_poll_action(client, &event, &text), ACP_NONE);
    }
}

void http_unchanged(acp_http_server *server, acp_http_client *client)
{
    acp_slice event, text;
    size_t connections = 0;
    OK(acp_http_server_poll_event(server, &event, &text));
    CHECK(is(event, "/event", "opened") && text.len == 0);
    OK(acp_http_server_poll_event(server, &event, &text));
    CHECK(is(event, "/event", "message") && is(event, "/json", "") && is_text(text, HELLO));
    OK(acp_http_server_connections(server, &connections));
    CHECK(connections == 1);
    STATUS(acp_http_server_error_rule(server, &text), ACP_NONE);
    OK(acp_http_client_poll_action(client, &event, &text));
    CHECK(is(event, "/event", "request") && is(event, "/method", "POST") && is(event, "/body", "") && is_text(text, HELLO));
    STATUS(acp_http_client_error_message(client, &text), ACP_NONE);
    none(server, client);
}

static void conversation(void)
{
    acp_slice event, text, id;
    int32_t sent = 0;
    size_t count = 1;
    uint64_t at = 0, connection;
    bool hungry = false;
    acp_http_server *server = http_server(true);
    OK(acp_http_server_connections(server, &count));
    CHECK(count == 0);
    OK(acp_http_server_wants_entropy(server, &count));
    CHECK(count > 0);
    STATUS(acp_http_server_poll_timeout(server, &at), ACP_NONE);
    CHECK(is(post(server, 1, HELLO), "/step", "wait"));
    OK(acp_http_server_poll_timeout(server, &at));
    CHECK(at > 0);
    OK(acp_http_server_poll_event(server, &event, &text));
    connection = number(event, "/connection");
    STATUS(acp_http_server_connection_id(server, connection + 1, &id), ACP_NONE);
    OK(acp_http_server_connection_id(server, connection, &id));
    CHECK(is_text(id, "7369787465656e206f72206d6f726520")); // "sixteen or more ", in hexadecimal digits.
    OK(acp_http_server_poll_event(server, &event, &text));
    OK(acp_http_server_is_hungry(server, 1, &hungry));
    CHECK(hungry);
    OK(acp_http_server_send(server, connection, acp_text(ANSWER), &sent));
    CHECK(sent == ACP_HTTP_SENT);
    OK(acp_http_server_poll_event(server, &event, &text));
    CHECK(is(event, "/event", "respond") && number(event, "/exchange") == 1 && number(event, "/response/status") == 200);
    CHECK(is(event, "/response/body", ANSWER) && text.len == 0);
    OK(acp_http_server_close(server, connection));
    OK(acp_http_server_poll_event(server, &event, &text));
    CHECK(is(event, "/event", "closed") && is(event, "/why", "host"));
    OK(acp_http_server_send(server, connection, acp_text(ANSWER), &sent));
    CHECK(sent == ACP_HTTP_CLOSED);
    none(server, NULL);
    acp_http_server_free(server);
}

static void failing(void)
{
    acp_slice event, text;
    acp_http_server *server = http_server(false);
    OK(acp_http_server_poll_event(server, &event, &text));
    uint64_t connection = number(event, "/connection");
    OK(acp_http_server_poll_event(server, &event, &text));
    OK(acp_http_server_fail(server, connection, acp_text("the agent has \"crashed\"")));
    OK(acp_http_server_poll_event(server, &event, &text));
    CHECK(is(event, "/event", "respond") && number(event, "/exchange") == 1);
    acp_string body = {NULL, 0};
    OK(acp_json_string_copy(event, acp_text("/response/body"), &body));
    CHECK(is(acp_string_slice(body), "/error/message", "the agent has \"crashed\""));
    acp_string_free(&body);
    OK(acp_http_server_poll_event(server, &event, &text));
    CHECK(is(event, "/event", "closed") && is(event, "/why", "host"));
    OK(acp_http_server_fail(server, connection, acp_text("again")));
    none(server, NULL);
    acp_http_server_free(server);
}

static void asking(void)
{
    acp_slice action, text;
    int32_t sent = 0;
    bool hungry = false;
    acp_header headers[2];
    acp_http_client *client = http_client(true);
    OK(acp_http_client_set_header(client, acp_text("Authorization"), acp_text("Bearer t")));
    OK(acp_http_client_is_hungry(client, &hungry));
    CHECK(hungry);
    OK(acp_http_client_send(client, acp_text(HELLO), &sent));
    OK(acp_http_client_poll_action(client, &action, &text));
    CHECK(is(action, "/headers/0/0", "authorization") && is(action, "/headers/0/1", "Bearer t"));
    uint64_t exchange = number(action, "/exchange");
    STATUS(acp_http_client_connection_id(client, &text), ACP_NONE);
    headers[0] = header("content-type", "application/json");
    headers[1] = header("Acp-Connection-Id", "c1");
    OK(acp_http_client_response(client, exchange, 200, headers, COUNT(headers)));
    OK(acp_http_client_data(client, exchange, acp_text(ANSWER)));
    OK(acp_http_client_end(client, exchange));
    OK(acp_http_client_connection_id(client, &text));
    CHECK(is_text(text, "c1"));
    OK(acp_http_client_poll_action(client, &action, &text));
    CHECK(is(action, "/event", "connected") && is(action, "/id", "c1") && text.len == 0);
    OK(acp_http_client_poll_action(client, &action, &text));
    CHECK(is(action, "/event", "request") && is(action, "/method", "GET") && text.len == 0);
    OK(acp_http_client_poll_action(client, &action, &text));
    CHECK(is(action, "/event", "message") && is(action, "/json", "") && is_text(text, ANSWER));
    none(NULL, client);
    OK(acp_http_client_close(client));
    OK(acp_http_client_send(client, acp_text(LATER), &sent));
    CHECK(sent == ACP_HTTP_CLOSED);
    acp_http_client_free(client);
}

static void misuses(void)
{
    acp_slice text;
    int32_t sent = 9;
    acp_http_server *server = http_server(false);
    acp_http_client *client = http_client(true);
    STATUS(acp_http_server_send(server, 1, acp_text("[]"), &sent), ACP_MISUSE);
    OK(acp_http_server_error_rule(server, &text));
    CHECK(is_text(text, "HTTP-15"));
    OK(acp_http_server_error_message(server, &text));
    CHECK(text.len > 0);
    STATUS(acp_http_client_send(client, acp_text(LATER), &sent), ACP_MISUSE);
    OK(acp_http_client_error_rule(client, &text));
    CHECK(is_text(text, "HTTP-03"));
    OK(acp_http_client_error_message(client, &text));
    CHECK(is_text(text, "the first message has to be initialize"));
    CHECK(sent == 9);
    none(NULL, client);
    acp_http_server_free(server);
    acp_http_client_free(client);
}

static void options(void)
{
    acp_http_server *server = NULL;
    acp_http_client *client = NULL;
    acp_string why = {NULL, 0};
    STATUS(acp_http_server_new(acp_text("{\"limits\":{\"bodi\":1}}"), &server), ACP_INVALID_ARGUMENT);
    OK(acp_http_server_options_error(acp_text("{\"limits\":{\"bodi\":1}}"), &why));
    CHECK(why.len > 13 && memcmp(why.data, "/limits/bodi: ", 14) == 0);
    acp_string_free(&why);
    STATUS(acp_http_client_new(acp_text("[]"), 1, &client), ACP_INVALID_ARGUMENT);
    OK(acp_http_client_options_error(acp_text("[]"), &why));
    CHECK(is_text(acp_string_slice(why), ": expected an object"));
    acp_string_free(&why);
    CHECK(server == NULL && client == NULL);
    STATUS(acp_http_server_options_error(acp_text("{}"), &why), ACP_NONE);
    STATUS(acp_http_client_options_error(acp_text("{\"websocket\":true}"), &why), ACP_NONE);
    client = http_client(true);
    STATUS(acp_http_client_set_header(client, acp_text("a b"), acp_text("c")), ACP_INVALID_ARGUMENT);
    STATUS(acp_http_client_set_header(client, acp_text("a"), acp_text("b\r\nc: d")), ACP_INVALID_ARGUMENT);
    acp_http_client_free(client);
}

// What a peer sends is refused by what it is, and not as a mistake of the host.
static void odd_bytes(void)
{
    acp_slice step;
    acp_header odd[2];
    acp_http_server *server = http_server(true);
    odd[0] = header("host", "localhost");
    odd[1] = header("\xff", "\xfe");
    OK(acp_http_server_request(server, 1, acp_text("\xff"), acp_text("/\xff"), odd, COUNT(odd), &step));
    CHECK(is(step, "/step", "respond") && number(step, "/status") == 404);
    OK(acp_http_server_request(server, 2, acp_text("\xff"), acp_text("/acp"), NULL, 0, &step));
    CHECK(is(step, "/step", "respond"));
    odd[1].value.data = NULL;
    STATUS(acp_http_server_request(server, 3, acp_text("GET"), acp_text("/acp"), odd, 2, &step), ACP_INVALID_ARGUMENT);
    STATUS(acp_http_server_text(server, 1, acp_text("\xff")), ACP_INVALID_ARGUMENT);
    acp_http_server_free(server);
}

static void lost(void)
{
    acp_string answer = {NULL, 0};
    acp_slice value;
    OK(acp_http_lost_answer(acp_text("\"a\""), &answer));
    CHECK(is(acp_string_slice(answer), "/id", "a") && is(acp_string_slice(answer), "/error/data/outcome", "unknown"));
    OK(acp_json_find(acp_string_slice(answer), acp_text("/error/code"), &value));
    CHECK(is_text(value, "-32603"));
    acp_string_free(&answer);
    STATUS(acp_http_lost_answer(acp_text("[]"), &answer), ACP_INVALID_ARGUMENT);
}

void test_http(void)
{
    static const test tests[] = {
        {"http: a connection of a server", conversation},
        {"http: an agent that fails", failing},
        {"http: a connection of a client", asking},
        {"http: messages that cannot be sent", misuses},
        {"http: options", options},
        {"http: bytes that are no text", odd_bytes},
        {"http: an answer that was lost", lost},
    };
    run_tests(tests, COUNT(tests));
}
