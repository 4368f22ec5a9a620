"""Requirements about sessions that are made and the turns in them."""

from typing import Any

from kit import QUIET, Kit, requirement, updates
from process import Failed, brief

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
LINK = {"type": "resource_link", "uri": "file:///notes.md", "name": "notes.md"}
IMAGE = {"type": "image", "mimeType": "image/png", "data": PIXEL}
AUDIO = {"type": "audio", "mimeType": "audio/wav", "data": SILENCE}
EMBEDDED = {"type": "resource", "resource": {"uri": "file:///notes.md", "mimeType": "text/markdown", "text": "# Notes\n"}}
TRACE = {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}


@requirement("SESSION-001", "M", "session/new is valid and names the session")
def new(kit: Kit) -> None:
    with kit.initialized() as agent:
        result = kit.new(agent)
    if not result["sessionId"]:
        raise Failed("the id is empty")
    kit.valid("session/new", result)


@requirement("SESSION-002", "M", "two sessions have two ids")
def two(kit: Kit) -> None:
    with kit.initialized() as agent:
        first, second = kit.new(agent)["sessionId"], kit.new(agent)["sessionId"]
    if first == second:
        raise Failed(f"both are {brief(first)}")


@requirement("PROMPT-001", "M", "a prompt of text ends with a defined stop reason")
def text(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        kit.stopped(kit.prompt(agent, session))


@requirement("PROMPT-002", "M", "each update of a turn is valid and names the session")
def named(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        begin = len(agent.lines)
        kit.prompt(agent, session)
        lines = agent.lines[begin:]
    for line in lines:
        if not isinstance(line.message, dict) or line.message.get("method") != "session/update":
            continue
        wrong = kit.schema.wrong(line)
        if wrong is not None:
            raise Failed(wrong)
        if line.message["params"]["sessionId"] != session:
            raise Failed(f"an update names {brief(line.message['params']['sessionId'])} in a turn of {brief(session)}")


def accepts(kit: Kit, *blocks: Any, **members: Any) -> None:
    with kit.opened() as (agent, session):
        kit.stopped(kit.prompt(agent, session, None, *blocks, **members))


@requirement("PROMPT-003", "A", "a prompt of text and a link is accepted")
def link(kit: Kit) -> None:
    accepts(kit, LINK)


@requirement("META-001", "A", "a prompt with _meta runs as usual")
def meta(kit: Kit) -> None:
    accepts(kit, _meta=TRACE)


@requirement("PROMPTCAP-001", "C", "a prompt with an image is accepted")
def image(kit: Kit) -> None:
    kit.offers("promptCapabilities", "image")
    accepts(kit, IMAGE)


@requirement("PROMPTCAP-002", "C", "a prompt with audio is accepted")
def audio(kit: Kit) -> None:
    kit.offers("promptCapabilities", "audio")
    accepts(kit, AUDIO)


@requirement("PROMPTCAP-003", "C", "a prompt with an embedded resource is accepted")
def embedded(kit: Kit) -> None:
    kit.offers("promptCapabilities", "embeddedContext")
    accepts(kit, EMBEDDED)


@requirement("CANCEL-001", "M", "after session/cancel the turn ends as cancelled")
def cancel(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        id = kit.begin_long(agent, session)
        agent.notify("session/cancel", {"sessionId": session})
        kit.interrupted(agent.answer(id))


@requirement("CANCEL-002", "M", "nothing is said in the session after the end of a cancelled turn")
def after(kit: Kit) -> None:
    with kit.opened() as (agent, session):
        id = kit.begin_long(agent, session)
        agent.notify("session/cancel", {"sessionId": session})
        agent.answer(id)
        late = updates(agent.quiet(QUIET), session)
    if late:
        raise Failed(f"there was {brief(late[0])}")
