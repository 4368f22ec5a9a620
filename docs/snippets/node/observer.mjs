import { Observer } from "libacp";

const observer = new Observer();
observer.receive("client", '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}\n');
observer.receive("agent", '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}\nready!\n');
observer.receive("client", '{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"work","mcpServers":[]}}\n');
for (const { from, event } of observer.events()) {
  if (event.type === "violation") console.log(from, event.rule, event.pointer || "-");
}
