import com.agentclientprotocol.sdk.json.TypeRef;
import com.agentclientprotocol.sdk.spec.*;
import com.agentclientprotocol.sdk.spec.AcpSchema.*;
import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import reactor.core.publisher.Mono;

/** The SDK: each method with its types. */
final class Sdk {
  private Sdk() {}

  record Types(Class<?> params, TypeRef<?> result) {}

  static final Map<String, Types> TYPES =
      Map.ofEntries(
          Map.entry(
              "initialize",
              new Types(InitializeRequest.class, new TypeRef<InitializeResponse>() {})),
          Map.entry(
              "session/new",
              new Types(NewSessionRequest.class, new TypeRef<NewSessionResponse>() {})),
          Map.entry(
              "session/prompt", new Types(PromptRequest.class, new TypeRef<PromptResponse>() {})),
          Map.entry(
              "session/request_permission",
              new Types(
                  RequestPermissionRequest.class, new TypeRef<RequestPermissionResponse>() {})),
          Map.entry(
              "fs/read_text_file",
              new Types(ReadTextFileRequest.class, new TypeRef<ReadTextFileResponse>() {})),
          Map.entry(
              "fs/write_text_file",
              new Types(WriteTextFileRequest.class, new TypeRef<WriteTextFileResponse>() {})),
          Map.entry(
              "terminal/create",
              new Types(CreateTerminalRequest.class, new TypeRef<CreateTerminalResponse>() {})),
          Map.entry(
              "terminal/wait_for_exit",
              new Types(
                  WaitForTerminalExitRequest.class, new TypeRef<WaitForTerminalExitResponse>() {})),
          Map.entry(
              "terminal/output",
              new Types(TerminalOutputRequest.class, new TypeRef<TerminalOutputResponse>() {})),
          Map.entry(
              "terminal/release",
              new Types(ReleaseTerminalRequest.class, new TypeRef<ReleaseTerminalResponse>() {})),
          Map.entry("_libacp.dev/echo", new Types(Object.class, new TypeRef<Object>() {})));

  static Object typed(JsonNode value, Class<?> type) {
    return Script.M.convertValue(value, type);
  }

  static JsonNode plain(Object typed) {
    return Script.M.valueToTree(typed);
  }

  /** What the SDK makes of a request: its type, the player's answer, the type of the result. */
  static Mono<Object> serve(Player player, String method, Object params) {
    Types types = TYPES.get(method);
    JsonNode value = plain(Script.M.convertValue(params, types.params));
    return player
        .receive(method, value)
        .map(
            result ->
                Script.M.convertValue(result, Script.M.constructType(types.result.getType())));
  }

  static Mono<JsonNode> request(AcpSession session, String method, JsonNode params) {
    Types types = TYPES.get(method);
    return session.sendRequest(method, typed(params, types.params), types.result).map(Sdk::plain);
  }
}
