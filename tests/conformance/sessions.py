"""Requirements about sessions that are kept, and about what they can be set to."""

import os
from typing import Any, Dict, List, Tuple

from kit import QUIET, Kit, NotOffered, history, requirement, updates
from process import Agent, Failed, brief

def used(kit: Kit, agent: Agent, session: str, method: str, **params: Any) -> Tuple[Any, int]:
    """Uses a session and opens it again; the result, and where the lines of that begin."""
    kit.prompt(agent, session)
    begin = len(agent.lines)
    return agent.result(method, {"sessionId": session, "cwd": kit.cwd, **params}), begin


@requirement("LOAD-001", "C", "session/load of the session that was just used succeeds and is valid")
def load(kit: Kit) -> None:
    kit.offers("loadSession")
    with kit.opened() as (agent, session):
        result, _ = used(kit, agent, session, "session/load", mcpServers=[])
    if result is not None:
        kit.valid("session/load", result)


@requirement("LOAD-002", "C", "the replay ends before the answer of session/load")
def replay(kit: Kit) -> None:
    kit.offers("loadSession")
    with kit.opened() as (agent, session):
        used(kit, agent, session, "session/load", mcpServers=[])
        late = history(agent.quiet(QUIET), session)
    if late:
        raise Failed(f"after it there was {brief(late[0])}")


@requirement("LOAD-003", "A", "a result of session/load that says nothing is an object, not null")
def load_object(kit: Kit) -> None:
    kit.offers("loadSession")
    with kit.opened() as (agent, session):
        result, _ = used(kit, agent, session, "session/load", mcpServers=[])
    is_object(result)


@requirement("RESUME-001", "C", "session/resume without MCP servers succeeds and is valid")
def resume(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "resume")
    with kit.opened() as (agent, session):
        result, _ = used(kit, agent, session, "session/resume")
    kit.valid("session/resume", result)


@requirement("RESUME-002", "C", "nothing of the past comes before the answer of session/resume")
def resumed_silently(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "resume")
    with kit.opened() as (agent, session):
        _, begin = used(kit, agent, session, "session/resume")
        past = history(agent.lines[begin:], session)
    if past:
        raise Failed(f"before it there was {brief(past[0])}")


@requirement("LIST-001", "C", "session/list succeeds with a list of sessions")
def listed(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "list")
    with kit.opened() as (agent, _):
        result = agent.result("session/list", {})
    if not isinstance(result, dict) or not isinstance(result.get("sessions"), list):
        raise Failed(f"the result is {brief(result)}")
    kit.valid("session/list", result)


@requirement("LIST-002", "C", "a directory without sessions gives an empty list")
def listed_nothing(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "list")
    with kit.opened() as (agent, _):
        result = agent.result("session/list", {"cwd": os.path.join(kit.cwd, "unused")})
    if not isinstance(result, dict) or result.get("sessions") != []:
        raise Failed(f"the result is {brief(result)}")


@requirement("DELETE-001", "C", "session/delete of a session that was just made succeeds with an object")
def delete(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "delete")
    with kit.opened() as (agent, session):
        is_object(agent.result("session/delete", {"sessionId": session}))


@requirement("DELETE-002", "A", "session/delete of a session that is not known succeeds")
def delete_unknown(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "delete")
    with kit.opened() as (agent, _):
        is_object(agent.result("session/delete", {"sessionId": "no-such-session"}))


@requirement("CLOSE-001", "C", "session/close of an idle session succeeds with an object")
def close(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "close")
    with kit.opened() as (agent, session):
        is_object(agent.result("session/close", {"sessionId": session}))


@requirement("CLOSE-002", "C", "session/close in a turn ends it as cancelled")
def close_in_turn(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "close")
    with kit.opened() as (agent, session):
        id = kit.begin_long(agent, session)
        closing = agent.request("session/close", {"sessionId": session})
        kit.interrupted(agent.answer(id))
        agent.answer(closing)


def is_object(result: Any) -> None:
    if not isinstance(result, dict):
        raise Failed(f"the result is {brief(result)}")


@requirement("ADDDIRS-001", "C", "session/new takes an additional directory")
def directories(kit: Kit) -> None:
    kit.offers("sessionCapabilities", "additionalDirectories")
    further = os.path.join(kit.cwd, "further")
    os.makedirs(further, exist_ok=True)
    with kit.opened(additionalDirectories=[further]):
        pass


def modes(result: Dict[str, Any]) -> Tuple[Any, List[Any]]:
    """The mode of a new session, and those to choose from."""
    found = result.get("modes")
    if not found:
        raise NotOffered("modes")
    available = found.get("availableModes") if isinstance(found, dict) else None
    if not isinstance(available, list) or not all(isinstance(each, dict) for each in available):
        raise Failed(f"modes are {brief(found)}")
    return found.get("currentModeId"), [each.get("id") for each in available]


@requirement("MODES-001", "C", "the current mode is one of those available")
def mode_available(kit: Kit) -> None:
    with kit.initialized() as agent:
        current, available = modes(kit.new(agent))
    if current not in available:
        raise Failed(f"the mode is {brief(current)}, available are {brief(available)}")


@requirement("MODES-002", "C", "session/set_mode to another mode succeeds; an update about it names a mode")
def set_mode(kit: Kit) -> None:
    with kit.initialized() as agent:
        result = kit.new(agent)
        current, available = modes(result)
        others = [mode for mode in available if mode != current]
        if not others:
            raise NotOffered("a second mode")
        begin = len(agent.lines)
        params = {"sessionId": result["sessionId"], "modeId": others[0]}
        is_object(agent.result("session/set_mode", params))
        agent.quiet(QUIET)
        told = [each for each in updates(agent.lines[begin:]) if each.get("sessionUpdate") == "current_mode_update"]
    for update in told:
        if not isinstance(update.get("currentModeId"), str):
            raise Failed(f"there was {brief(update)}")


def options(result: Dict[str, Any]) -> List[Dict[str, Any]]:
    found = result.get("configOptions")
    if not found:
        raise NotOffered("configOptions")
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise Failed(f"configOptions are {brief(found)}")
    return found


def values(option: Dict[str, Any]) -> List[Any]:
    """The values of a select, whether they are in groups or not."""
    flat: List[Any] = []
    for each in option.get("options") or ():
        flat.extend(each["options"] if "group" in each else [each])
    return [each.get("value") for each in flat]


@requirement("CONFIG-001", "C", "the value of each config option fits its type")
def config_fits(kit: Kit) -> None:
    with kit.initialized() as agent:
        found = options(kit.new(agent))
    for option in found:
        value, kind = option.get("currentValue"), option.get("type")
        fits = {"select": lambda: value in values(option), "boolean": lambda: isinstance(value, bool)}.get(kind, lambda: False)
        if not fits():
            raise Failed(f"the value of {brief(option)} does not fit")


@requirement("CONFIG-002", "C", "session/set_config_option answers with all options, and the new value")
def set_config(kit: Kit) -> None:
    with kit.initialized() as agent:
        result = kit.new(agent)
        found = options(result)
        selects = [(each, value) for each in found for value in values(each) if value != each.get("currentValue")]
        if not selects:
            raise NotOffered("an option with a second value")
        option, value = selects[0]
        params = {"sessionId": result["sessionId"], "configId": option.get("id"), "value": value}
        answer = agent.result("session/set_config_option", params)
    kit.valid("session/set_config_option", answer)
    after = {each.get("id"): each.get("currentValue") for each in answer["configOptions"]}
    if after.get(option.get("id")) != value or not {each.get("id") for each in found} <= set(after):
        raise Failed(f"{option.get('id')} was set to {value}, and then the values were {brief(after)}")


def lists_of_options(message: Any) -> Any:
    if isinstance(message, dict):
        for name, value in message.items():
            if name == "configOptions" and isinstance(value, list):
                yield value
            elif name in ("result", "params", "update"):
                yield from lists_of_options(value)


@requirement("CONFIG-003", "M", "a client that does not take boolean options gets none", over_all=True)
def no_booleans(kit: Kit) -> None:
    for line in kit.lines():
        for found in lists_of_options(line.message):
            boolean = [each for each in found if isinstance(each, dict) and each.get("type") == "boolean"]
            if boolean:
                raise Failed(f"it gets {brief(boolean[0])}")
