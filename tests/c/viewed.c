// What the step `view` looks at. Beside what a scenario expects, a copy of each view is kept that reads nothing but what has
// changed, and of contents nothing but what is new; it must be the view.

#include "replay.h"

#include <stdlib.h>

typedef struct entry {
    uint64_t index;
    uint64_t end;
    bool terminal;
    text head;
    // What its content is called; none where it has none.
    const char *name;
    // The blocks or items but for the last one, each with a comma behind it; and that one. Of a terminal, its text.
    text items;
    text last;
    uint64_t before;
} entry;

typedef struct member {
    text name;
    text value;
} member;

struct copy {
    text session;
    uint64_t revision;
    entry *entries;
    size_t count;
    member *members;
    size_t members_count;
};

static const char *const CONTENTS[] = {"blocks", "summary", "content", "output"};
// What a connection counts as it will.
static const char *const COUNTED[] = {"revision", "rewritten", "end"};
// What changes have that is no member of the view.
static const char *const OF_CHANGES[] = {"reset", "first", "removed", "entries", "terminals"};

static bool is_one_of(acp_slice name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (acp_equal(name, acp_text(names[i]))) {
            return true;
        }
    }
    return false;
}

#define IS_ONE_OF(name, names) is_one_of(name, names, sizeof(names) / sizeof *(names))

static void *grown(void *list, size_t count, size_t size)
{
    void *more = realloc(list, (count + 1) * size);
    if (more == NULL) {
        die("no memory", acp_text(""));
    }
    memset((char *)more + count * size, 0, size);
    return more;
}

static void set(text *text, acp_slice value)
{
    text->len = 0;
    text_add(text, value);
}

static void entry_free(entry *entry)
{
    text_free(&entry->head);
    text_free(&entry->items);
    text_free(&entry->last);
}

static void forget(struct copy *copy, size_t at)
{
    entry_free(&copy->entries[at]);
    memmove(copy->entries + at, copy->entries + at + 1, (--copy->count - at) * sizeof(entry));
}

// The entry of an index, which stands in its place among the others.
static entry *entry_of(struct copy *copy, uint64_t index)
{
    size_t at = copy->count;
    while (at > 0 && copy->entries[at - 1].index >= index) {
        at--;
    }
    if (at < copy->count && copy->entries[at].index == index) {
        return &copy->entries[at];
    }
    copy->entries = grown(copy->entries, copy->count, sizeof(entry));
    memmove(copy->entries + at + 1, copy->entries + at, (copy->count++ - at) * sizeof(entry));
    memset(&copy->entries[at], 0, sizeof(entry));
    copy->entries[at].index = index;
    return &copy->entries[at];
}

// Puts the text of another block behind that of the last one.
static void go_on(entry *entry, acp_slice block)
{
    acp_writer *writer;
    acp_slice joined;
    text all = json_text(text_slice(&entry->last), "/text"), more = json_text(block, "/text");
    text_add(&all, text_slice(&more));
    need(acp_writer_new(&writer), "writer");
    need(acp_writer_begin_object(writer), "block");
    need(acp_writer_key(writer, acp_text("type")), "block");
    need(acp_writer_string(writer, acp_text("text")), "block");
    need(acp_writer_key(writer, acp_text("text")), "block");
    need(acp_writer_string(writer, text_slice(&all)), "block");
    need(acp_writer_end_object(writer), "block");
    need(acp_writer_finish(writer, &joined), "block");
    set(&entry->last, joined);
    acp_writer_free(writer);
    text_free(&all);
    text_free(&more);
}

static void add_content(entry *entry, acp_slice content)
{
    acp_slice value;
    char pointer[16] = "/";
    for (size_t i = 0; i < sizeof CONTENTS / sizeof *CONTENTS; i++) {
        strcpy(pointer + 1, CONTENTS[i]);
        if (!json_at(content, pointer, &value)) {
            continue;
        }
        entry->name = CONTENTS[i];
        if (entry->terminal) {
            text more = json_text(value, "");
            text_add(&entry->items, text_slice(&more));
            text_free(&more);
            entry->before = json_number(content, "/before");
            continue;
        }
        bool continues;
        size_t count;
        need(acp_json_bool(content, acp_text("/continues"), &continues), "continues");
        acp_items *items = json_items(value, &count);
        for (size_t at = 0; at < count; at++) {
            if (at == 0 && continues) {
                go_on(entry, item_value(items, at));
                continue;
            }
            if (entry->last.len > 0) {
                text_add(&entry->items, text_slice(&entry->last));
                text_add(&entry->items, acp_text(","));
            }
            set(&entry->last, item_value(items, at));
        }
        acp_items_free(items);
    }
}

static void read_entry(acp_connection *connection, struct copy *copy, acp_slice head, text *why)
{
    acp_slice content, type;
    entry *entry = entry_of(copy, json_number(head, "/index"));
    uint64_t position = entry->end;
    need(acp_connection_view_content(connection, text_slice(&copy->session), entry->index, position, &content), "content");
    if (json_number(content, "/from") == 0) {
        entry->items.len = entry->last.len = 0;
    } else if (json_number(content, "/from") != position) {
        text_add(why, acp_text("a content is from elsewhere"));
    }
    json_at(head, "/type", &type);
    entry->terminal = acp_equal(type, acp_text("\"terminal\""));
    set(&entry->head, head);
    add_content(entry, content);
    entry->end = json_number(content, "/end");
    if (entry->end != json_number(head, "/end")) {
        text_add(why, acp_text("a content ends elsewhere"));
    }
}

static void read_member(struct copy *copy, acp_slice name, acp_slice value)
{
    size_t at = 0;
    while (at < copy->members_count && !acp_equal(text_slice(&copy->members[at].name), name)) {
        at++;
    }
    if (at == copy->members_count) {
        copy->members = grown(copy->members, copy->members_count++, sizeof(member));
        text_add(&copy->members[at].name, name);
    }
    set(&copy->members[at].value, value);
}

static void read_changes(acp_connection *connection, struct copy *copy, acp_slice changes, text *why)
{
    static const char *const LISTS[] = {"/entries", "/terminals"};
    acp_slice list, reset;
    size_t count;
    json_at(changes, "/reset", &reset);
    while (copy->count > 0 && acp_equal(reset, acp_text("true"))) {
        forget(copy, 0);
    }
    for (size_t i = 0; i < 2; i++) {
        json_at(changes, LISTS[i], &list);
        acp_items *heads = json_items(list, &count);
        for (size_t at = 0; at < count; at++) {
            read_entry(connection, copy, item_value(heads, at), why);
        }
        acp_items_free(heads);
    }
    while (copy->count > 0 && copy->entries[0].index < json_number(changes, "/first")) {
        forget(copy, 0);
    }
    json_at(changes, "/removed", &list);
    acp_items *removed = json_items(list, &count);
    for (size_t i = 0; i < count; i++) {
        entry *gone = entry_of(copy, json_number(item_value(removed, i), ""));
        forget(copy, (size_t)(gone - copy->entries));
    }
    acp_items_free(removed);
    acp_items *members = json_items(changes, &count);
    for (size_t i = 0; i < count; i++) {
        if (!IS_ONE_OF(item_key(members, i), OF_CHANGES)) {
            read_member(copy, item_key(members, i), item_value(members, i));
        }
    }
    acp_items_free(members);
    copy->revision = json_number(changes, "/revision");
}

static void add_entries(text *out, const struct copy *copy, bool terminals)
{
    bool first = true;
    for (size_t i = 0; i < copy->count; i++) {
        const entry *entry = &copy->entries[i];
        if (entry->terminal != terminals) {
            continue;
        }
        text_add(out, acp_text(first ? "" : ","));
        first = false;
        text_add(out, acp_bytes(entry->head.data, entry->head.len - 1));
        if (entry->terminal) {
            acp_writer *writer;
            acp_slice members;
            need(acp_writer_new(&writer), "writer");
            need(acp_writer_begin_object(writer), "output");
            need(acp_writer_key(writer, acp_text("before")), "output");
            need(acp_writer_uint64(writer, entry->before), "output");
            need(acp_writer_key(writer, acp_text("output")), "output");
            need(acp_writer_string(writer, text_slice(&entry->items)), "output");
            need(acp_writer_end_object(writer), "output");
            need(acp_writer_finish(writer, &members), "output");
            text_add(out, acp_text(","));
            text_add(out, acp_bytes(members.data + 1, members.len - 2));
            acp_writer_free(writer);
        } else if (entry->name != NULL) {
            text_add(out, acp_text(",\""));
            text_add(out, acp_text(entry->name));
            text_add(out, acp_text("\":["));
            text_add(out, text_slice(&entry->items));
            text_add(out, text_slice(&entry->last));
            text_add(out, acp_text("]"));
        }
        text_add(out, acp_text("}"));
    }
}

static text whole_of(const struct copy *copy)
{
    text out = {0};
    text_add(&out, acp_text("{"));
    for (size_t i = 0; i < copy->members_count; i++) {
        text_add(&out, acp_text("\""));
        text_add(&out, text_slice(&copy->members[i].name));
        text_add(&out, acp_text("\":"));
        text_add(&out, text_slice(&copy->members[i].value));
        text_add(&out, acp_text(","));
    }
    text_add(&out, acp_text("\"entries\":["));
    add_entries(&out, copy, false);
    text_add(&out, acp_text("],\"terminals\":["));
    add_entries(&out, copy, true);
    text_add(&out, acp_text("]}"));
    return out;
}

// What a step sees beside the members of the view, as one object.
static void write_beside(acp_writer *out, acp_slice view, acp_slice changes)
{
    acp_slice value;
    size_t count;
    json_at(view, "/prompts", &value);
    bool busy = !acp_equal(value, acp_text("[]"));
    json_at(view, "/state", &value);
    busy = busy || !(acp_equal(value, acp_text("\"idle\"")) || acp_equal(value, acp_text("\"unknown\"")));
    need(acp_writer_begin_object(out), "beside");
    need(acp_writer_key(out, acp_text("busy")), "beside");
    need(acp_writer_bool(out, busy), "beside");
    need(acp_writer_key(out, acp_text("changed")), "beside");
    need(acp_writer_begin_array(out), "beside");
    json_at(changes, "/entries", &value);
    acp_items *heads = json_items(value, &count);
    for (size_t i = 0; i < count; i++) {
        need(acp_writer_uint64(out, json_number(item_value(heads, i), "/index")), "beside");
    }
    acp_items_free(heads);
    need(acp_writer_end_array(out), "beside");
    need(acp_writer_key(out, acp_text("members")), "beside");
    need(acp_writer_begin_array(out), "beside");
    acp_items *members = json_items(changes, &count);
    for (size_t i = 0; i < count; i++) {
        acp_slice name = item_key(members, i);
        if (!IS_ONE_OF(name, OF_CHANGES) && !acp_equal(name, acp_text("revision")) && !acp_equal(name, acp_text("epoch"))) {
            need(acp_writer_string(out, name), "beside");
        }
    }
    acp_items_free(members);
    need(acp_writer_end_array(out), "beside");
    static const char *const AS_THEY_ARE[] = {"/reset", "/removed"};
    for (size_t i = 0; i < 2; i++) {
        json_at(changes, AS_THEY_ARE[i], &value);
        need(acp_writer_key(out, acp_text(AS_THEY_ARE[i] + 1)), "beside");
        need(acp_writer_json(out, value), "beside");
    }
    need(acp_writer_end_object(out), "beside");
}

static void holds(acp_slice expected, acp_slice found, acp_slice beside, bool entry, text *why);

// Holds each item of a list against its own; false when it is no list of items that are held so.
static bool lists_hold(acp_slice name, acp_slice expected, acp_slice found, text *why)
{
    size_t count, other;
    if (!acp_equal(name, acp_text("entries")) && !acp_equal(name, acp_text("terminals"))) {
        return false;
    }
    acp_items *wanted = json_items(expected, &count), *there = json_items(found, &other);
    for (size_t i = 0; count == other && i < count; i++) {
        holds(item_value(wanted, i), item_value(there, i), acp_text("{}"), true, why);
    }
    acp_items_free(wanted);
    acp_items_free(there);
    return count == other;
}

static void holds(acp_slice expected, acp_slice found, acp_slice beside, bool entry, text *why)
{
    size_t count, other, more;
    acp_items *wanted = json_items(expected, &count), *there = json_items(found, &other);
    acp_items *also = json_items(beside, &more);
    for (size_t i = 0; i < count && why->len == 0; i++) {
        acp_slice name = item_key(wanted, i), value = item_value(wanted, i), actual = acp_text("");
        bool is = json_member(also, more, name, &actual) || json_member(there, other, name, &actual);
        if (IS_ONE_OF(name, COUNTED) || !is || (!(!entry && lists_hold(name, value, actual, why)) && !json_same(value, actual))) {
            text_add(why, name);
            text_add(why, acp_text("\n    expected "));
            text_add(why, value);
            text_add(why, acp_text("\n    found    "));
            text_add(why, actual);
        }
    }
    acp_items_free(wanted);
    acp_items_free(there);
    acp_items_free(also);
}

static void copy_free(struct copy *copy)
{
    while (copy->count > 0) {
        forget(copy, 0);
    }
    for (size_t i = 0; i < copy->members_count; i++) {
        text_free(&copy->members[i].name);
        text_free(&copy->members[i].value);
    }
    text_free(&copy->session);
    free(copy->entries);
    free(copy->members);
}

static struct copy *copy_of(copies *kept, acp_slice session)
{
    for (size_t i = 0; i < kept->count; i++) {
        if (acp_equal(text_slice(&kept->all[i].session), session)) {
            return &kept->all[i];
        }
    }
    kept->all = grown(kept->all, kept->count, sizeof *kept->all);
    text_add(&kept->all[kept->count].session, session);
    return &kept->all[kept->count++];
}

void copies_free(copies *kept)
{
    while (kept->count > 0) {
        copy_free(&kept->all[--kept->count]);
    }
    free(kept->all);
}

void look(acp_connection *connection, acp_slice step, copies *kept, text *why)
{
    acp_slice shows, changes, view;
    uint64_t revision;
    text session = json_text(step, "/view"), told = {0};
    if (!json_at(step, "/shows", &shows)) {
        die("what it shows is not stated", step);
    }
    struct copy *copy = copy_of(kept, text_slice(&session));
    acp_status status = acp_connection_view_since(connection, text_slice(&session), copy->revision, &changes);
    if (acp_connection_view_revision(connection, text_slice(&session), &revision) != status) {
        text_add(why, acp_text("a view has changes or a revision, and not both"));
    }
    if (status == ACP_NONE) {
        copy_free(copy);
        *copy = (struct copy){0};
        text_add(&copy->session, text_slice(&session));
    } else {
        need(status, "view_since");
        // The text stays for as long as nothing else is asked.
        text_add(&told, changes);
        read_changes(connection, copy, text_slice(&told), why);
    }
    if (acp_connection_view(connection, text_slice(&session), &view) != status) {
        text_add(why, acp_text("there are changes or a view, and not both"));
    } else if ((status == ACP_NONE) != acp_equal(shows, acp_text("null"))) {
        text_add(why, acp_text(status == ACP_NONE ? "there is no such view" : "there is such a view"));
    } else if (status == ACP_OK) {
        text read = whole_of(copy);
        if (revision != copy->revision || !json_same(text_slice(&read), view)) {
            text_add(why, acp_text("read bit by bit\n    "));
            text_add(why, text_slice(&read));
            text_add(why, acp_text("\n    it is\n    "));
            text_add(why, view);
        }
        acp_writer *beside;
        need(acp_writer_new(&beside), "writer");
        write_beside(beside, view, text_slice(&told));
        if (why->len == 0) {
            holds(shows, view, written(beside), false, why);
        }
        acp_writer_free(beside);
        text_free(&read);
    }
    text_free(&session);
    text_free(&told);
}
