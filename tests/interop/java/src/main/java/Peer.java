// Both roles of ../script.json on the Java SDK: `java Peer client|agent --script ...`.
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class Peer {
  public static void main(String[] args) throws Exception {
    Map<String, String> options = new HashMap<>();
    int i = 1;
    for (; i + 1 < args.length && !args[i].equals("--"); i += 2)
      options.put(args[i].substring(2), args[i + 1]);
    List<String> argv =
        i < args.length ? Arrays.asList(args).subList(i + 1, args.length) : List.of();
    try {
      if (args[0].equals("agent")) {
        AgentPeer.run(options);
        Runtime.getRuntime().halt(0);
      }
      PrintStream out =
          new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
      out.println(ClientPeer.run(options, argv));
      Runtime.getRuntime().halt(0);
    } catch (Throwable error) {
      if (args[0].equals("agent")) System.err.println("java agent: " + error);
      else
        System.out.println(
            Script.M.createObjectNode()
                .put("ok", false)
                .put(
                    "error",
                    String.valueOf(error.getMessage() == null ? error : error.getMessage())));
      System.out.flush();
      Runtime.getRuntime().halt(1);
    }
  }
}
