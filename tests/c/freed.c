// Uses a handle after it was freed, or frees it twice. The header forbids both, and nothing can be promised; but where the
// memory has not been used again, the library says so, and in a build with the address sanitizer each must be stopped, inside
// of the library too. The argument says which; what the library says is printed.

#include "check.h"

#include <stdio.h>

static acp_status config(acp_connection *connection)
{
    acp_config *config = NULL;
    int32_t role;
    acp_connection_config(connection, &config);
    acp_config_free(config);
    return acp_config_role(config, &role);
}

static acp_status connection(acp_connection *connection)
{
    size_t size;
    acp_connection_free(connection);
    return acp_connection_buffered(connection, &size);
}

static acp_status event(acp_connection *connection)
{
    acp_event *event = NULL;
    int32_t kind;
    acp_connection_receive(connection, acp_text("{}\n"));
    acp_connection_poll_event(connection, &event);
    acp_event_free(event);
    return acp_event_kind(event, &kind);
}

static acp_status list(acp_connection *connection)
{
    acp_sessions *sessions = NULL;
    size_t count;
    acp_connection_sessions(connection, &sessions);
    acp_sessions_free(sessions);
    return acp_sessions_len(sessions, &count);
}

static acp_status writer(acp_connection *connection)
{
    acp_writer *writer = NULL;
    (void)connection;
    (void)!acp_writer_new(&writer);
    acp_writer_free(writer);
    return acp_writer_null(writer);
}

static acp_status freed_server(acp_connection *connection)
{
    acp_http_server *server = NULL;
    size_t count;
    (void)connection;
    (void)!acp_http_server_new(acp_text("{}"), &server);
    acp_http_server_free(server);
    return acp_http_server_connections(server, &count);
}

static acp_status freed_client(acp_connection *connection)
{
    acp_http_client *client = NULL;
    (void)connection;
    (void)!acp_http_client_new(acp_text("{}"), 1, &client);
    acp_http_client_free(client);
    return acp_http_client_close(client);
}

static acp_status twice(acp_connection *connection)
{
    size_t size;
    acp_connection_free(connection);
    acp_connection_free(connection);
    return acp_connection_buffered(connection, &size);
}

// A slice that is no longer than it says, over memory that is gone.
static acp_status slice(acp_connection *connection)
{
    acp_slice snapshot;
    acp_connection_snapshot(connection, &snapshot);
    acp_connection_free(connection);
    return acp_json_len(snapshot, acp_text(""), &snapshot.len);
}

// A length that reaches past what is there, as the library reads it.
static acp_status length(acp_connection *connection)
{
    char bytes[16] = "{}";
    return acp_connection_receive(connection, acp_bytes(bytes, 64));
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        acp_status (*misuse)(acp_connection *);
    } ways[] = {
        {"config", config}, {"connection", connection}, {"event", event}, {"list", list},
        {"writer", writer}, {"twice", twice},           {"slice", slice},   {"length", length},
        {"http_server", freed_server}, {"http_client", freed_client},
    };
    acp_config *made = NULL;
    acp_connection *open = NULL;
    if (acp_config_new(ACP_ROLE_CLIENT, &made) != ACP_OK || acp_connection_new(made, &open) != ACP_OK) {
        return 2;
    }
    acp_config_free(made);
    for (size_t i = 0; i < COUNT(ways); i++) {
        if (count < 2) {
            puts(ways[i].name);
        } else if (strcmp(arguments[1], ways[i].name) == 0) {
            puts(acp_status_name(ways[i].misuse(open)));
            return 0;
        }
    }
    acp_connection_free(open);
    return count < 2 ? 0 : 2;
}
