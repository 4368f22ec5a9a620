// libacp for C++17: the remote transports, Streamable HTTP and WebSocket, as state machines without I/O.
//
//     auto client = acp::HttpClient::open("{}", seed);
//     client->send(message);
//     while (auto action = client->poll_action()) {
//         action->match([](const acp::http_client::Request &request) { ... }, [](const auto &) {});
//     }
//
// Not part of acp.hpp, as most programs speak over pipes. This file has what both sides share; `acp_http_client.hpp` and
// `acp_http_server.hpp`, which it includes, have the sides. `acp/curl.hpp` drives a client with libcurl.

#ifndef ACP_HTTP_HPP
#define ACP_HTTP_HPP

#include "acp_http_client.hpp"
#include "acp_http_server.hpp"

#endif // ACP_HTTP_HPP
