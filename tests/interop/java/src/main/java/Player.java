import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import java.nio.charset.StandardCharsets;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.*;
import reactor.core.publisher.Mono;

/** Plays one role of the script: sends its steps, waits for the other role's and compares them. */
class Player {
  record Item(
      String kind, String name, JsonNode value, Throwable error, Consumer<JsonNode> reply) {}

  record Open(String at, Item item, JsonNode request) {}

  interface Performer {
    JsonNode perform(String method, JsonNode params, JsonNode expected) throws Exception;
  }

  final JsonNode script;
  final String role;
  final Map<String, String> vars = new HashMap<>();
  final Checksum messages = new Checksum();
  final BlockingQueue<Item> queue = new LinkedBlockingQueue<>();
  final Map<String, Open> open = new HashMap<>();
  volatile String at = "start";
  long updates;
  BiFunction<String, JsonNode, Mono<JsonNode>> request;
  BiFunction<String, JsonNode, Mono<Void>> tell;
  Performer perform;
  BiConsumer<String, JsonNode> bind = (method, params) -> {};

  Player(JsonNode script, String role) {
    this.script = script;
    this.role = role;
  }

  Mono<JsonNode> receive(String method, JsonNode params) {
    return Mono.create(sink -> queue.add(new Item("request", method, params, null, sink::success)));
  }

  void run() throws Exception {
    play(script.get("steps"), "/steps");
    at = "end";
    expectEmpty();
    check(
        script.get("totals"),
        messages.put(
            Script.M.createObjectNode().put("updates", updates), "messageBytes", "messageFnv1a32"),
        "");
  }

  void expectEmpty() {
    for (Item item : queue) throw new Wrong(at + ": unexpected " + item.kind + " " + item.name);
  }

  Item take(String kind, String name) throws InterruptedException {
    Item item = queue.take();
    if (item.kind.equals(kind) && item.name.equals(name)) return item;
    throw new Wrong(
        at + ": expected " + kind + " " + name + ", got " + item.kind + " " + item.name);
  }

  void check(JsonNode expected, JsonNode actual, String name) {
    String found = Script.difference(expected, actual, "", name.startsWith("_"));
    if (found != null) throw new Wrong(at + found);
  }

  void play(JsonNode steps, String path) throws Exception {
    if (steps == null) return;
    for (int i = 0; i < steps.size(); i++) {
      JsonNode step = steps.get(i);
      at = path + "/" + i;
      if (step.has("chunks")) chunks(step);
      else if (step.has("notify"))
        notify(step.get("by").asText(), step.get("notify").asText(), step.get("params"));
      else if (step.has("answer")) answer(step);
      else ask(step, at);
    }
  }

  void chunks(JsonNode step) throws Exception {
    Checksum sum = new Checksum();
    int count = 0;
    for (JsonNode rule : step.get("chunks"))
      for (String text : Script.expand(rule)) {
        ObjectNode params = Script.M.createObjectNode();
        params.set("sessionId", script.at("/steps/1/result/sessionId"));
        ObjectNode update = params.putObject("update").put("sessionUpdate", "agent_message_chunk");
        update.putObject("content").put("type", "text").put("text", text);
        byte[] got =
            notify(step.get("by").asText(), "session/update", params)
                .at("/update/content/text")
                .asText()
                .getBytes(StandardCharsets.UTF_8);
        sum.add(got);
        messages.add(got);
        count++;
      }
    ObjectNode expected = ((ObjectNode) step.deepCopy()).retain("count", "bytes", "fnv1a32");
    check(
        expected, sum.put(Script.M.createObjectNode().put("count", count), "bytes", "fnv1a32"), "");
  }

  JsonNode notify(String by, String method, JsonNode template) throws Exception {
    if (method.equals("session/update")) updates++;
    JsonNode params = Script.fill(template, vars);
    if (by.equals(role)) {
      tell.apply(method, params).block();
      return params;
    }
    Item item = take("notification", method);
    check(params, item.value, method);
    return item.value;
  }

  void answer(JsonNode step) throws Exception {
    Open was = open.get(step.get("answer").asText());
    if (step.get("by").asText().equals(role)) was.item.reply.accept(was.request.get("result"));
    else result(was.request, was.at);
  }

  void ask(JsonNode step, String at) throws Exception {
    String method = step.get("request").asText();
    if (step.get("by").asText().equals(role)) {
      request
          .apply(method, Script.fill(step.get("params"), vars))
          .subscribe(
              value -> queue.add(new Item("result", at, value, null, null)),
              error -> queue.add(new Item("result", at, null, error, null)));
      if (step.has("open")) {
        open.put(step.get("open").asText(), new Open(at, null, step));
        return;
      }
      play(step.get("during"), at + "/during");
      this.at = at;
      result(step, at);
      return;
    }
    Item item = take("request", method);
    bind.accept(method, item.value);
    check(Script.fill(step.get("params"), vars), item.value, method);
    if (step.has("open")) {
      open.put(step.get("open").asText(), new Open(at, item, step));
      return;
    }
    play(step.get("during"), at + "/during");
    this.at = at;
    JsonNode result = perform.perform(method, item.value, step.get("result"));
    check(step.get("result"), result, method);
    item.reply.accept(result);
  }

  void result(JsonNode step, String at) throws Exception {
    Item item = take("result", at);
    if (item.error != null)
      throw new Wrong(at + ": " + step.get("request").asText() + " failed: " + item.error);
    if (step.get("request").asText().equals("initialize"))
      requireName("agentInfo", item.value.get("agentInfo"));
    check(step.get("result"), item.value, step.get("request").asText());
  }

  void requireName(String member, JsonNode info) {
    if (info == null
        || info.path("name").asText().isEmpty()
        || info.path("version").asText().isEmpty())
      throw new Wrong(at + ": " + member + " lacks a name or a version");
  }
}
