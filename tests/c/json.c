// Reading and writing JSON.

#include "check.h"

#include <stdio.h>

static const char DOCUMENT[] =
    " {\"a/b\": [10, {\"~\": \"x\\u00e9\\ud83d\\ude42\"}], \"\": -9223372036854775808, \"big\": 18446744073709551615,"
    " \"half\": 0.5, \"huge\": 1e999, \"no\": null, \"yes\": true, \"empty\": {}, \"nul\": \"a\\u0000b\", \"s\": \"\"} ";

static acp_status number(const char *pointer, int64_t *out)
{
    return acp_json_int64(acp_text(DOCUMENT), acp_text(pointer), out);
}

static void look_ups(void)
{
    acp_slice json = acp_text(DOCUMENT), out = acp_text("untouched"), wrong = acp_text("\xff");
    int64_t whole = 7;
    uint64_t wide = 7;
    double real = 7;
    bool flag = false;
    size_t count = 7;
    STATUS(acp_json_find(json, acp_text("/a~1b/2"), &out), ACP_NONE);
    STATUS(acp_json_find(json, acp_text("a"), &out), ACP_NONE);
    STATUS(acp_json_find(wrong, acp_text(""), &out), ACP_INVALID_ARGUMENT);
    STATUS(acp_json_find(json, wrong, &out), ACP_INVALID_ARGUMENT);
    STATUS(acp_json_find(json, acp_text(""), NULL), ACP_INVALID_ARGUMENT);
    STATUS(acp_json_find(acp_text("{"), acp_text("/x"), &out), ACP_NONE);
    CHECK(is_text(out, "untouched"));
    OK(acp_json_find(json, acp_text("/a~1b/1"), &out));
    CHECK(out.data > DOCUMENT && out.data < DOCUMENT + sizeof DOCUMENT && out.data[0] == '{');
    OK(number("/", &whole));
    CHECK(whole == INT64_MIN);
    STATUS(number("/big", &whole), ACP_WRONG_TYPE);
    STATUS(number("/half", &whole), ACP_WRONG_TYPE);
    STATUS(number("/yes", &whole), ACP_WRONG_TYPE);
    STATUS(number("/none", &whole), ACP_NONE);
    CHECK(whole == INT64_MIN);
    OK(acp_json_uint64(json, acp_text("/big"), &wide));
    CHECK(wide == UINT64_MAX);
    STATUS(acp_json_uint64(json, acp_text("/"), &wide), ACP_WRONG_TYPE);
    OK(acp_json_double(json, acp_text("/half"), &real));
    CHECK(real > 0.49 && real < 0.51);
    STATUS(acp_json_double(json, acp_text("/huge"), &real), ACP_WRONG_TYPE);
    STATUS(acp_json_double(json, acp_text("/s"), &real), ACP_WRONG_TYPE);
    OK(acp_json_bool(json, acp_text("/yes"), &flag));
    CHECK(flag);
    STATUS(acp_json_bool(json, acp_text("/no"), &flag), ACP_WRONG_TYPE);
    OK(acp_json_len(json, acp_text(""), &count));
    CHECK(count == 10);
    OK(acp_json_len(json, acp_text("/empty"), &count));
    CHECK(count == 0);
    STATUS(acp_json_len(json, acp_text("/s"), &count), ACP_WRONG_TYPE);
}

static void types(void)
{
    static const struct {
        const char *pointer;
        int32_t type;
    } places[] = {
        {"", ACP_JSON_OBJECT},      {"/a~1b", ACP_JSON_ARRAY},    {"/a~1b/1/~0", ACP_JSON_STRING},
        {"/big", ACP_JSON_NUMBER},  {"/", ACP_JSON_NUMBER},       {"/no", ACP_JSON_NULL},
        {"/yes", ACP_JSON_BOOLEAN}, {"/empty", ACP_JSON_OBJECT},
    };
    for (size_t i = 0; i < COUNT(places); i++) {
        int32_t type = 0;
        OK(acp_json_type(acp_text(DOCUMENT), acp_text(places[i].pointer), &type));
        CHECK(type == places[i].type);
    }
}

static void strings(void)
{
    acp_slice json = acp_text(DOCUMENT), place = acp_text("/a~1b/1/~0");
    char buffer[8] = "-------";
    size_t len = 99;
    bool same = true;
    STATUS(acp_json_string(json, place, NULL, 0, &len), ACP_SHORT_BUFFER);
    CHECK(len == 7);
    STATUS(acp_json_string(json, place, buffer, 6, &len), ACP_SHORT_BUFFER);
    CHECK(len == 7 && strcmp(buffer, "-------") == 0);
    OK(acp_json_string(json, place, buffer, sizeof buffer, &len));
    CHECK(is_text(acp_bytes(buffer, len), "x\xc3\xa9\xf0\x9f\x99\x82") && buffer[7] == '\0');
    OK(acp_json_string(json, acp_text("/nul"), buffer, sizeof buffer, &len));
    CHECK(len == 3 && memcmp(buffer, "a\0b", 3) == 0);
    OK(acp_json_string(json, acp_text("/s"), NULL, 0, &len));
    CHECK(len == 0);
    len = 99;
    STATUS(acp_json_string(json, acp_text("/big"), buffer, sizeof buffer, &len), ACP_WRONG_TYPE);
    STATUS(acp_json_string(json, acp_text("/none"), buffer, sizeof buffer, &len), ACP_NONE);
    STATUS(acp_json_string(json, place, NULL, 1, &len), ACP_INVALID_ARGUMENT);
    STATUS(acp_json_string(json, place, buffer, sizeof buffer, NULL), ACP_INVALID_ARGUMENT);
    CHECK(len == 99);
    OK(acp_json_string_is(json, place, acp_text("x\xc3\xa9\xf0\x9f\x99\x82"), &same));
    CHECK(same);
    OK(acp_json_string_is(json, acp_text("/none"), acp_text(""), &same));
    CHECK(!same);
    OK(acp_json_string_is(json, acp_text("/big"), acp_text("18446744073709551615"), &same));
    CHECK(!same);
    STATUS(acp_json_string_is(json, place, acp_text("\xff"), &same), ACP_INVALID_ARGUMENT);
}

static void items(void)
{
    acp_items *list = NULL;
    acp_slice key = acp_text("untouched"), value = {NULL, 0};
    size_t count = 0;
    STATUS(acp_json_items(acp_text("7"), acp_text(""), &list), ACP_WRONG_TYPE);
    STATUS(acp_json_items(acp_text("{}"), acp_text("/a"), &list), ACP_NONE);
    STATUS(acp_json_items(acp_text("{}"), acp_text(""), NULL), ACP_INVALID_ARGUMENT);
    CHECK(list == NULL);
    OK(acp_json_items(acp_text("{\"l\": [1 , \"]\",[2]]}"), acp_text("/l"), &list));
    OK(acp_items_len(list, &count));
    OK(acp_items_value(list, 1, &value));
    CHECK(count == 3 && is_text(value, "\"]\""));
    STATUS(acp_items_key(list, 1, &key), ACP_NONE);
    STATUS(acp_items_value(list, 3, &value), ACP_INVALID_ARGUMENT);
    CHECK(is_text(key, "untouched"));
    acp_items_free(list);
    OK(acp_json_items(acp_text("{\"a\\n\": {} , \"b\":2}"), acp_text(""), &list));
    OK(acp_items_key(list, 0, &key));
    CHECK(is_text(key, "a\n"));
    OK(acp_items_value(list, 0, &value));
    CHECK(is_text(value, "{}"));
    acp_items_free(list);
}

static void writing(void)
{
    acp_writer *writer = NULL;
    acp_slice out = {NULL, 0};
    OK(acp_writer_new(&writer));
    OK(acp_writer_begin_object(writer));
    OK(acp_writer_key(writer, acp_text("k\"")));
    OK(acp_writer_begin_array(writer));
    OK(acp_writer_string(writer, acp_bytes("a\0\n\xc3\xa9", 5)));
    OK(acp_writer_int64(writer, INT64_MIN));
    OK(acp_writer_uint64(writer, UINT64_MAX));
    OK(acp_writer_double(writer, 0.5));
    OK(acp_writer_bool(writer, true));
    OK(acp_writer_null(writer));
    OK(acp_writer_json(writer, acp_text("{\"x\": 1}")));
    OK(acp_writer_end_array(writer));
    OK(acp_writer_end_object(writer));
    for (int again = 0; again < 2; again++) {
        OK(acp_writer_finish(writer, &out));
        CHECK(is_text(out, "{\"k\\\"\":[\"a\\u0000\\n\xc3\xa9\",-9223372036854775808,18446744073709551615,0.5,true,null,"
                           "{\"x\": 1}]}"));
    }
    STATUS(acp_writer_null(writer), ACP_WRITER_MISUSE);
    OK(acp_writer_reset(writer));
    OK(acp_writer_string(writer, acp_bytes(NULL, 0)));
    OK(acp_writer_finish(writer, &out));
    CHECK(is_text(out, "\"\""));
    acp_writer_free(writer);
}

static void wrong_pieces(void)
{
    // One letter a piece: { } [ ] begin and end, k a key, n null, j text that is no JSON, f not a number.
    static const char *const wrong[] = {"", "{", "{n}", "{k}", "{kk", "[k]", "nn", "}", "[}", "{]", "[n", "j", "f", "kn"};
    acp_writer *writer = NULL;
    acp_slice out = acp_text("untouched");
    double zero = 0;
    OK(acp_writer_new(&writer));
    for (size_t i = 0; i < COUNT(wrong); i++) {
        OK(acp_writer_reset(writer));
        for (const char *piece = wrong[i]; *piece != '\0'; piece++) {
            OK(*piece == '{'   ? acp_writer_begin_object(writer)
               : *piece == '}' ? acp_writer_end_object(writer)
               : *piece == '[' ? acp_writer_begin_array(writer)
               : *piece == ']' ? acp_writer_end_array(writer)
               : *piece == 'k' ? acp_writer_key(writer, acp_text("k"))
               : *piece == 'j' ? acp_writer_json(writer, acp_text("{"))
               : *piece == 'f' ? acp_writer_double(writer, zero / zero)
                               : acp_writer_null(writer));
        }
        STATUS(acp_writer_finish(writer, &out), ACP_WRITER_MISUSE);
        STATUS(acp_writer_null(writer), ACP_WRITER_MISUSE);
    }
    CHECK(is_text(out, "untouched"));
    OK(acp_writer_reset(writer));
    STATUS(acp_writer_string(writer, acp_text("\xff")), ACP_INVALID_ARGUMENT);
    STATUS(acp_writer_finish(writer, NULL), ACP_INVALID_ARGUMENT);
    OK(acp_writer_null(writer));
    OK(acp_writer_finish(writer, &out));
    CHECK(is_text(out, "null"));
    acp_writer_free(writer);
}

static void members_at_once(void)
{
    const acp_member members[] = {
        acp_member_of("text", acp_text_value("\"?'")),       acp_member_of("json", acp_json_value(acp_text("[1]"))),
        acp_member_of("whole", acp_int64_value(INT64_MIN)), acp_member_of("real", acp_double_value(0.5)),
        acp_member_of("yes", acp_bool_value(true)),         acp_member_of("null", acp_null_value()),
    };
    acp_member wrong[] = {acp_member_of("a", acp_null_value()), acp_member_of("b", acp_null_value())};
    acp_writer *writer = NULL;
    acp_slice out;
    OK(acp_writer_new(&writer));
    OK(acp_writer_begin_object(writer));
    OK(acp_writer_members(writer, NULL, 0));
    // One that cannot be written keeps all of them out.
    wrong[1].value.type = 99;
    STATUS(acp_writer_members(writer, wrong, 2), ACP_INVALID_ARGUMENT);
    wrong[1] = acp_member_of("b", acp_text_value("\xff"));
    STATUS(acp_writer_members(writer, wrong, 2), ACP_INVALID_ARGUMENT);
    OK(acp_writer_members(writer, members, COUNT(members)));
    OK(acp_writer_end_object(writer));
    OK(acp_writer_finish(writer, &out));
    CHECK(is_text(out, "{\"text\":\"\\\"?'\",\"json\":[1],\"whole\":-9223372036854775808,\"real\":0.5,\"yes\":true,"
                       "\"null\":null}"));
    acp_writer_free(writer);
}

static void templates(void)
{
    const acp_value values[] = {acp_text_value("s-1"), acp_text_value("it's \"?\""), acp_double_value(1e308 * 10)};
    acp_writer *writer = NULL;
    acp_slice out;
    OK(acp_writer_new(&writer));
    OK(acp_writer_begin_array(writer));
    // Too few values, too many, no JSON, no end of a string, what JSON does not have.
    STATUS(acp_writer_template(writer, acp_text("[?,?]"), values, 1), ACP_WRITER_MISUSE);
    STATUS(acp_writer_template(writer, acp_text("[?]"), values, 2), ACP_WRITER_MISUSE);
    STATUS(acp_writer_template(writer, acp_text("{?}"), values, 1), ACP_WRITER_MISUSE);
    STATUS(acp_writer_template(writer, acp_text(""), NULL, 0), ACP_WRITER_MISUSE);
    STATUS(acp_writer_template(writer, acp_text("['a]"), NULL, 0), ACP_WRITER_MISUSE);
    STATUS(acp_writer_template(writer, acp_text("[?]"), values + 2, 1), ACP_WRITER_MISUSE);
    OK(acp_writer_template(writer, acp_text("{'id':?,'of':{'text':?,'?':[\"?\\\"'\"]}}"), values, 2));
    OK(acp_writer_template(writer, acp_text("'quotes: \"'"), NULL, 0));
    OK(acp_writer_end_array(writer));
    OK(acp_writer_finish(writer, &out));
    CHECK(is_text(out, "[{\"id\":\"s-1\",\"of\":{\"text\":\"it's \\\"?\\\"\",\"?\":[\"?\\\"'\"]}},\"quotes: \\\"\"]"));
    acp_writer_free(writer);
}

static void texts_of_ones_own(void)
{
    const acp_slice json = acp_text("{\"a\":\"b\\u0000\\n\",\"n\":1}");
    acp_string copy = {NULL, 0};
    char printed[32];
    acp_string_free(&copy);
    OK(acp_json_string_copy(json, acp_text("/a"), &copy));
    CHECK(copy.len == 3 && memcmp(copy.data, "b\0\n", 4) == 0);
    CHECK(acp_string_slice(copy).len == 3);
    acp_string_free(&copy);
    CHECK(copy.data == NULL && copy.len == 0);
    acp_string_free(&copy);
    STATUS(acp_json_string_copy(json, acp_text("/b"), &copy), ACP_NONE);
    STATUS(acp_json_string_copy(json, acp_text("/n"), &copy), ACP_WRONG_TYPE);
    STATUS(acp_string_copy(acp_text("\xff"), &copy), ACP_INVALID_ARGUMENT);
    CHECK(copy.data == NULL);
    OK(acp_string_copy(acp_bytes(NULL, 0), &copy));
    CHECK(copy.data != NULL && copy.data[0] == '\0' && copy.len == 0);
    acp_string_free(&copy);
    OK(acp_string_copy(acp_text("text"), &copy));
    snprintf(printed, sizeof printed, "<" ACP_FORMAT "|" ACP_FORMAT ">", ACP_PRINT(acp_string_slice(copy)),
             ACP_PRINT(acp_bytes(NULL, 0)));
    CHECK(strcmp(printed, "<text|>") == 0);
    acp_string_free(&copy);
}

void test_json(void)
{
    static const test tests[] = {
        {"json: look-ups", look_ups}, {"json: types", types},     {"json: strings", strings},
        {"json: items", items},       {"json: writing", writing}, {"json: wrong pieces", wrong_pieces},
        {"json: members at once", members_at_once}, {"json: templates", templates},
        {"json: texts of one's own", texts_of_ones_own},
    };
    run_tests(tests, COUNT(tests));
}
