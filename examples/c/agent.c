// An ACP agent in C: `agent --script script.json`, on standard input and output. It plays the agent's side of the script
// and checks everything that the client sends.

#define _POSIX_C_SOURCE 200809L

#include "player.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

static void say(acp_slice why)
{
    fprintf(stderr, "%.*s\n", (int)why.len, why.data);
    exit(1);
}

static int hex(char digit)
{
    static const char digits[] = "0123456789ABCDEF";
    const char *found = digit == '\0' ? NULL : strchr(digits, digit);
    return found == NULL ? -1 : (int)(found - digits);
}

// Learns the two folders from what the client says first.
static void bind_names(player *player, acp_slice method, acp_slice params)
{
    if (acp_equal(method, acp_text(ACP_METHOD_SESSION_NEW))) {
        player->names.cwd = json_text(params, "/cwd");
    } else if (acp_equal(method, acp_text(ACP_METHOD_SESSION_PROMPT)) && player->names.work.len == 0) {
        static const char head[] = "file://", tail[] = "/notes.md";
        text uri = json_text(params, "/prompt/1/uri");
        size_t start = sizeof head - 1, rest = sizeof tail - 1;
        if (uri.len <= start + rest || memcmp(uri.data, head, start) != 0 ||
            memcmp(uri.data + uri.len - rest, tail, rest) != 0) {
            fail("/steps/2/params/prompt/1/uri: got %.*s", (int)uri.len, uri.data);
        }
        text_add(&player->names.work_uri, acp_bytes(uri.data + start, uri.len - start - rest));
        for (size_t i = start; i < uri.len - rest; i++) {
            char byte = uri.data[i];
            if (byte == '%' && uri.len - i > 2 && hex(uri.data[i + 1]) >= 0 && hex(uri.data[i + 2]) >= 0) {
                byte = (char)(hex(uri.data[i + 1]) * 16 + hex(uri.data[i + 2]));
                i += 2;
            }
            text_add(&player->names.work, acp_bytes(&byte, 1));
        }
        text_free(&uri);
    }
}

// The agent's results are the script's.
static text perform(player *player, acp_slice method, acp_slice params, acp_slice expected)
{
    text result = {0};
    (void)player;
    if (acp_equal(method, acp_text(ACP_METHOD_INITIALIZE))) {
        acp_slice exact = {NULL, 0};
        json_at(params, "/clientInfo" EXACT_POINTER, &exact);
        return with_info(expected, "agentInfo", "libacp-c-agent", exact);
    }
    text_add(&result, method.data[0] == '_' ? params : expected);
    return result;
}

int main(int count, char **arguments)
{
    player player;
    on_failure = say;
    if (count != 3 || strcmp(arguments[1], "--script") != 0) {
        fail("usage: agent --script FILE");
    }
    signal(SIGPIPE, SIG_IGN);
    memset(&player, 0, sizeof player);
    host_open(&player.host, ACP_ROLE_AGENT, STDIN_FILENO, STDOUT_FILENO);
    player.script = read_file(arguments[2]);
    player.role = "agent";
    player.bind = bind_names;
    player.perform = perform;
    play(&player);
    play_end(&player);
    host_finish(&player.host);
    player_free(&player);
    return 0;
}
