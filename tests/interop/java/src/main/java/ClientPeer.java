import com.agentclientprotocol.sdk.agent.transport.StdioAcpAgentTransport;
import com.agentclientprotocol.sdk.json.AcpJsonMapper;
import com.agentclientprotocol.sdk.spec.*;
import com.agentclientprotocol.sdk.spec.AcpSchema.*;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.function.*;
import reactor.core.publisher.Mono;

/** The client of the script. */
final class ClientPeer {
  private ClientPeer() {}

  static ObjectNode run(Map<String, String> options, List<String> argv) throws Exception {
    JsonNode script = Script.M.readTree(new File(options.get("script")));
    Path work = Path.of(options.get("work"));
    for (var files = script.get("files").fields(); files.hasNext(); ) {
      var file = files.next();
      Files.writeString(
          work.resolve(file.getKey()), String.join("", Script.expand(file.getValue())));
    }
    Writer trace =
        options.containsKey("trace")
            ? Files.newBufferedWriter(Path.of(options.get("trace")))
            : null;
    long start = System.nanoTime();
    Function<String, Consumer<byte[]>> record =
        direction ->
            line -> {
              if (trace == null) return;
              synchronized (trace) {
                try {
                  double ms = (System.nanoTime() - start) / 1000 / 1000.0;
                  trace.write(
                      Script.M.createObjectNode()
                              .put("d", direction)
                              .put("ms", ms)
                              .put("s", new String(line, StandardCharsets.UTF_8))
                          + "\n");
                  trace.flush();
                } catch (IOException error) {
                  throw new UncheckedIOException(error);
                }
              }
            };
    Process child = new ProcessBuilder(argv).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    Tap sent = new Tap(child.getOutputStream(), record.apply(">"));
    Tap received = new Tap(OutputStream.nullOutputStream(), record.apply("<"));
    InputStream input =
        new FilterInputStream(child.getInputStream()) {
          @Override
          public int read(byte[] data, int from, int length) throws IOException {
            int count = super.read(data, from, length);
            if (count > 0) received.count(data, from, count);
            return count;
          }
        };
    Player player = new Player(script, "client");
    player.vars.putAll(
        Map.of(
            "cwd",
            options.getOrDefault("cwd", System.getProperty("user.dir")),
            "work",
            work.toString(),
            "work_uri",
            Script.pathToUri(work.toString())));
    Workspace workspace = new Workspace();
    var transport = new StdioAcpAgentTransport(AcpJsonMapper.createDefault(), input, sent);
    Map<String, AcpClientSession.RequestHandler<?>> requests = new HashMap<>();
    for (String method :
        List.of(
            "session/request_permission",
            "fs/read_text_file",
            "fs/write_text_file",
            "terminal/create",
            "terminal/wait_for_exit",
            "terminal/output",
            "terminal/release",
            "_libacp.dev/echo")) requests.put(method, params -> Sdk.serve(player, method, params));
    Map<String, AcpClientSession.NotificationHandler> notifications =
        Map.of(
            "session/update",
            params -> {
              player.queue.add(
                  new Player.Item(
                      "notification",
                      "session/update",
                      Sdk.plain(Script.M.convertValue(params, SessionNotification.class)),
                      null,
                      null));
              return Mono.empty();
            });
    var session =
        new AcpClientSession(
            Duration.ofSeconds(60),
            new Streams(transport),
            requests,
            notifications,
            Function.identity());
    player.request =
        (method, params) -> {
          if (method.equals("initialize"))
            ((ObjectNode) params)
                .putObject("clientInfo")
                .put("name", "libacp-interop-java-client")
                .put("version", "0.1.0");
          return Sdk.request(session, method, params);
        };
    player.tell =
        (method, params) ->
            session.sendNotification(method, Sdk.typed(params, CancelNotification.class));
    player.perform = (method, params, expected) -> workspace.perform(method, params);
    Thread late =
        new Thread(
            () -> {
              try {
                Thread.sleep(script.get("deadlineMs").asLong());
              } catch (InterruptedException e) {
                return;
              }
              System.out.println(
                  Script.M.createObjectNode()
                      .put("ok", false)
                      .put("error", player.at + ": no answer in time"));
              child.destroyForcibly();
              Runtime.getRuntime().halt(1);
            });
    late.setDaemon(true);
    late.start();
    try {
      player.run();
      child.getOutputStream().close();
      transport.awaitTermination().block();
      int status = child.waitFor();
      if (status != 0) throw new Wrong("the agent ended with " + status);
      player.expectEmpty();
      if (!workspace.terminals.isEmpty()) throw new Wrong("a terminal was not released");
      for (var files = script.get("written").fields(); files.hasNext(); ) {
        var file = files.next();
        Checksum sum = new Checksum();
        sum.add(Files.readAllBytes(work.resolve(file.getKey())));
        String found =
            Script.difference(
                file.getValue(),
                sum.put(Script.M.createObjectNode(), "bytes", "fnv1a32"),
                file.getKey(),
                false);
        if (found != null) throw new Wrong(found);
      }
      String found =
          Script.difference(
              script.get("lines"),
              Script.M.createObjectNode()
                  .put("fromClient", sent.lines)
                  .put("fromAgent", received.lines),
              "lines",
              false);
      if (found != null) throw new Wrong(found);
    } finally {
      child.destroyForcibly();
    }
    return Script.M.createObjectNode()
        .put("ok", true)
        .put("messages_sent", sent.lines)
        .put("messages_received", received.lines)
        .put("bytes_sent", sent.bytes)
        .put("bytes_received", received.bytes)
        .put("updates", player.updates);
  }
}
