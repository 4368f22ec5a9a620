import com.agentclientprotocol.sdk.agent.transport.StdioAcpAgentTransport;
import com.agentclientprotocol.sdk.json.TypeRef;
import com.agentclientprotocol.sdk.spec.*;
import com.agentclientprotocol.sdk.spec.AcpSchema.JSONRPCMessage;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * The SDK's own client transport ends the agent with SIGTERM and reads in the platform's charset;
 * this one gives its agent transport, which takes streams, to the client.
 */
record Streams(StdioAcpAgentTransport over) implements AcpClientTransport {
  public Mono<Void> connect(Function<Mono<JSONRPCMessage>, Mono<JSONRPCMessage>> handler) {
    return over.start(handler);
  }

  public Mono<Void> closeGracefully() {
    return over.closeGracefully();
  }

  public Mono<Void> sendMessage(JSONRPCMessage message) {
    return over.sendMessage(message);
  }

  public <T> T unmarshalFrom(Object data, TypeRef<T> type) {
    return over.unmarshalFrom(data, type);
  }
}
