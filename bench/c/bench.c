/* The workloads on libacp through its C interface: `bench WORK INPUTS MILLISECONDS`.
 *
 * How it is called, how it measures and what it prints is the same in all languages: bench/README.md. */
#define _POSIX_C_SOURCE 200809L

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "acp.h"

enum { PIECE = 64 * 1024, CHUNKS = 20000, DIFFS = 2000, FILES = 5000, CONNECTIONS = 10000, SECONDS = 10 };

/* The answer that opens the session of W4: all that the mix changes. */
static const char SESSION[] =
    "{\"sessionId\":\"s-0\",\"modes\":{\"currentModeId\":\"ask\",\"availableModes\":[{\"id\":\"ask\",\"name\":\"Ask\"},"
    "{\"id\":\"code\",\"name\":\"Code\"}]},\"configOptions\":[{\"id\":\"model\",\"name\":\"Model\",\"category\":\"model\","
    "\"type\":\"select\",\"currentValue\":\"big\",\"options\":[{\"value\":\"big\",\"name\":\"Big\"},"
    "{\"value\":\"small\",\"name\":\"Small\"}]}]}";

typedef struct {
    double seconds;
    size_t count;
} pass;

static void fail(const char *what)
{
    fprintf(stderr, "%s went wrong\n", what);
    exit(1);
}

static void need(acp_status status, const char *what)
{
    if (status != ACP_OK) {
        fprintf(stderr, "%s: %s\n", what, acp_status_name(status));
        exit(1);
    }
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static acp_slice input(const char *folder, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fail(path);
    }
    size_t size = (size_t)ftell(file);
    rewind(file);
    char *data = malloc(size);
    if (data == NULL || fread(data, 1, size, file) != size) {
        fail(path);
    }
    fclose(file);
    return acp_bytes(data, size);
}

static acp_connection *open_connection(int32_t role)
{
    acp_config *config = NULL;
    acp_connection *connection = NULL;
    need(acp_config_new(role, &config), "config");
    need(acp_connection_new(config, &connection), "connection");
    acp_config_free(config);
    return connection;
}

/* Moves what one side has written to the other. */
static void carry(acp_connection *from, acp_connection *to)
{
    acp_slice bytes;
    need(acp_connection_transmit(from, &bytes), "transmit");
    need(acp_connection_receive(to, bytes), "receive");
    need(acp_connection_consume(from, bytes.len), "consume");
}

/* The next event, which must be of this kind. */
static acp_event *expect(acp_connection *connection, int32_t kind)
{
    acp_event *event = NULL;
    int32_t found = 0;
    if (acp_connection_poll_event(connection, &event) != ACP_OK || acp_event_kind(event, &found) != ACP_OK ||
        found != kind) {
        fail(acp_event_kind_name(kind));
    }
    return event;
}

/* Takes all events, which must be notifications. */
static size_t drain(acp_connection *connection)
{
    acp_event *event = NULL;
    size_t count = 0;
    while (acp_connection_poll_event(connection, &event) == ACP_OK) {
        int32_t kind = 0;
        acp_slice params;
        need(acp_event_kind(event, &kind), "kind");
        if (kind != ACP_EVENT_NOTIFICATION || acp_event_params(event, &params) != ACP_OK || params.len == 0) {
            fail("an update");
        }
        acp_event_free(event);
        count++;
    }
    return count;
}

/* The client asks; what comes to the agent, with its number. */
static uint64_t ask(acp_connection *client, acp_connection *agent, const char *method, const char *params)
{
    uint64_t call = 0;
    uint64_t serial = 0;
    need(acp_connection_request(client, acp_text(method), acp_text(params), &call), method);
    if (agent != NULL) {
        carry(client, agent);
        acp_event *event = expect(agent, ACP_EVENT_REQUEST);
        need(acp_event_serial(event, &serial), "serial");
        acp_event_free(event);
    }
    return serial;
}

/* The agent answers, and the client hears it. */
static void answer(acp_connection *agent, acp_connection *client, uint64_t serial, const char *result)
{
    need(acp_connection_respond(agent, serial, acp_text(result)), result);
    carry(agent, client);
    acp_event_free(expect(client, ACP_EVENT_RESPONSE));
}

static void feed(acp_connection *client, const char *line)
{
    need(acp_connection_receive(client, acp_text(line)), "receive");
    acp_event_free(expect(client, ACP_EVENT_RESPONSE));
}

/* A client whose one session is at work. */
static acp_connection *ready(const char *session)
{
    char line[1024];
    acp_connection *client = open_connection(ACP_ROLE_CLIENT);
    ask(client, NULL, ACP_METHOD_INITIALIZE, "{\"clientCapabilities\":{}}");
    feed(client, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1,\"agentCapabilities\":{}}}\n");
    ask(client, NULL, ACP_METHOD_SESSION_NEW, "{\"cwd\":\"/work\",\"mcpServers\":[]}");
    snprintf(line, sizeof line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":%s}\n", session);
    feed(client, line);
    ask(client, NULL, ACP_METHOD_SESSION_PROMPT, "{\"sessionId\":\"s-0\",\"prompt\":[]}");
    need(acp_connection_consume(client, SIZE_MAX), "consume");
    return client;
}

/* W4, W6: gives a connection bytes in pieces, and takes the events after each. */
static pass decode(acp_slice bytes, size_t piece)
{
    pass pass = {0, 0};
    acp_connection *client = ready(SESSION);
    double begun = now();
    for (size_t at = 0; at < bytes.len; at += piece) {
        size_t len = bytes.len - at < piece ? bytes.len - at : piece;
        need(acp_connection_receive(client, acp_bytes(bytes.data + at, len)), "receive");
        pass.count += drain(client);
    }
    pass.seconds = now() - begun;
    acp_connection_free(client);
    return pass;
}

/* W5. */
static pass many(acp_slice line)
{
    static acp_connection *clients[CONNECTIONS];
    pass pass = {0, 0};
    for (size_t i = 0; i < CONNECTIONS; i++) {
        clients[i] = ready("{\"sessionId\":\"s-0\"}");
    }
    line.len = (size_t)((const char *)memchr(line.data, '\n', line.len) - line.data) + 1;
    double begun = now();
    for (uint64_t second = 1; second <= SECONDS; second++) {
        for (size_t i = 0; i < CONNECTIONS; i++) {
            acp_slice out;
            uint64_t due;
            need(acp_connection_receive(clients[i], line), "receive");
            pass.count += drain(clients[i]);
            need(acp_connection_handle_timeout(clients[i], second * 1000), "handle_timeout");
            need(acp_connection_transmit(clients[i], &out), "transmit");
            if (out.len > 0 || acp_connection_poll_timeout(clients[i], &due) != ACP_NONE) {
                fail("an idle connection");
            }
        }
    }
    pass.seconds = now() - begun;
    for (size_t i = 0; i < CONNECTIONS; i++) {
        acp_connection_free(clients[i]);
    }
    return pass;
}

static void begin(acp_writer *writer, const char *key)
{
    if (key != NULL) {
        need(acp_writer_key(writer, acp_text(key)), key);
    }
    need(acp_writer_begin_object(writer), "object");
}

static void end(acp_writer *writer)
{
    need(acp_writer_end_object(writer), "object");
}

static void put(acp_writer *writer, const char *key, acp_slice value)
{
    need(acp_writer_key(writer, acp_text(key)), key);
    need(acp_writer_string(writer, value), key);
}

/* Begins the params of an update of this kind. */
static void update(acp_writer *writer, const char *kind)
{
    need(acp_writer_reset(writer), "writer");
    begin(writer, NULL);
    put(writer, "sessionId", acp_text("s-0"));
    begin(writer, "update");
    put(writer, "sessionUpdate", acp_text(kind));
}

/* Sends them, and reads the text at the other end; its length. */
static size_t tell(acp_connection *agent, acp_connection *client, acp_writer *writer, const char *pointer)
{
    static char text[2 * 4096];
    acp_slice params;
    size_t len = 0;
    end(writer);
    end(writer);
    need(acp_writer_finish(writer, &params), "writer");
    need(acp_connection_notify(agent, acp_text(ACP_METHOD_SESSION_UPDATE), params), "update");
    carry(agent, client);
    acp_event *event = expect(client, ACP_EVENT_NOTIFICATION);
    need(acp_event_params(event, &params), "params");
    if (pointer != NULL) {
        need(acp_json_string(params, acp_text(pointer), text, sizeof text, &len), pointer);
    }
    acp_event_free(event);
    return len;
}

static void chunks(acp_connection *agent, acp_connection *client, acp_writer *writer, acp_slice text)
{
    for (int i = 0; i < CHUNKS; i++) {
        update(writer, ACP_UPDATE_AGENT_MESSAGE_CHUNK);
        begin(writer, "content");
        put(writer, "type", acp_text("text"));
        put(writer, "text", text);
        end(writer);
        if (tell(agent, client, writer, "/update/content/text") != text.len) {
            fail("a chunk");
        }
    }
}

static void diffs(acp_connection *agent, acp_connection *client, acp_writer *writer, acp_slice old, acp_slice new)
{
    update(writer, ACP_UPDATE_TOOL_CALL);
    put(writer, "toolCallId", acp_text("call"));
    put(writer, "title", acp_text("Edit"));
    tell(agent, client, writer, NULL);
    for (int i = 1; i <= DIFFS; i++) {
        update(writer, ACP_UPDATE_TOOL_CALL_UPDATE);
        put(writer, "toolCallId", acp_text("call"));
        need(acp_writer_key(writer, acp_text("content")), "content");
        need(acp_writer_begin_array(writer), "content");
        begin(writer, NULL);
        put(writer, "type", acp_text("diff"));
        put(writer, "path", acp_text("/work/main.rs"));
        put(writer, "oldText", old);
        put(writer, "newText", new);
        end(writer);
        need(acp_writer_end_array(writer), "content");
        if (i == DIFFS) {
            put(writer, "status", acp_text("completed"));
        }
        if (tell(agent, client, writer, "/update/content/0/newText") != new.len) {
            fail("a diff");
        }
    }
}

static void files(acp_connection *agent, acp_connection *client, acp_writer *writer, acp_slice file)
{
    static const char params[] = "{\"sessionId\":\"s-0\",\"path\":\"/work/main.rs\"}";
    static char text[4096];
    for (int i = 0; i < FILES; i++) {
        uint64_t serial = ask(agent, client, ACP_METHOD_FS_READ_TEXT_FILE, params);
        acp_slice result;
        size_t len = 0;
        need(acp_writer_reset(writer), "writer");
        begin(writer, NULL);
        put(writer, "content", file);
        end(writer);
        need(acp_writer_finish(writer, &result), "writer");
        need(acp_connection_respond(client, serial, result), "answer");
        carry(client, agent);
        acp_event *event = expect(agent, ACP_EVENT_RESPONSE);
        need(acp_event_result(event, &result), "result");
        need(acp_json_string(result, acp_text("/content"), text, sizeof text, &len), "content");
        if (len != file.len) {
            fail("a file");
        }
        acp_event_free(event);
    }
}

/* W1, W2, W3: a turn of the agent's, from the prompt to its end. */
static pass turn(const char *work, const char *folder)
{
    acp_connection *client = open_connection(ACP_ROLE_CLIENT);
    acp_connection *agent = open_connection(ACP_ROLE_AGENT);
    acp_writer *writer = NULL;
    need(acp_writer_new(&writer), "writer");
    uint64_t serial =
        ask(client, agent, ACP_METHOD_INITIALIZE, "{\"clientCapabilities\":{\"fs\":{\"readTextFile\":true}}}");
    answer(agent, client, serial, "{}");
    serial = ask(client, agent, ACP_METHOD_SESSION_NEW, "{\"cwd\":\"/work\",\"mcpServers\":[]}");
    answer(agent, client, serial, "{\"sessionId\":\"s-0\"}");
    acp_slice first = input(folder, work[1] == '1' ? "chunk.txt" : work[1] == '2' ? "old.txt" : "file.txt");
    acp_slice second = input(folder, "new.txt");
    pass pass = {now(), work[1] == '1' ? CHUNKS : work[1] == '2' ? DIFFS : FILES};
    serial = ask(client, agent, ACP_METHOD_SESSION_PROMPT,
                 "{\"sessionId\":\"s-0\",\"prompt\":[{\"type\":\"text\",\"text\":\"Go\"}]}");
    if (work[1] == '1') {
        chunks(agent, client, writer, first);
    } else if (work[1] == '2') {
        diffs(agent, client, writer, first, second);
    } else {
        files(agent, client, writer, first);
    }
    answer(agent, client, serial, "{\"stopReason\":\"end_turn\"}");
    pass.seconds = now() - pass.seconds;
    free((void *)first.data);
    free((void *)second.data);
    acp_writer_free(writer);
    acp_connection_free(agent);
    acp_connection_free(client);
    return pass;
}

static pass do_work(const char *work, const char *folder, acp_slice bytes)
{
    if (strcmp(work, "none") == 0) {
        return (pass){0, 0};
    }
    if (work[1] <= '3') {
        return turn(work, folder);
    }
    if (work[1] == '5') {
        return many(bytes);
    }
    if (work[1] == '6') {
        unsigned long piece = strtoul(work + 3, NULL, 10);
        return decode(bytes, piece == 0 ? bytes.len : piece);
    }
    return decode(bytes, PIECE);
}

/* The most memory that this process had, where the system tells. */
static long peak_kib(void)
{
    char line[256];
    long peak = -1;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "VmHWM: %ld", &peak) == 1) {
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return peak;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fail("the command line: expected WORK INPUTS MILLISECONDS, which");
    }
    const char *work = argv[1];
    double least = strtod(argv[3], NULL) / 1000;
    acp_slice bytes = {NULL, 0};
    if (work[0] == 'w' && work[1] >= '4') {
        bytes = input(argv[2], work[1] == '6' ? "big.jsonl" : strcmp(work, "w4-mix") == 0 ? "mix.jsonl" : "small.jsonl");
    }
    pass last = do_work(work, argv[2], bytes);
    double seconds = last.seconds;
    if (least > 0) {
        double spent = 0;
        int passes = 0;
        for (; spent < least; passes++) {
            last = do_work(work, argv[2], bytes);
            spent += last.seconds;
        }
        seconds = spent / passes;
    }
    printf("{\"work\":\"%s\",\"seconds\":%.9f,\"count\":%zu,\"peak_kib\":", work, seconds, last.count);
    long peak = peak_kib();
    if (peak < 0) {
        printf("null}\n");
    } else {
        printf("%ld}\n", peak);
    }
    free((void *)bytes.data);
    return 0;
}
