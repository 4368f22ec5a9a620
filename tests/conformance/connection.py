"""Requirements about initialize, JSON-RPC and logging in."""

from typing import Any, Optional

from kit import AUTH_REQUIRED, QUIET, SHUTDOWN, Kit, NotOffered, Recorded, requirement
from process import Failed, brief, is_response, succeeded

UNKNOWN_VERSION = 65535


def version_of(result: Any) -> int:
    version = result.get("protocolVersion")
    if type(version) is not int:
        raise Failed(f"protocolVersion is {brief(version)}")
    return version


@requirement("INIT-001", "M", "initialize succeeds, is valid, and has an integer protocolVersion")
def initialize(kit: Kit) -> None:
    result = kit.told()
    version_of(result)
    kit.valid("initialize", result)


@requirement("INIT-002", "M", "version 1 is answered with version 1")
def version_1(kit: Kit) -> None:
    version = version_of(kit.told())
    if version != 1:
        raise Failed(f"version 1 was answered with {version}")


@requirement("INIT-003", "M", "a version that is not known yet is answered with one that the agent has")
def unknown_version(kit: Kit) -> None:
    with kit.started() as agent:
        version = version_of(kit.initialize(agent, UNKNOWN_VERSION))
    if version == UNKNOWN_VERSION:
        raise Failed(f"{UNKNOWN_VERSION} was echoed")
    if version < version_of(kit.told()):
        raise Failed(f"{UNKNOWN_VERSION} was answered with {version}, version 1 with {version_of(kit.told())}")


@requirement("INIT-004", "A", "agentInfo is there, with name and version")
def agent_info(kit: Kit) -> None:
    info = kit.told().get("agentInfo")
    if not isinstance(info, dict) or not all(isinstance(info.get(each), str) and info[each] for each in ("name", "version")):
        raise Failed(f"agentInfo is {brief(info)}")


@requirement("JSONRPC-001", "M", "an answer has the id of its request, integer or string")
def ids(kit: Kit) -> None:
    with kit.initialized() as agent:
        kit.new(agent)
        for id in (4711, "4712", "a b/c", 0):
            agent.request("session/new", {"cwd": kit.cwd, "mcpServers": []}, id)
            found = agent.response().get("id")
            if type(found) is not type(id) or found != id:
                raise Failed(f"the request with the id {brief(id)} was answered with {brief(found)}")


@requirement("JSONRPC-003", "M", "a notification is not answered")
def notifications(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        agent.notify("session/cancel", {"sessionId": session})
        for line in agent.quiet(QUIET):
            if is_response(line.message):
                raise Failed(f"session/cancel was answered with {brief(line.message)}")


@requirement("JSONRPC-004", "A", "an unknown method is answered with -32601")
def unknown_method(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        answer = agent.ask("conformance/unknown", {"sessionId": session})
    if answer.get("error", {}).get("code") != -32601:
        raise Failed(f"it was answered with {brief(answer)}")


@requirement("JSONRPC-005", "A", "after a wrong request the connection still serves session/new")
def goes_on(kit: Kit) -> None:
    with kit.initialized() as agent:
        kit.new(agent)
        answer = agent.ask("session/new", {"cwd": 5})
        if "error" not in answer:
            raise Failed(f"a session/new whose cwd is a number was answered with {brief(answer)}")
        kit.new(agent)


@requirement("EXT-001", "M", "a request with an unknown method of one's own is answered")
def extension(kit: Kit) -> None:
    with kit.initialized() as agent:
        agent.ask("_conformance/unknown", {})


@requirement("AUTH-001", "A", "no two ways to log in have the same id")
def login_ids(kit: Kit) -> None:
    found = [each.get("id") for each in kit.methods()]
    if len(set(found)) != len(found):
        raise Failed(f"the ids are {brief(found)}")


@requirement("AUTH-002", "M", "a client without terminals for logging in is offered no login in a terminal")
def terminal_login(kit: Kit) -> None:
    found = [each for each in kit.methods() if each.get("type") == "terminal"]
    if found:
        raise Failed(f"it is offered {brief(found)}")


@requirement("AUTH-003", "C", "after authenticate, session/new is not answered with -32000")
def authenticated(kit: Kit) -> None:
    method = kit.login_method()
    if method is None:
        raise NotOffered("authMethods")
    with kit.initialized() as agent:
        kit.valid("authenticate", agent.result("authenticate", {"methodId": method}))
        not_required(agent.ask("session/new", {"cwd": kit.cwd, "mcpServers": []}))


@requirement("AUTH-004", "C", "logout succeeds with an object")
def logout(kit: Kit) -> None:
    kit.offers("auth", "logout")
    if not kit.settings.allow_logout:
        raise NotOffered("logging out was not allowed: --allow-logout")
    with kit.opened() as (agent, _):
        result = agent.result("logout", {})
        if not isinstance(result, dict):
            raise Failed(f"the result is {brief(result)}")
        kit.valid("logout", result)


@requirement("AUTH-005", "A", "without ways to log in, session/new is not answered with -32000")
def no_login(kit: Kit) -> None:
    if kit.methods():
        raise NotOffered("an agent without authMethods")
    with kit.initialized() as agent:
        not_required(agent.ask("session/new", {"cwd": kit.cwd, "mcpServers": []}))


def not_required(answer: Any) -> None:
    if "error" in answer and answer["error"].get("code") == AUTH_REQUIRED:
        raise Failed(f"it was answered with {brief(answer)}")


@requirement("SHUTDOWN-001", "A", f"the agent ends by itself in {SHUTDOWN:g} s when its input is closed")
def shutdown(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        kit.prompt(agent, session)
        if not agent.end(SHUTDOWN):
            raise Failed("it was still there")


def answered(kit: Kit, sent: bytes) -> str:
    """What comes back to bytes that are no message."""
    with kit.opened() as (agent, _):
        agent.write(sent)
        seen = [line.message for line in agent.quiet(QUIET) if is_response(line.message)]
        goes_on = "goes on" if "result" in agent.ask("session/new", {"cwd": kit.cwd, "mcpServers": []}) else "is useless"
    return f"{brief(seen[0]) if seen else 'no answer'}; the connection {goes_on}"


@requirement("INFO-PARSE-001", "I", "a line that is no JSON")
def no_json(kit: Kit) -> None:
    raise Recorded(answered(kit, b"this is no JSON\n"))


@requirement("INFO-INVALIDREQ-001", "I", "JSON that is no message")
def no_message(kit: Kit) -> None:
    raise Recorded(answered(kit, b'{"jsonrpc": "2.0", "id": "x", "method": 1}\n'))


@requirement("INFO-UNKNOWNSESSION-001", "I", "a prompt for a session that was never made")
def unknown_session(kit: Kit) -> Optional[str]:
    with kit.opened() as (agent, _):
        answer = kit.prompt(agent, "no-such-session")
    raise Recorded(brief(answer.get("error") or succeeded("session/prompt", answer)))
