#define _POSIX_C_SOURCE 200809L

#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

uint64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void host_open(host *host, int32_t role, int in, int out)
{
    acp_config *config = NULL;
    memset(host, 0, sizeof *host);
    if (acp_abi_version() != ACP_ABI_VERSION) {
        fail("the library has binary interface %u instead of %u", (unsigned)acp_abi_version(), ACP_ABI_VERSION);
    }
    need(acp_config_new(role, &config), "config");
    need(acp_connection_new(config, &host->connection), "connection");
    acp_config_free(config);
    host->start = now_ms();
    host->in = in;
    host->out = out;
    host->received.direction = role == ACP_ROLE_CLIENT ? '<' : '>';
    host->sent.direction = role == ACP_ROLE_CLIENT ? '>' : '<';
    for (size_t i = 0; i < WATCHES; i++) {
        host->watches[i].fd = -1;
    }
    if (fcntl(in, F_SETFL, fcntl(in, F_GETFL) | O_NONBLOCK) < 0 ||
        fcntl(out, F_SETFL, fcntl(out, F_GETFL) | O_NONBLOCK) < 0) {
        fail("the pipes cannot be made non-blocking");
    }
}

void host_free(host *host)
{
    acp_connection_free(host->connection);
    text_free(&host->received.line);
    text_free(&host->sent.line);
    for (size_t i = 0; i < WATCHES; i++) {
        text_free(&host->watches[i].all);
    }
}

static void record(host *host, tap *tap)
{
    acp_writer *writer = new_writer();
    char direction[2] = {tap->direction, '\0'};
    need(acp_writer_begin_object(writer), "trace");
    write_member(writer, "d", acp_text(direction));
    need(acp_writer_key(writer, acp_text("ms")), "trace");
    need(acp_writer_uint64(writer, now_ms() - host->start), "trace");
    write_member(writer, "s", text_slice(&tap->line));
    need(acp_writer_end_object(writer), "trace");
    text line = written(writer);
    fprintf(host->trace, "%.*s\n", (int)line.len, line.data);
    text_free(&line);
}

static void pass(host *host, tap *tap, acp_slice bytes)
{
    tap->bytes += bytes.len;
    while (bytes.len > 0) {
        const char *end = memchr(bytes.data, '\n', bytes.len);
        size_t len = end == NULL ? bytes.len : (size_t)(end - bytes.data);
        if (host->trace != NULL) {
            text_add(&tap->line, acp_bytes(bytes.data, len));
        }
        if (end != NULL) {
            tap->lines++;
            if (host->trace != NULL) {
                record(host, tap);
            }
            tap->line.len = 0;
            len++;
        }
        bytes = acp_bytes(bytes.data + len, bytes.len - len);
    }
}

static void read_some(host *host)
{
    char block[65536];
    ssize_t count = read(host->in, block, sizeof block);
    if (count > 0) {
        pass(host, &host->received, acp_bytes(block, (size_t)count));
        need(acp_connection_receive(host->connection, acp_bytes(block, (size_t)count)), "receive");
    } else if (count == 0) {
        need(acp_connection_receive_eof(host->connection), "receive_eof");
        close(host->in);
        host->in = -1;
    } else if (errno != EAGAIN && errno != EINTR) {
        fail("reading: %s", strerror(errno));
    }
}

static void write_some(host *host, acp_slice waits)
{
    ssize_t count = write(host->out, waits.data, waits.len);
    if (count >= 0) {
        pass(host, &host->sent, acp_bytes(waits.data, (size_t)count));
        need(acp_connection_consume(host->connection, (size_t)count), "consume");
    } else if (errno != EAGAIN && errno != EINTR) {
        fail("writing: %s", strerror(errno));
    }
}

static void watch_some(watch *watch)
{
    char block[65536];
    ssize_t count = read(watch->fd, block, sizeof block);
    if (count > 0) {
        text_add(&watch->all, acp_bytes(block, (size_t)count));
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
        close(watch->fd);
        watch->fd = -1;
    }
}

// Milliseconds until the library or the host wants to wake up; -1 for never.
static int patience(host *host)
{
    uint64_t now = now_ms(), next = host->deadline, wanted;
    if (host->deadline != 0 && now >= host->deadline) {
        fail("no answer in time");
    }
    if (acp_connection_poll_timeout(host->connection, &wanted) == ACP_OK && (next == 0 || wanted < next)) {
        next = wanted;
    }
    if (next == 0) {
        return -1;
    }
    return next <= now ? 0 : next - now > 60000 ? 60000 : (int)(next - now);
}

void host_step(host *host, bool reading)
{
    struct pollfd fds[2 + WATCHES];
    acp_slice waits = {NULL, 0};
    need(acp_connection_transmit(host->connection, &waits), "transmit");
    fds[0].fd = reading ? host->in : -1;
    fds[0].events = POLLIN;
    fds[1].fd = waits.len > 0 ? host->out : -1;
    fds[1].events = POLLOUT;
    for (size_t i = 0; i < WATCHES; i++) {
        fds[2 + i].fd = host->watches[i].fd;
        fds[2 + i].events = POLLIN;
    }
    if (poll(fds, 2 + WATCHES, patience(host)) < 0) {
        if (errno != EINTR) {
            fail("poll: %s", strerror(errno));
        }
        return;
    }
    if (fds[1].fd >= 0 && fds[1].revents != 0) {
        write_some(host, waits);
    }
    if (fds[0].fd >= 0 && fds[0].revents != 0) {
        read_some(host);
    }
    for (size_t i = 0; i < WATCHES; i++) {
        if (fds[2 + i].fd >= 0 && fds[2 + i].revents != 0) {
            watch_some(&host->watches[i]);
        }
    }
    need(acp_connection_handle_timeout(host->connection, now_ms()), "handle_timeout");
}

acp_event *host_next(host *host)
{
    acp_event *event = NULL;
    acp_status status;
    while ((status = acp_connection_poll_event(host->connection, &event)) == ACP_NONE) {
        host_step(host, true);
    }
    need(status, "poll_event");
    return event;
}

void host_finish(host *host)
{
    acp_slice waits = {NULL, 0};
    for (;;) {
        need(acp_connection_transmit(host->connection, &waits), "transmit");
        if (waits.len == 0) {
            break;
        }
        host_step(host, false);
    }
    close(host->out);
    host->out = -1;
}

acp_slice part(const acp_event *event, acp_status (*get)(const acp_event *, acp_slice *))
{
    acp_slice slice = {NULL, 0};
    acp_status status = get(event, &slice);
    if (status != ACP_NONE) {
        need(status, "event");
    }
    return slice;
}

void tell_violation(const acp_event *event)
{
    acp_writer *writer = new_writer();
    need(acp_writer_begin_object(writer), "violation");
    write_member(writer, "violation", part(event, acp_event_rule));
    write_member(writer, "method", part(event, acp_event_method));
    write_member(writer, "pointer", part(event, acp_event_pointer));
    write_member(writer, "message", part(event, acp_event_message));
    need(acp_writer_end_object(writer), "violation");
    text line = written(writer);
    fprintf(stderr, "%.*s\n", (int)line.len, line.data);
    text_free(&line);
}
