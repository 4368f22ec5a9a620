#include "player.h"

// The first bytes of a slice that may come from the peer, for messages.
#define SHORT(slice) (int)((slice).len < 200 ? (slice).len : 200), ((slice).len ? (slice).data : "")

static void play_steps(player *player, acp_slice steps);

static int32_t kind_of(const acp_event *event)
{
    int32_t kind = 0;
    need(acp_event_kind(event, &kind), "kind");
    return kind;
}

// The next event, which must be of this kind and method.
static acp_event *take(player *player, int32_t kind, acp_slice method)
{
    acp_event *event = host_next(&player->host);
    int32_t came = kind_of(event);
    for (; came == ACP_EVENT_VIOLATION; came = kind_of(event)) {
        tell_violation(event);
        acp_event_free(event);
        event = host_next(&player->host);
    }
    acp_slice name = part(event, acp_event_method), rule = part(event, acp_event_rule);
    acp_slice message = part(event, acp_event_message);
    if (came != kind || (method.data != NULL && !acp_equal(name, method))) {
        fail("%.*s: expected %s %.*s, got %s %.*s %.*s %.*s", SHORT(text_slice(&player->at)),
             acp_event_kind_name(kind), SHORT(method), acp_event_kind_name(came), SHORT(name), SHORT(rule),
             SHORT(message));
    }
    return event;
}

static void check(player *player, acp_slice expected, acp_slice found, acp_slice method)
{
    compare(expected, found, method.len > 0 && method.data[0] == '_', text_slice(&player->at));
}

static uint64_t serial_of(const acp_event *event)
{
    uint64_t serial = 0;
    need(acp_event_serial(event, &serial), "serial");
    return serial;
}

static void need_info(player *player, acp_slice object, const char *name, const char *version)
{
    text first = json_text(object, name), second = json_text(object, version);
    if (first.len == 0 || second.len == 0) {
        fail("%.*s: no name or no version", SHORT(text_slice(&player->at)));
    }
    text_free(&first);
    text_free(&second);
}

// The exact number, if an agent has sent it back, is the one that was sent.
static void check_exact(player *player, acp_slice result)
{
    static const char pointer[] = "/agentInfo" EXACT_POINTER;
    acp_slice value;
    int64_t number = 0;
    if (json_at(result, pointer, &value) &&
        (acp_json_int64(value, acp_text(""), &number) != ACP_OK || number != EXACT_NUMBER)) {
        fail("%.*s%s: expected %lld, got %.*s", SHORT(text_slice(&player->at)), pointer, (long long)EXACT_NUMBER,
             SHORT(value));
    }
}

text with_info(acp_slice object, const char *member, const char *name, acp_slice exact)
{
    size_t len = 0;
    acp_writer *writer = new_writer();
    acp_items *items = json_items(object, &len);
    need(acp_writer_begin_object(writer), member);
    for (size_t i = 0; i < len; i++) {
        need(acp_writer_key(writer, item_key(items, i)), member);
        need(acp_writer_json(writer, item_value(items, i)), member);
    }
    need(acp_writer_key(writer, acp_text(member)), member);
    need(acp_writer_begin_object(writer), member);
    write_member(writer, "name", acp_text(name));
    write_member(writer, "version", acp_text(acp_library_version()));
    if (exact.len > 0) {
        need(acp_writer_key(writer, acp_text("_meta")), member);
        need(acp_writer_begin_object(writer), member);
        need(acp_writer_key(writer, acp_text(EXACT)), member);
        need(acp_writer_json(writer, exact), member);
        need(acp_writer_end_object(writer), member);
    }
    need(acp_writer_end_object(writer), member);
    need(acp_writer_end_object(writer), member);
    acp_items_free(items);
    return written(writer);
}

// Sends a notification or receives it; returns the params that passed.
static text play_notify(player *player, bool ours, acp_slice method, acp_slice params)
{
    text passed = {0};
    if (acp_equal(method, acp_text(ACP_METHOD_SESSION_UPDATE))) {
        player->updates++;
    }
    if (ours) {
        acp_connection *connection = player->host.connection;
        need_call(connection, acp_connection_notify(connection, method, params), "notify");
        text_add(&passed, params);
    } else {
        acp_event *event = take(player, ACP_EVENT_NOTIFICATION, method);
        text_add(&passed, part(event, acp_event_params));
        check(player, params, text_slice(&passed), method);
        acp_event_free(event);
    }
    return passed;
}

typedef struct chunks {
    player *player;
    acp_slice session;
    bool ours;
    size_t count;
    checksum sum;
} chunks;

static void play_chunk(void *self, acp_slice content)
{
    chunks *chunks = self;
    acp_writer *writer = new_writer();
    need(acp_writer_begin_object(writer), "chunk");
    need(acp_writer_key(writer, acp_text("sessionId")), "chunk");
    need(acp_writer_json(writer, chunks->session), "chunk");
    need(acp_writer_key(writer, acp_text("update")), "chunk");
    need(acp_writer_begin_object(writer), "chunk");
    write_member(writer, "sessionUpdate", acp_text(ACP_UPDATE_AGENT_MESSAGE_CHUNK));
    need(acp_writer_key(writer, acp_text("content")), "chunk");
    need(acp_writer_begin_object(writer), "chunk");
    write_member(writer, "type", acp_text(ACP_CONTENT_TEXT));
    write_member(writer, "text", content);
    for (int i = 0; i < 3; i++) {
        need(acp_writer_end_object(writer), "chunk");
    }
    text params = written(writer);
    text passed =
        play_notify(chunks->player, chunks->ours, acp_text(ACP_METHOD_SESSION_UPDATE), text_slice(&params));
    text came = json_text(text_slice(&passed), "/update/content/text");
    checksum_add(&chunks->sum, text_slice(&came));
    checksum_add(&chunks->player->messages, text_slice(&came));
    chunks->count++;
    text_free(&params);
    text_free(&passed);
    text_free(&came);
}

static void play_chunks(player *player, acp_slice step, bool ours)
{
    size_t len = 0;
    acp_slice session = json_get(text_slice(&player->script), "/steps/1/result/sessionId");
    chunks chunks = {player, session, ours, 0, CHECKSUM_START};
    acp_items *rules = json_items(json_get(step, "/chunks"), &len);
    for (size_t i = 0; i < len; i++) {
        expand(item_value(rules, i), play_chunk, &chunks);
    }
    acp_items_free(rules);
    if (chunks.count != json_number(step, "/count", 0)) {
        fail("%.*s/count: got %zu", SHORT(text_slice(&player->at)), chunks.count);
    }
    checksum_check(&chunks.sum, step, "/bytes", "/fnv1a32", text_slice(&player->at));
}

// Waits for the answer to a request of our own.
static void play_result(player *player, acp_slice step, uint64_t serial)
{
    text method = json_text(step, "/request"), wanted = fill(json_get(step, "/result"), &player->names);
    acp_event *event = take(player, ACP_EVENT_RESPONSE, text_slice(&method));
    acp_slice result = part(event, acp_event_result), message = part(event, acp_event_error_message);
    if (serial_of(event) != serial || result.data == NULL) {
        int32_t outcome = 0;
        need(acp_event_outcome(event, &outcome), "outcome");
        fail("%.*s: expected a result, got %s %.*s", SHORT(text_slice(&player->at)), acp_outcome_name(outcome),
             SHORT(message));
    }
    if (json_is(step, "/request", ACP_METHOD_INITIALIZE)) {
        need_info(player, result, "/agentInfo/name", "/agentInfo/version");
        check_exact(player, result);
    }
    check(player, text_slice(&wanted), result, text_slice(&method));
    acp_event_free(event);
    text_free(&method);
    text_free(&wanted);
}

static void respond(player *player, uint64_t serial, acp_slice result)
{
    acp_connection *connection = player->host.connection;
    need_call(connection, acp_connection_respond(connection, serial, result), "respond");
}

static void play_answer(player *player, acp_slice step)
{
    open_step *open = &player->open;
    text name = json_text(step, "/answer");
    if (!acp_equal(text_slice(&name), text_slice(&open->name))) {
        fail("%.*s: nothing of this name is open", SHORT(text_slice(&player->at)));
    }
    if (open->ours) {
        play_result(player, open->step, open->serial);
    } else {
        // The request is a permission request of a turn that was cancelled: libacp has answered it together with
        // `session/cancel`, and says so.
        acp_event *event = take(player, ACP_EVENT_ANSWERED, acp_text(ACP_METHOD_SESSION_REQUEST_PERMISSION));
        if (serial_of(event) != open->serial || !json_is(open->step, "/result/outcome/outcome", ACP_OUTCOME_CANCELLED)) {
            fail("%.*s: another request was answered", SHORT(text_slice(&player->at)));
        }
        acp_event_free(event);
    }
    text_free(&name);
    text_free(&open->name);
    text_free(&open->at);
}

static uint64_t send_request(player *player, acp_slice method, acp_slice params)
{
    uint64_t serial = 0;
    acp_connection *connection = player->host.connection;
    text hello = {0};
    if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        text exact = {0};
        text_format(&exact, "%lld", (long long)EXACT_NUMBER);
        hello = with_info(params, "clientInfo", "libacp-c-client", text_slice(&exact));
        params = text_slice(&hello);
        text_free(&exact);
    }
    need_call(connection, acp_connection_request(connection, method, params, &serial), "request");
    text_free(&hello);
    return serial;
}

static void play_request(player *player, acp_slice step, bool ours)
{
    acp_slice value;
    uint64_t serial;
    text method = json_text(step, "/request"), params = {0}, came = {0}, at = {0};
    acp_event *event = NULL;
    if (ours) {
        params = fill(json_get(step, "/params"), &player->names);
        serial = send_request(player, text_slice(&method), text_slice(&params));
    } else {
        event = take(player, ACP_EVENT_REQUEST, text_slice(&method));
        serial = serial_of(event);
        text_add(&came, part(event, acp_event_params));
        acp_event_free(event);
        if (json_is(step, "/request", ACP_METHOD_INITIALIZE)) {
            need_info(player, text_slice(&came), "/clientInfo/name", "/clientInfo/version");
        }
        if (player->bind != NULL) {
            player->bind(player, text_slice(&method), text_slice(&came));
        }
        params = fill(json_get(step, "/params"), &player->names);
        check(player, text_slice(&params), text_slice(&came), text_slice(&method));
    }
    if (json_at(step, "/open", &value)) {
        open_step open = {json_text(value, ""), step, {0}, serial, ours};
        text_add(&open.at, text_slice(&player->at));
        player->open = open;
    } else {
        text_add(&at, text_slice(&player->at));
        if (json_at(step, "/during", &value)) {
            text_format(&player->at, "/during");
            play_steps(player, value);
        }
        player->at.len = 0;
        text_add(&player->at, text_slice(&at));
        if (ours) {
            play_result(player, step, serial);
        } else {
            text wanted = fill(json_get(step, "/result"), &player->names);
            text result = player->perform(player, text_slice(&method), text_slice(&came), text_slice(&wanted));
            check(player, text_slice(&wanted), text_slice(&result), text_slice(&method));
            respond(player, serial, text_slice(&result));
            text_free(&wanted);
            text_free(&result);
        }
    }
    text_free(&method);
    text_free(&params);
    text_free(&came);
    text_free(&at);
}

static void play_steps(player *player, acp_slice steps)
{
    size_t len = 0, here = player->at.len;
    acp_items *list = json_items(steps, &len);
    for (size_t i = 0; i < len; i++) {
        acp_slice step = item_value(list, i), value;
        bool ours = json_is(step, "/by", player->role);
        player->at.len = here;
        text_format(&player->at, "/%zu", i);
        if (json_at(step, "/chunks", &value)) {
            play_chunks(player, step, ours);
        } else if (json_at(step, "/notify", &value)) {
            text method = json_text(value, ""), params = fill(json_get(step, "/params"), &player->names);
            text passed = play_notify(player, ours, text_slice(&method), text_slice(&params));
            text_free(&method);
            text_free(&params);
            text_free(&passed);
        } else if (json_at(step, "/answer", &value)) {
            play_answer(player, step);
        } else {
            play_request(player, step, ours);
        }
    }
    player->at.len = here;
    acp_items_free(list);
}

void play(player *player)
{
    acp_slice script = text_slice(&player->script);
    checksum start = CHECKSUM_START;
    player->messages = start;
    if (json_number(script, "/format", 0) != 1) {
        fail("another script format than 1");
    }
    text_format(&player->at, "/steps");
    play_steps(player, json_get(script, "/steps"));
    acp_slice totals = json_get(script, "/totals");
    if (player->updates != json_number(totals, "/updates", 0)) {
        fail("/totals/updates: got %zu", player->updates);
    }
    checksum_check(&player->messages, totals, "/messageBytes", "/messageFnv1a32", acp_text("/totals"));
}

void play_end(player *player)
{
    int32_t reason = 0;
    acp_slice none = {NULL, 0};
    player->at.len = 0;
    text_format(&player->at, "/end");
    acp_event *event = take(player, ACP_EVENT_CLOSED, none);
    size_t unanswered = 0, terminals = 0;
    need(acp_event_close_reason(event, &reason), "reason");
    need(acp_event_unanswered_len(event, &unanswered), "unanswered");
    need(acp_event_terminals_len(event, &terminals), "terminals");
    if (reason != ACP_CLOSE_END_OF_STREAM || unanswered != 0 || terminals != 0) {
        fail("/end: %s, %zu requests without an answer, %zu open terminals", acp_close_reason_name(reason), unanswered,
             terminals);
    }
    acp_event_free(event);
}

void player_free(player *player)
{
    host_free(&player->host);
    text_free(&player->script);
    text_free(&player->names.cwd);
    text_free(&player->names.work);
    text_free(&player->names.work_uri);
    text_free(&player->at);
}
