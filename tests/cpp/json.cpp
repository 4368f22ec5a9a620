// Reading and writing JSON, and exceptions where there are any.

#include "check.hpp"

#include <cmath>

void reading()
{
    const acp::Json json(
        R"({"s":"a\"\u00e9","n":-5,"u":18446744073709551615,"d":0.5,"b":true,"z":null,"l":[1,"x"],"a/b":{}})");
    CHECK(json.type() == acp::JsonType::object && json.size() == 8 && json.type("/z") == acp::JsonType::null);
    CHECK(json.string("/s") == "a\"\xc3\xa9" && json.string("/l/1") == "x" && !json.string("/n") && !json.string("/q"));
    CHECK(json.is("/l/1", "x") && !json.is("/l/1", "y") && !json.is("/n", "-5") && !json.is("/q", ""));
    char room[4], little[3];
    CHECK(json.string("/s", room, sizeof room) == "a\"\xc3\xa9" && !json.string("/s", little, sizeof little));
    CHECK(json.int64("/n") == -5 && !json.int64("/u") && !json.int64("/d") && !json.uint64("/n"));
    CHECK(json.uint64("/u") == UINT64_MAX && json.number("/d") == 0.5 && json.boolean("/b") == true &&
          !json.boolean("/n"));
    CHECK(json.find("/l")->text() == R"([1,"x"])" && json.find("/a~1b")->text() == "{}" && !json.find("/l/2"));
    CHECK(json.find("/l")->find("/0")->int64() == 1);
    const acp::Items list = json.items("/l");
    CHECK(list.size() == 2 && list[0].key.empty() && list[1].value.text() == R"("x")" && list[2].value.text().empty());
    std::string keys;
    for (const acp::Item member : json.items()) {
        keys += member.key;
    }
    CHECK(keys == "snudbzla/b");
    CHECK(json.items("/n").empty() && json.items("/q").empty() && acp::Json().items().empty());
    CHECK(!acp::Json("{").find("/a") && !acp::Json().type() && acp::Json(R"("")").string() == "");
}

void writing()
{
    acp::Writer writer;
    writer.begin_object().member("text", std::string("a\"\n")).member("view", std::string_view("v")).member("c", "w");
    writer.member("int", -1)
        .member("long", UINT64_MAX)
        .member("double", 1.5)
        .member("float", 0.5f)
        .member("bool", false);
    writer.member("null", nullptr).member("json", acp::Json("[1, 2]")).key("list").begin_array();
    writer.value("x")
        .value(std::uint8_t{7})
        .value(std::int16_t{-7})
        .begin_object()
        .end_object()
        .end_array()
        .end_object();
    const acp::Result<std::string_view> written = writer.finish();
    CHECK(written && *written == R"({"text":"a\"\n","view":"v","c":"w","int":-1,"long":18446744073709551615,)"
                                 R"("double":1.5,"float":0.5,"bool":false,"null":null,"json":[1, 2],)"
                                 R"("list":["x",7,-7,{}]})");
    // The same again, and after a reset something else.
    CHECK(writer.finish() && writer.finish()->size() == written->size());
    writer.reset();
    CHECK(writer.value(true).finish() && *writer.finish() == "true");

    // ANCHOR: template
    acp::Writer params;
    params.form("{'sessionId':?,'modeId':?}", {std::string_view("s-1"), "ask"});
    CHECK(*params.finish() == R"({"sessionId":"s-1","modeId":"ask"})");
    // ANCHOR_END: template
    writer.reset();
    const std::string text = "it's \"?\"";
    CHECK(writer.form("{'a':?,'b':[?,?,?,?,?,\"?\"]}", {text, -1, 0.5, true, nullptr, acp::Json("[]")}).finish());
    CHECK(*writer.finish() == R"({"a":"it's \"?\"","b":[-1,0.5,true,null,[],"?"]})");
    writer.reset();
    CHECK(writer.form("[?]").finish().error().status == ACP_WRITER_MISUSE);

    // Pieces that do not fit together, and a piece that is refused, which must not just be missing.
    writer.reset();
    CHECK(writer.begin_object().finish().error().status == ACP_WRITER_MISUSE);
    writer.reset();
    CHECK(writer.begin_array().value("good").value("\xff").end_array().finish().error().status == ACP_INVALID_ARGUMENT);
    writer.reset();
    CHECK(writer.begin_array().value(std::nan("")).end_array().finish().error().status != ACP_OK);

    // Both reach a call; what a writer refused goes nowhere.
    acp::Connection client = with_session();
    writer.reset();
    CHECK(client.notify("_x/a", writer.begin_object().member("a", 1).end_object()));
    CHECK(take(client) == R"({"jsonrpc":"2.0","method":"_x/a","params":{"a":1}})"
                          "\n");
    writer.reset();
    const acp::Result<void> refused = client.notify("_x/a", writer.begin_object().member("a", "\xff").end_object());
    CHECK(!refused && refused.error().status == ACP_INVALID_ARGUMENT && client.transmit().empty());
    CHECK(client.notify("_x/a", acp::Json(R"({"b":2})")) && client.notify("_x/a", std::string("{}")));
    acp::Writer moved = std::move(writer);
    moved.reset();
    CHECK(moved.value(1).finish());
    CHECK(!writer.value(1).finish()); // NOLINT: it was moved from
}

void exceptions()
{
#if ACP_HAS_EXCEPTIONS
    acp::Connection client = with_session();
    CHECK(client.request("_x/a", "{}").value() > 0);
    client.notify("_x/a", "{}").value();
    take(client);
    bool thrown = false;
    try {
        client.request(ACP_METHOD_SESSION_NEW, R"({"cwd":"w","mcpServers":[]})").value();
    } catch (const acp::Exception &exception) {
        // The texts are its own.
        client = acp::Connection(acp::Role::client);
        thrown = true;
        CHECK(exception.status() == ACP_MISUSE && exception.kind() == acp::MisuseKind::params);
        CHECK(exception.pointer() == "/cwd" && std::string(exception.what()).find("/cwd: ") != std::string::npos);
        CHECK(std::string(exception.what()).substr(0, exception.rule().size()) == exception.rule());
    }
    CHECK(thrown);
    thrown = false;
    try {
        client.respond(1, "{}").value();
    } catch (const std::exception &exception) {
        thrown = exception.what()[0] != '\0';
    }
    CHECK(thrown);
    thrown = false;
    try {
        acp::Connection::open(acp::Config(acp::Role::client).draft("no such")).value();
    } catch (const acp::Exception &exception) {
        thrown = exception.status() == ACP_INVALID_ARGUMENT && exception.rule().empty();
    }
    CHECK(thrown);
    const acp::Connection opened = acp::Connection::open(acp::Config(acp::Role::agent)).value();
    CHECK(opened.role() == acp::Role::agent);
#endif
}
