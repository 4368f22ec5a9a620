"""An agent that tries what it should not, and says how it went: a file outside the session's folder, by its path and by
a link, a folder or a pipe in place of a file, settings of version control, a method that no client has, and a message that would steer the user's terminal.
Before a session it wants a login. With `--silent` it reads and never says a word."""

import json
import sys

if "--silent" in sys.argv:
    sys.stdin.read()
    sys.exit(0)


def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)


def receive():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def ask(number, method, **params):
    send(id=number, method=method, params=params)
    while True:
        message = receive()
        if message.get("id") == number and "method" not in message:
            return message.get("error", {}).get("code", "done")


def say(session, text):
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    send(method="session/update", params={"sessionId": session, "update": update})


def show(session, text):
    content = {"type": "content", "content": {"type": "text", "text": text}}
    update = {"sessionUpdate": "tool_call", "toolCallId": "call", "title": "Look", "content": [content]}
    send(method="session/update", params={"sessionId": session, "update": update})


def turn(session, cwd, request):
    tries = [
        ("fs/read_text_file", {"path": cwd + "/inside"}),
        ("fs/read_text_file", {"path": cwd + "/../outside"}),
        ("fs/read_text_file", {"path": cwd + "/link"}),
        ("fs/read_text_file", {"path": cwd}),
        ("fs/read_text_file", {"path": cwd + "/folder"}),
        ("fs/read_text_file", {"path": cwd + "/missing"}),
        ("fs/read_text_file", {"path": cwd + "/bytes"}),
        ("fs/read_text_file", {"path": cwd + "/pipe"}),
        ("fs/write_text_file", {"path": cwd + "/../outside", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/link", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/broken", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/folder", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/none/../way/file", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/none/../way/a/b", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/pipe", "content": "x"}),
        ("fs/write_text_file", {"path": cwd + "/.git/config", "content": "x"}),
        ("_test.dev/odd", {}),
    ]
    for number, (method, params) in enumerate(tries):
        code = ask(f"try-{number}", method, sessionId=session, **params)
        say(session, f"{method} {params.get('path', '')[len(cwd):]}: {code}\n")
    show(session, "one\n\nthree")
    say(session, "\x1b[2J\x07\x7f\u0085cleared?\n")
    send(id=request, result={"stopReason": "end_turn"})


def main():
    cwd, logged_in = "", "--no-login" in sys.argv
    while True:
        message = receive()
        method, params = message.get("method"), message.get("params")
        if method == "initialize":
            logins = [{"id": "key", "name": "A key"}, {"id": "web", "name": "A page"}]
            send(id=message["id"], result={"protocolVersion": 1, "authMethods": logins})
        elif method == "authenticate":
            logged_in = params["methodId"] == "web"
            send(id=message["id"], result={})
        elif method == "session/new" and not logged_in:
            send(id=message["id"], error={"code": -32000, "message": "log in first"})
        elif method == "session/new":
            cwd = params["cwd"]
            send(id=message["id"], result={"sessionId": "s"})
        elif method == "session/prompt":
            turn(params["sessionId"], cwd, message["id"])


main()
