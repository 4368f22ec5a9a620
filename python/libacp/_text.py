"""Text of a peer, prepared for a terminal or a log."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# Where an error's data says more than its message.
MORE = ("details", "detail", "message", "reason", "error")
# Characters of an error's message, and of what its data says, in its text.
MESSAGE = 500
DATA = 2000
# Lines of what its data says, which may be a trace.
LINES = 20


def printable(text: str) -> str:
    """Escapes control characters, and characters that change the direction of text, in text of a peer that goes to a
    terminal or a log. Line feeds and tabs stay.
    """
    if text.isprintable():
        return text
    return "".join(ascii(each)[1:-1] if _steers(each) else each for each in text)


def _steers(each: str) -> bool:
    return (
        (each < " " and each not in "\n\t")
        or "\x7f" <= each <= "\x9f"
        or each in "\u061c\u200e\u200f"
        or "\u2028" <= each <= "\u202e"
        or "\u2066" <= each <= "\u2069"
        # No terminal's encoding has halves of characters.
        or "\ud800" <= each <= "\udfff"
    )


def cut(text: str, most: int) -> str:
    """A text, shortened if it is too long."""
    return text if len(text) <= most else text[:most] + "…"


def error_text(message: object, code: int, data: "Any") -> str:
    """The text of an error, with the text in its data."""
    said = printable(cut(str(message), MESSAGE)).replace("\n", "\\n")
    more = _more(data).strip()
    if not more or more == message:
        return f"{said} ({code})"
    lines = printable(cut(more, DATA)).split("\n", LINES)
    if len(lines) > LINES:
        lines[LINES] = "…"
    # Where there are several, they are indented: none of them can be taken for a line of the host's own.
    return f"{said} ({code}):" + ("\n  ".join(["", *lines]) if len(lines) > 1 else f" {lines[0]}")


def _more(data: "Any") -> str:
    """What the data of an error says in words, which is where the text of the peer's own error often is."""
    if isinstance(data, str):
        return data
    for name in MORE if isinstance(data, dict) else ():
        value = data.get(name)
        if isinstance(value, dict):
            value = value.get("message")
        if isinstance(value, str) and value.strip():
            return value
    return ""
