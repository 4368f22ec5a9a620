#include "expected.h"

#include <stdio.h>

#define EXCERPT 256

static const char *const PAYLOADS[] = {"params", "result", "data"};

static bool is(acp_slice json, const char *word)
{
    bool same = false;
    acp_json_string_is(json, acp_text(""), acp_text(word), &same);
    return same;
}

static bool is_payload(acp_slice name)
{
    for (size_t i = 0; i < sizeof PAYLOADS / sizeof *PAYLOADS; i++) {
        if (acp_equal(name, acp_text(PAYLOADS[i]))) {
            return true;
        }
    }
    return false;
}

// The member of that name; false when there is none, or more than one.
static bool member(acp_slice object, acp_slice name, acp_slice *value)
{
    size_t count, found = 0;
    acp_items *items;
    if (acp_json_items(object, acp_text(""), &items) != ACP_OK) {
        return false;
    }
    if (acp_items_len(items, &count) != ACP_OK) {
        die("no length", object);
    }
    for (size_t i = 0; i < count; i++) {
        if (acp_equal(item_key(items, i), name)) {
            *value = item_value(items, i);
            found++;
        }
    }
    acp_items_free(items);
    return found == 1;
}

// The same for a name with something behind it.
static bool member_with(acp_slice object, acp_slice name, const char *end, acp_slice *value)
{
    text whole = {0};
    text_add(&whole, name);
    text_add(&whole, acp_text(end));
    bool there = member(object, text_slice(&whole), value);
    text_free(&whole);
    return there;
}

static bool in_list(acp_slice list, acp_slice name)
{
    size_t count;
    acp_items *items = json_items(list, &count);
    bool there = false;
    for (size_t i = 0; i < count && !there; i++) {
        if (acp_json_string_is(item_value(items, i), acp_text(""), name, &there) != ACP_OK) {
            die("not a name", list);
        }
    }
    acp_items_free(items);
    return there;
}

static bool complain(text *why, acp_slice name, const char *what)
{
    text_add(why, name);
    text_add(why, acp_text(what));
    return false;
}

static bool only(acp_slice value, acp_slice known, text *why)
{
    size_t count;
    int32_t type;
    if (acp_json_type(value, acp_text(""), &type) != ACP_OK || type != ACP_JSON_OBJECT) {
        return true;
    }
    acp_items *items = json_items(value, &count);
    bool right = true;
    for (size_t i = 0; right && i < count; i++) {
        right = in_list(known, item_key(items, i)) || complain(why, item_key(items, i), ": an unknown member");
    }
    acp_items_free(items);
    return right;
}

bool known_scenario(acp_slice format, acp_slice scenario, text *why)
{
    static const struct {
        const char *place, *known;
    } parts[] = {
        {"", "/scenario"},
        {"/config", "/config"},
        {"/config/policies", "/policies"},
        {"/config/limits", "/limits"},
    };
    acp_slice value, known;
    bool right = true;
    for (size_t i = 0; right && i < sizeof parts / sizeof *parts; i++) {
        right = !json_at(scenario, parts[i].place, &value) ||
                (json_at(format, parts[i].known, &known) && only(value, known, why));
    }
    return right;
}

bool known_step(acp_slice format, acp_slice step, text *why)
{
    size_t count, kinds = 0;
    acp_slice steps, beside, known, kind = acp_text(""), list = acp_text("[]");
    acp_items *items = json_items(step, &count);
    bool right = json_at(format, "/steps", &steps) && json_at(format, "/beside", &beside);
    for (size_t i = 0; i < count; i++) {
        if (member(steps, item_key(items, i), &known)) {
            kind = item_key(items, i);
            // The members of `can` are methods.
            right = right && (acp_equal(kind, acp_text("can")) || only(item_value(items, i), known, why));
            kinds++;
        }
    }
    member(beside, kind, &list);
    for (size_t i = 0; right && i < count; i++) {
        acp_slice name = item_key(items, i);
        right = acp_equal(name, kind) || in_list(list, name) || complain(why, name, ": unknown beside the step");
    }
    if (right && kinds != 1) {
        right = complain(why, acp_text(""), "a step of no known kind, or of two");
    }
    acp_items_free(items);
    return right;
}

bool same_misuse(acp_slice format, acp_slice expected, acp_slice found, text *why)
{
    acp_slice known;
    return json_at(format, "/misuse", &known) && only(expected, known, why) &&
           (json_same(expected, found) || complain(why, acp_text("misuse"), ": another than stated"));
}

static bool is_string(acp_slice json, acp_slice wanted)
{
    bool same = false;
    return acp_json_string_is(json, acp_text(""), wanted, &same) == ACP_OK && same;
}

// Whether a member that is not stated is what the frame has.
static bool as_in_frame(acp_slice name, acp_slice found, bool there, const frames *frames, uint64_t source)
{
    uint64_t number;
    acp_slice frame, error, value;
    if (acp_equal(name, acp_text("frame"))) {
        return there && acp_json_uint64(found, acp_text(""), &number) == ACP_OK && number == frames->count;
    }
    if (source == 0 || source > frames->count) {
        return false;
    }
    frame = text_slice(&frames->all[source - 1]);
    if (acp_equal(name, acp_text("excerpt"))) {
        if (frame.len > EXCERPT) {
            // The cut may not go through a character.
            frame.len = EXCERPT;
            while (frame.len > 0 && ((unsigned char)frame.data[frame.len] & 0xc0) == 0x80) {
                frame.len--;
            }
        }
        return there && is_string(found, frame);
    }
    if (acp_equal(name, acp_text("params"))) {
        size_t count;
        acp_slice none = acp_text("{}");
        if (acp_json_len(frame, acp_text(""), &count) != ACP_OK) {
            return false;
        }
        bool one = member(frame, name, &value), given = json_at(frame, "/params", &value);
        bool empty = !given || acp_equal(value, acp_text("null"));
        return there && one == given && is_string(found, empty ? none : value);
    }
    if (acp_equal(name, acp_text("result"))) {
        return there && member(frame, name, &value) && is_string(found, value);
    }
    bool given = member(frame, acp_text("error"), &error) && member(error, name, &value);
    if (acp_equal(name, acp_text("data"))) {
        return given ? there && is_string(found, value) : !there;
    }
    return given && there && json_same(found, value);
}

static bool same_member(acp_slice name, acp_slice rule, acp_slice expected, acp_slice event, const frames *frames)
{
    acp_slice wanted, wanted_text, found = acp_text("null");
    bool payload = is_payload(name), sentence = is(rule, "prose");
    bool there = payload ? member_with(event, name, "_text", &found) : member(event, name, &found);
    bool stated = member(expected, name, &wanted), as_text = member_with(expected, name, "_text", &wanted_text);
    if (sentence && (found.len < 3 || found.data[0] != '"')) {
        return false;
    }
    if (stated && as_text) {
        return false;
    }
    if (as_text) {
        return there && json_same(wanted_text, found);
    }
    if (stated && acp_equal(wanted, acp_text("null"))) {
        return !there || acp_equal(found, wanted);
    }
    if (stated && payload) {
        text value = {0};
        if (!there || found.data[0] != '"') {
            return false;
        }
        value = json_text(found, "");
        bool same = json_same(wanted, text_slice(&value));
        text_free(&value);
        return same;
    }
    if (stated) {
        return there && json_same(wanted, found);
    }
    if (is(rule, "frame")) {
        uint64_t source = frames->count;
        acp_json_uint64(expected, acp_text("/frame"), &source);
        return as_in_frame(name, found, there, frames, source);
    }
    if (sentence || is(rule, "stated")) {
        return sentence;
    }
    return acp_equal(rule, acp_text("null")) ? !there : there && json_same(rule, found);
}

// Whether the table of an event has each member of one side.
static bool known_members(acp_slice table, acp_slice event, bool expected, text *why)
{
    size_t count, rules;
    acp_items *items = json_items(event, &count), *names = json_items(table, &rules);
    bool right = true, framed = false;
    for (size_t i = 0; i < rules; i++) {
        framed = framed || is(item_value(names, i), "frame");
    }
    for (size_t i = 0; right && i < count; i++) {
        acp_slice rule, name = item_key(items, i), stem = name;
        right = acp_equal(name, acp_text("event")) || member(table, name, &rule);
        if (!right && expected && framed) {
            right = acp_equal(name, acp_text("frame"));
        }
        if (!right && name.len > 5) {
            stem.len -= 5;
            right = acp_equal(acp_bytes(name.data + stem.len, 5), acp_text("_text")) && is_payload(stem) &&
                    member(table, stem, &rule) && is(rule, "frame");
        }
        if (!right) {
            complain(why, name, ": an unknown member");
        }
    }
    acp_items_free(items);
    acp_items_free(names);
    return right;
}

// The table of an event of this kind.
static bool table_of(acp_slice format, acp_slice expected, acp_slice *table)
{
    static const char *const parts[] = {"event", "outcome", "consequence"};
    acp_slice part, events;
    text kind = {0};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (member(expected, acp_text(parts[i]), &part)) {
            text word = json_text(part, "");
            text_add(&kind, acp_text(i == 0 ? "" : "/"));
            text_add(&kind, text_slice(&word));
            text_free(&word);
        }
    }
    bool known = json_at(format, "/events", &events) && member(events, text_slice(&kind), table);
    text_free(&kind);
    return known;
}

static bool same_event(acp_slice format, acp_slice expected, acp_slice found, const frames *frames, text *why)
{
    acp_slice table, stated = acp_text("\"stated\"");
    size_t count;
    if (!table_of(format, expected, &table)) {
        return complain(why, expected, ": no such event, or its outcome or consequence is not stated");
    }
    if (!known_members(table, expected, true, why) || !known_members(table, found, false, why)) {
        return false;
    }
    acp_items *rules = json_items(table, &count);
    bool same = same_member(acp_text("event"), stated, expected, found, frames) || complain(why, acp_text("event"), " is another");
    for (size_t i = 0; same && i < count; i++) {
        acp_slice name = item_key(rules, i);
        same = same_member(name, item_value(rules, i), expected, found, frames) ||
               complain(why, name, " is another than expected, or must be stated");
    }
    acp_items_free(rules);
    return same;
}

// Another value than this one; nothing for the last member, one more than there is.
static acp_slice other_value(acp_slice name, acp_slice value, bool prose)
{
    if (prose && acp_equal(name, acp_text("message"))) {
        return acp_text("\"\"");
    }
    if (value.data[0] == '"') {
        return acp_text(name.len > 5 && name.data[name.len - 5] == '_' ? "\"[[987654]]\"" : "\"~\"");
    }
    return acp_text(value.data[0] == '[' ? "[\"~\"]" : "987654");
}

// Whether the event still fits with one of its members falsified, or with one more.
static bool fits_falsified(acp_slice format, acp_slice expected, acp_slice found, const frames *frames, size_t which)
{
    size_t count;
    text event = {0}, why = {0};
    acp_items *items = json_items(found, &count);
    acp_slice pointer;
    // Of these two, the message is a sentence; of a response, it is the peer's.
    bool prose = member(found, acp_text("pointer"), &pointer);
    text_add(&event, acp_text(which == count ? "{\"extra\":1" : "{"));
    for (size_t i = 0; i < count; i++) {
        acp_slice name = item_key(items, i), value = item_value(items, i);
        text_add(&event, acp_text(event.len > 1 ? ",\"" : "\""));
        text_add(&event, name);
        text_add(&event, acp_text("\":"));
        text_add(&event, i == which ? other_value(name, value, prose) : value);
    }
    text_add(&event, acp_text("}"));
    bool fits = same_event(format, expected, text_slice(&event), frames, &why);
    acp_items_free(items);
    text_free(&event);
    text_free(&why);
    return fits;
}

// Whether these two were seen before: most events come from the same few includes.
static bool seen_before(acp_slice expected, acp_slice found)
{
    static uint64_t table[1 << 14];
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < expected.len + found.len; i++) {
        hash = (hash ^ (unsigned char)(i < expected.len ? expected.data[i] : found.data[i - expected.len])) * 1099511628211u;
    }
    size_t at = hash >> 50;
    bool seen = table[at] == hash;
    table[at] = hash;
    return seen;
}

bool same_events(acp_slice format, acp_slice expected, acp_slice found, const frames *frames, text *why)
{
    size_t count, other, members;
    acp_items *wanted = json_items(expected, &count), *came = json_items(found, &other);
    bool same = count == other || complain(why, acp_text("another number of events"), "");
    for (size_t i = 0; same && i < count; i++) {
        acp_slice want = item_value(wanted, i), event = item_value(came, i);
        same = same_event(format, want, event, frames, why);
        if (!same || seen_before(want, event)) {
            continue;
        }
        acp_json_len(event, acp_text(""), &members);
        for (size_t which = 0; same && which <= members; which++) {
            if (fits_falsified(format, want, event, frames, which)) {
                char place[48];
                snprintf(place, sizeof place, "nobody notices another member %zu", which);
                same = complain(why, acp_text(place), "");
            }
        }
    }
    acp_items_free(wanted);
    acp_items_free(came);
    return same;
}
