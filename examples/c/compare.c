// The comparison of what the script expects with what came.

#include "script.h"

#define SHOWN 160

static void differ(acp_slice at, const text *path, acp_slice expected, acp_slice found)
{
    acp_slice nothing = acp_text("nothing");
    found = found.data == NULL ? nothing : found;
    fail("%.*s%.*s: expected %.*s, got %.*s", (int)at.len, at.data, (int)path->len, path->len ? path->data : "",
         (int)(expected.len < SHOWN ? expected.len : SHOWN), expected.data,
         (int)(found.len < SHOWN ? found.len : SHOWN), found.data);
}

static bool same_scalar(acp_slice left, acp_slice right, int32_t type)
{
    if (type == ACP_JSON_STRING) {
        text value = json_text(right, "");
        bool same = false;
        need(acp_json_string_is(left, acp_text(""), text_slice(&value), &same), "string");
        text_free(&value);
        return same;
    }
    if (type == ACP_JSON_NUMBER) {
        int64_t a, b;
        double c = 0, d = 0;
        acp_status first = acp_json_int64(left, acp_text(""), &a), second = acp_json_int64(right, acp_text(""), &b);
        if (first == ACP_OK && second == ACP_OK) {
            return a == b;
        }
        need(acp_json_double(left, acp_text(""), &c), "number");
        need(acp_json_double(right, acp_text(""), &d), "number");
        return !(c < d) && !(c > d);
    }
    return acp_equal(left, right);
}

static acp_slice member(const acp_items *items, size_t len, acp_slice key)
{
    acp_slice nothing = {NULL, 0};
    for (size_t i = 0; i < len; i++) {
        if (acp_equal(item_key(items, i), key)) {
            return item_value(items, i);
        }
    }
    return nothing;
}

static void compare_at(acp_slice expected, acp_slice found, bool exact, acp_slice at, text *path)
{
    int32_t wanted = 0, type = ACP_JSON_NULL;
    size_t here = path->len, count = 0, other = 0;
    need(acp_json_type(expected, acp_text(""), &wanted), "type");
    if (found.data != NULL) {
        need(acp_json_type(found, acp_text(""), &type), "type");
    }
    if (!exact && type == ACP_JSON_NULL && (wanted == ACP_JSON_NULL || acp_equal(expected, acp_text("{}")))) {
        return;
    }
    if (found.data == NULL || type != wanted) {
        differ(at, path, expected, found);
    }
    if (type != ACP_JSON_ARRAY && type != ACP_JSON_OBJECT) {
        if (!same_scalar(expected, found, type)) {
            differ(at, path, expected, found);
        }
        return;
    }
    acp_items *ours = json_items(expected, &count), *theirs = json_items(found, &other);
    if (count != other && (exact || type == ACP_JSON_ARRAY)) {
        differ(at, path, expected, found);
    }
    for (size_t i = 0; i < count; i++) {
        if (type == ACP_JSON_ARRAY) {
            text_format(path, "/%zu", i);
            compare_at(item_value(ours, i), item_value(theirs, i), exact, at, path);
        } else {
            acp_slice key = item_key(ours, i);
            text_format(path, "/%.*s", (int)key.len, key.data);
            compare_at(item_value(ours, i), member(theirs, other, key), exact, at, path);
        }
        path->len = here;
    }
    acp_items_free(ours);
    acp_items_free(theirs);
}

void compare(acp_slice expected, acp_slice found, bool exact, acp_slice at)
{
    text path = {0};
    compare_at(expected, found, exact, at, &path);
    text_free(&path);
}
