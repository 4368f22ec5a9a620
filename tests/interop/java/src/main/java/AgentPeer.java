import com.agentclientprotocol.sdk.agent.transport.StdioAcpAgentTransport;
import com.agentclientprotocol.sdk.json.AcpJsonMapper;
import com.agentclientprotocol.sdk.spec.*;
import com.agentclientprotocol.sdk.spec.AcpSchema.*;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.*;
import reactor.core.publisher.Mono;

/** The agent of the script. */
final class AgentPeer {
  private AgentPeer() {}

  static void run(Map<String, String> options) throws Exception {
    Player player = new Player(Script.M.readTree(new File(options.get("script"))), "agent");
    // The SDK frees its place for the one prompt that may run only after the result has gone out,
    // and refuses a prompt that
    // comes in between: what the client sends is held back until then.
    var gate =
        new Object() {
          volatile boolean answered;
          volatile AcpAgentSession session;
        };
    InputStream input =
        new FilterInputStream(System.in) {
          @Override
          public int read(byte[] data, int from, int length) throws IOException {
            int count = super.read(data, from, length);
            while (gate.answered && gate.session.hasActivePrompt()) Thread.onSpinWait();
            return count;
          }
        };
    var transport =
        new StdioAcpAgentTransport(
            AcpJsonMapper.createDefault(), input, new FileOutputStream(FileDescriptor.out));
    Map<String, AcpAgentSession.RequestHandler<?>> requests = new HashMap<>();
    for (String method : List.of("initialize", "session/new", "session/prompt", "_libacp.dev/echo"))
      requests.put(
          method,
          params -> {
            gate.answered = false;
            return Sdk.serve(player, method, params).doOnNext(result -> gate.answered = true);
          });
    Map<String, AcpAgentSession.NotificationHandler> notifications =
        Map.of(
            "session/cancel",
            params -> {
              player.queue.add(
                  new Player.Item(
                      "notification",
                      "session/cancel",
                      Sdk.plain(Script.M.convertValue(params, CancelNotification.class)),
                      null,
                      null));
              return Mono.empty();
            });
    var session = new AcpAgentSession(Duration.ofSeconds(60), transport, requests, notifications);
    gate.session = session;
    player.request = (method, params) -> Sdk.request(session, method, params);
    player.tell =
        (method, params) ->
            session.sendNotification(method, Sdk.typed(params, SessionNotification.class));
    player.perform =
        (method, params, expected) -> {
          if (!method.equals("initialize")) return expected;
          ObjectNode result = expected.deepCopy();
          result
              .putObject("agentInfo")
              .put("name", "libacp-interop-java-agent")
              .put("version", "0.1.0");
          return result;
        };
    player.bind =
        (method, params) -> {
          if (method.equals("initialize"))
            player.requireName("clientInfo", params.get("clientInfo"));
          if (method.equals("session/new")) player.vars.put("cwd", params.get("cwd").asText());
          if (method.equals("session/prompt") && !player.vars.containsKey("work")) {
            for (JsonNode block : params.get("prompt")) {
              String uri = block.path("uri").asText();
              if (!uri.startsWith("file://") || !uri.endsWith("/notes.md")) continue;
              String path = uri.substring(7, uri.length() - 9);
              player.vars.put("work_uri", path);
              player.vars.put(
                  "work", URLDecoder.decode(path.replace("+", "%2B"), StandardCharsets.UTF_8));
            }
          }
        };
    player.run();
    transport.awaitTermination().block();
    player.expectEmpty();
  }
}
