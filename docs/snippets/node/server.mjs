// ANCHOR: server
import { WebSocketServer } from "ws";
import { Agent, webSocket } from "libacp/agent";

const agent = new Agent("server", "1.0");

agent.newSession((session) => {
  session.data = []; // what was said, which goes with the session
});

agent.prompt(async (turn) => {
  turn.session.data.push(turn.text);
  await turn.message(`${turn.session.data.length}: ${turn.text}`);
});

// The pages that may connect: any page that a user looks at could else talk to a server on their machine.
const PAGES = new Set((process.env.PAGES ?? "http://localhost:5173").split(" "));
const server = new WebSocketServer({
  host: "127.0.0.1",
  port: Number(process.env.PORT ?? 8000),
  maxPayload: 32 << 20,
  verifyClient: ({ origin }) => origin === undefined || PAGES.has(origin), // programs say no origin
});

server.on("connection", (socket) => {
  agent.serve(webSocket(socket)).catch(console.error);
  socket.isThere = true;
  socket.on("pong", () => (socket.isThere = true));
});

// A machine that has gone without a word answers no ping: its connection is cut, and its sessions end.
const round = setInterval(() => {
  for (const socket of server.clients) {
    if (!socket.isThere) socket.terminate();
    socket.isThere = false;
    socket.ping();
  }
}, Number(process.env.ROUND ?? 30_000));
server.on("close", () => clearInterval(round));
// ANCHOR_END: server
server.on("listening", () => console.log(server.address().port));
