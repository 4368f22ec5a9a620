"""Requirements about every message that the agent has sent in all of the conversations."""

from kit import Kit, Recorded, requirement
from process import Failed, brief


@requirement("TRANSPORT-001", "M", "each line of the output is one JSON-RPC 2.0 object", over_all=True)
def objects(kit: Kit) -> None:
    for line in kit.lines():
        message = line.message
        is_message = isinstance(message, dict) and message.get("jsonrpc") == "2.0"
        if not is_message or not ("method" in message or "id" in message) or not line.ends:
            raise Failed(f"there was {ascii(line.raw[:200])}")


@requirement("TRANSPORT-002", "M", "the output is UTF-8", over_all=True)
def utf8(kit: Kit) -> None:
    for line in kit.lines():
        try:
            line.raw.decode("utf-8")
        except UnicodeDecodeError as problem:
            raise Failed(f"{problem}, in {ascii(line.raw[:200])}") from None


@requirement("JSONRPC-002", "M", "an answer has a result or an error, and an error an integer code and a text", over_all=True)
def answers(kit: Kit) -> None:
    for line in kit.lines():
        message = line.message
        if not isinstance(message, dict) or "method" in message or "id" not in message:
            continue
        error = message.get("error")
        good = ("result" in message) != ("error" in message)
        if "error" in message:
            good = good and isinstance(error, dict) and type(error.get("code")) is int and isinstance(error.get("message"), str)
        if not good:
            raise Failed(f"there was {brief(message)}")


@requirement("SCHEMA-001", "M", "each message is what the schema of version 1 says", over_all=True)
def valid(kit: Kit) -> None:
    for line in kit.lines():
        wrong = kit.schema.wrong(line)
        if wrong is not None:
            raise Failed(wrong)


@requirement("SCHEMA-002", "A", "no type has a member of one's own beside _meta", over_all=True)
def known(kit: Kit) -> None:
    for line in kit.lines():
        for unknown in kit.schema.unknown(line):
            raise Failed(unknown)


@requirement("ERROR-001", "A", "the messages of errors are one line each, and not empty", over_all=True)
def one_line(kit: Kit) -> None:
    for error in kit.errors():
        message = error.get("message") if isinstance(error, dict) else None
        if not isinstance(message, str) or not message.strip() or len(message.splitlines()) != 1:
            raise Failed(f"there was {brief(error)}")


def nothing_asked(kit: Kit, prefix: str) -> None:
    found = kit.asked(prefix)
    if found:
        raise Failed(f"there was {found[0]}")


@requirement("CLIENTCAP-001", "M", "a client that offers no files is not asked for any", over_all=True)
def files(kit: Kit) -> None:
    nothing_asked(kit, "fs/")


@requirement("CLIENTCAP-002", "M", "a client that offers no terminals is not asked for any", over_all=True)
def terminals(kit: Kit) -> None:
    nothing_asked(kit, "terminal/")


@requirement("CLIENTCAP-003", "M", "a client that does not offer to ask its user is not told to", over_all=True)
def elicitation(kit: Kit) -> None:
    nothing_asked(kit, "elicitation/create")


@requirement("STDERR-001", "I", "what the agent writes to standard error", over_all=True)
def standard_error(kit: Kit) -> None:
    written = [agent.error_bytes for agent in kit.agents]
    first = b"".join(written).strip().decode("utf-8", "replace").splitlines()[:1]
    raise Recorded(": ".join([f"{sum(map(len, written))} bytes of {len(written)} processes", *map(ascii, first)]))
