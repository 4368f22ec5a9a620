"""What an event must be: each of its members is stated, has one default, or follows from the frame that it came from.

Which, ``tests/vectors/format.json`` says.
"""

import codecs
import json
import re
from json.decoder import scanstring

EXCERPT = 256
PAYLOADS = ("params", "result", "data")
MISSING = object()
BLANKS = re.compile(r"[ \t\r\n]*")


class Difference(Exception):
    """A scenario went another way than it says."""


class Digits(str):
    """A number as it is written."""


class Twice(dict):
    """An object that has a name twice."""


def unique(pairs):
    members = dict(pairs)
    return members if len(members) == len(pairs) else Twice(members)


def exact(text):
    """The value of a JSON text, nothing of it lost."""
    return json.loads(text, parse_int=Digits, parse_float=Digits, object_pairs_hook=unique)


def same(expected, found):
    """Equality of JSON values: unlike Python's, it tells ``true`` from 1 and 1 from 1.0. ``Twice`` equals nothing."""
    if type(expected) is not type(found) or isinstance(expected, Twice):
        return False
    if isinstance(expected, dict):
        return expected.keys() == found.keys() and all(same(item, found[key]) for key, item in expected.items())
    if isinstance(expected, list):
        return len(expected) == len(found) and all(map(same, expected, found))
    return expected == found


def member(text, name):
    """The text of the one member of that name in a JSON object; ``MISSING`` without one, ``None`` where it is unclear."""
    decoder = json.JSONDecoder(parse_int=str)
    found = []

    def skip(at):
        return BLANKS.match(text, at).end()

    try:
        at = skip(0)
        if text[at] != "{":
            return None
        at = skip(at + 1)
        while text[at] != "}":
            key, at = scanstring(text, at + 1, True)
            start = skip(skip(at) + 1)
            _, end = decoder.raw_decode(text, start)
            if key == name:
                found.append(text[start:end])
            at = skip(end)
            if text[at] == ",":
                at = skip(at + 1)
    except (ValueError, IndexError, RecursionError):
        return None
    return (found or [MISSING])[0] if len(found) < 2 else None


class Frames:
    """What a scenario has fed, frame by frame, cut as agreed."""

    def __init__(self, framing):
        self.framing = framing
        self.rest = b""
        self.all = []

    def feed(self, data):
        if self.framing == "messages":
            self.all.append(data)
            return
        self.rest += data
        if self.framing == "lines":
            *lines, self.rest = self.rest.split(b"\n")
            for line in lines:
                self.add(line)
            return
        while True:
            head, mark, body = self.rest.partition(b"\r\n\r\n")
            length = re.search(rb"^Content-Length: (\d+)\r?$", head, re.M)
            if not mark or length is None or len(body) < int(length[1]):
                return
            self.add(body[: int(length[1])])
            self.rest = body[int(length[1]) :]

    def end(self):
        self.add(self.rest)
        self.rest = b""

    def add(self, frame):
        frame = frame[:-1] if frame.endswith(b"\r") else frame
        if frame.strip():
            self.all.append(frame)

    def default(self, name, rule, number):
        """What is expected of a member that is not stated; ``MISSING`` where it must be."""
        if rule != "frame":
            return MISSING if rule in ("stated", "prose") else rule
        if name == "frame":
            return len(self.all)
        if not 1 <= number <= len(self.all):
            return MISSING
        frame = self.all[number - 1]
        try:
            if name == "excerpt":
                # The cut may go through a character.
                whole = len(frame) <= EXCERPT
                return codecs.getincrementaldecoder("utf-8")().decode(frame[:EXCERPT], final=whole)
            return payload(frame.decode(), name)
        except UnicodeDecodeError:
            return MISSING


def payload(text, name):
    if name in ("params", "result"):
        found = member(text, name)
        if name == "params" and (found is MISSING or found == "null"):
            return "{}"
        return MISSING if found is None else found
    error = member(text, "error")
    found = member(error, name) if isinstance(error, str) else None
    if name == "data":
        return None if found in (MISSING, None) else found
    return json.loads(found) if isinstance(found, str) else MISSING


def only(what, value, known):
    strangers = [name for name in value if name not in known] if isinstance(value, dict) else []
    if strangers:
        raise Difference(f"{what} has no member {strangers[0]}")


class Format:
    def __init__(self, path):
        self.rules = json.loads(path.read_text("utf-8"))

    def config(self, config):
        only("config", config, self.rules["config"])
        for name in ("policies", "limits"):
            only(name, config.get(name), self.rules[name])

    def step(self, step):
        """The kind of a step; fails for one, or a member of one, that is not known."""
        kinds = [name for name in step if name in self.rules["steps"]]
        if len(kinds) != 1:
            raise Difference(f"a step of no known kind, or of two: {list(step)}")
        only(f"the step {kinds[0]}", step, kinds + self.rules["beside"].get(kinds[0], []))
        if kinds[0] != "can":
            only(kinds[0], step[kinds[0]], self.rules["steps"][kinds[0]])
        return kinds[0]

    def misuse(self, expected, found):
        only("a misuse", expected, self.rules["misuse"])
        for name, value in found.items():
            if expected.get(name, MISSING) != value:
                raise Difference(f"misuse/{name}: expected {expected.get(name, 'that it is stated')!r}, found {value!r}")

    def event(self, expected, found, frames):
        kind = "/".join(str(expected[name]) for name in ("event", "outcome", "consequence") if name in expected)
        table = self.rules["events"].get(kind)
        if table is None:
            raise Difference(f"no event {kind}, or its outcome or consequence is not stated")
        source = expected.get("frame", len(frames.all))
        payloads = [name for name in PAYLOADS if table.get(name) == "frame"]
        stated = [*table, "event", *(f"{name}_text" for name in payloads)]
        only(kind, expected, stated + ["frame"] if "frame" in table.values() else stated)
        only(kind, {name: value for name, value in found.items() if value is not None}, stated)
        for name, rule in {"event": "stated", **table}.items():
            why = self.member(name, rule, expected, found, frames, source)
            if why is not None:
                raise Difference(f"{name}: {why}")

    def member(self, name, rule, expected, found, frames, source):
        value, text = found.get(name), found.get(f"{name}_text")
        wanted, wanted_text = expected.get(name, MISSING), expected.get(f"{name}_text", MISSING)
        if rule == "prose" and not (isinstance(value, str) and value):
            return f"expected a sentence, found {value!r}"
        if wanted is MISSING and wanted_text is MISSING:
            default = frames.default(name, rule, source)
            if default is MISSING:
                return None if rule == "prose" else f"is not stated; it is {value!r}"
            if rule == "frame" and name in PAYLOADS:
                wanted_text = default
            else:
                wanted = default
        if name not in PAYLOADS or name not in found:
            return None if same(wanted, value) else f"expected {wanted!r}, found {value!r}"
        # What was read must be what the text says, and the text what is expected.
        if wanted is not MISSING and wanted_text is not MISSING:
            return "is stated twice"
        if f"{name}_text" not in found:
            read = wanted if wanted_text is MISSING else wanted_text and json.loads(wanted_text)
            return None if same(read, value) else f"expected {read!r}, found {value!r}"
        if not same(None if text is None else json.loads(text), value):
            return f"the text {text} is read as {value!r}"
        if wanted_text is not MISSING:
            return None if wanted_text == text else f"expected {wanted_text}, found {text}"
        right = wanted is None if text is None else same(exact(json.dumps(wanted)), exact(text))
        return None if right else f"expected {wanted!r}, found {text}"


def falsified(event):
    """The event with one member changed, for each of them."""
    for name, value in event.items():
        if name == "message" and not event["event"].endswith("response"):
            others = ["", 1]
        elif name.endswith("_text") and value is not None:
            others = [f"[{value}]", None]
        elif isinstance(value, int) and not isinstance(value, bool):
            others = [value + 1, float(value), str(value)]
        elif isinstance(value, str):
            others = [value + "x", None]
        else:
            others = [[value], "x"]
        for other in others:
            yield {**event, name: other}
    yield {**event, "extra": True}
