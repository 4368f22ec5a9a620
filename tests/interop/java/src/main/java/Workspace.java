import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.CompletableFuture;

/** What the client really does for the agent. */
class Workspace {
  record Terminal(Process process, CompletableFuture<byte[]> output, int limit) {}

  final Map<String, Terminal> terminals = new HashMap<>();
  int started;

  JsonNode perform(String method, JsonNode params) throws Exception {
    ObjectNode result = Script.M.createObjectNode();
    switch (method) {
      case "fs/read_text_file" -> {
        String[] lines = Files.readString(Path.of(params.get("path").asText())).split("(?<=\n)");
        int from = params.path("line").asInt(1) - 1;
        int to = Math.min(lines.length, from + params.path("limit").asInt(lines.length));
        return result.put("content", String.join("", Arrays.asList(lines).subList(from, to)));
      }
      case "fs/write_text_file" -> {
        Files.writeString(Path.of(params.get("path").asText()), params.get("content").asText());
        return result;
      }
      case "session/request_permission" -> {
        ObjectNode outcome = result.putObject("outcome");
        for (JsonNode option : params.get("options"))
          if (option.get("kind").asText().equals("allow_once"))
            outcome.put("outcome", "selected").set("optionId", option.get("optionId"));
        return result;
      }
      case "terminal/create" -> {
        List<String> argv = new ArrayList<>(List.of(params.get("command").asText()));
        params.path("args").forEach(arg -> argv.add(arg.asText()));
        // The JVM encodes arguments in the platform's charset: only ASCII ones may be given here.
        ProcessBuilder builder = new ProcessBuilder(argv).redirectErrorStream(true);
        params
            .path("env")
            .forEach(
                one ->
                    builder.environment().put(one.get("name").asText(), one.get("value").asText()));
        if (params.hasNonNull("cwd")) builder.directory(new File(params.get("cwd").asText()));
        Process process = builder.start();
        process.getOutputStream().close();
        var output =
            CompletableFuture.supplyAsync(
                () -> {
                  try {
                    return process.getInputStream().readAllBytes();
                  } catch (IOException e) {
                    return new byte[0];
                  }
                });
        String id = "term-" + ++started;
        terminals.put(
            id, new Terminal(process, output, params.path("outputByteLimit").asInt(1 << 30)));
        return result.put("terminalId", id);
      }
      case "terminal/wait_for_exit" -> {
        return result.put(
            "exitCode", terminals.get(params.get("terminalId").asText()).process.waitFor());
      }
      case "terminal/output" -> {
        Terminal terminal = terminals.get(params.get("terminalId").asText());
        byte[] all = terminal.output.get();
        int from = Math.max(0, all.length - terminal.limit);
        result
            .put("output", new String(all, from, all.length - from, StandardCharsets.UTF_8))
            .put("truncated", from > 0);
        result.putObject("exitStatus").put("exitCode", terminal.process.exitValue());
        return result;
      }
      case "terminal/release" -> {
        terminals.remove(params.get("terminalId").asText()).process.destroy();
        return result;
      }
      default -> {
        return params;
      }
    }
  }
}
