/** The remote transports on `node:http` and `node:http2`. WebSockets need the package `ws`. */
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Http2SecureServer, Http2Server, Http2ServerRequest, Http2ServerResponse, ClientSessionOptions, SecureClientSessionOptions } from "node:http2";
import type { Server as SecureServer } from "node:https";
import type { Duplex } from "node:stream";
import type { ServeOptions, Serves, Service } from "./http.js";

/** Settings under Node. */
export interface NodeOptions extends ServeOptions {
  /** The class of the package `ws`, if it is not to be imported by that name. */
  WebSocketServer?: (new (options: any) => any) | undefined;
}

/** Handles requests, and with `upgrade` WebSockets, of a server of Node's. */
export interface NodeHandler {
  (request: IncomingMessage | Http2ServerRequest, response: ServerResponse | Http2ServerResponse): void;
  /** For the event `upgrade`. Without the package `ws`, it answers 501. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** The service behind the handler. */
  readonly service: Service;
  /** Ends all connections, and waits for their agents. */
  close(options?: { grace?: number | undefined }): Promise<void>;
}

/** Makes a handler for `createServer` of `node:http`, `node:https` and `node:http2`, and for frameworks on top of them. */
export function nodeHandler(agent: Serves | Service, options?: NodeOptions): NodeHandler;

/** A server that listens. */
export interface Listening {
  /** The server of `node:http`. */
  readonly server: Server | SecureServer | Http2Server | Http2SecureServer;
  /** The service behind it. */
  readonly service: Service;
  /** Its address, such as `http://127.0.0.1:7332/acp`. */
  readonly url: string;
  /** Ends all connections and stops listening. */
  close(options?: { grace?: number | undefined }): Promise<void>;
}

/** Serves an agent on a port of this machine, and no other machine unless `host` says so. */
export function listen(
  agent: Serves | Service,
  options?: NodeOptions & {
    /** The port; any that is free by default. */
    port?: number | undefined;
    /** The address to listen at (`127.0.0.1`). */
    host?: string | undefined;
    /** In place of a new server of `node:http`. */
    server?: Server | SecureServer | Http2Server | Http2SecureServer | undefined;
  },
): Promise<Listening>;

/** A `fetch` over HTTP/2, for `connect`; its options are those of `connect` of `node:http2`. Close it at the end. */
export function http2Fetch(options?: ClientSessionOptions | SecureClientSessionOptions): {
  (url: string, init?: any): Promise<Pick<Response, "status" | "headers" | "body">>;
  close(): void;
};
