"""The official JSON Schema of version 1: whether messages are valid, and which members it does not have."""

import json
from pathlib import Path
from typing import Any, Dict, Iterable, Iterator, List, Optional, Tuple

import jsonschema

from process import Line, is_response

# Keywords whose schemas hold for the same value.
SAME = ("allOf", "anyOf", "oneOf")


class Schema:
    def __init__(self, file: Path) -> None:
        self._all = json.loads(file.read_text("utf-8"))
        self._types: Dict[str, Any] = self._all["$defs"]
        self._named: Dict[Tuple[str, str, bool], str] = {}
        self._validators: Dict[str, Any] = {}
        for name, type in self._types.items():
            if "x-method" in type:
                self._named[type["x-method"], type["x-side"], name.endswith("Response")] = name
                self._validators[name] = self._validator(name)
        self.stop_reasons = [each["const"] for each in self._types["StopReason"]["oneOf"]]

    def _validator(self, name: str) -> Any:
        return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": self._types})

    def payload(self, line: Line) -> Optional[Tuple[str, Any, str]]:
        """What a message of the agent's carries: its type, its value, and what it is. None for errors and extensions."""
        message = line.message
        if is_response(message):
            if "result" not in message or line.method is None or line.method.startswith("_"):
                return None
            return self._named.get((line.method, "agent", True), ""), message["result"], f"the result of {line.method}"
        if not isinstance(message, dict) or not isinstance(message.get("method"), str):
            return None
        method = message["method"]
        if method.startswith("_"):
            return None
        side = "protocol" if method.startswith("$/") else "client"
        return self._named.get((method, side, False), ""), message.get("params"), f"the params of {method}"

    def wrong(self, line: Line) -> Optional[str]:
        """What is wrong with the payload of a message, if anything is."""
        found = self.payload(line)
        if found is None:
            return None
        name, value, what = found
        if not name:
            return f"{what}: version 1 has no such message"
        return self.wrong_value(name, value, what)

    def wrong_value(self, name: str, value: Any, what: str) -> Optional[str]:
        error = jsonschema.exceptions.best_match(self._validators[name].iter_errors(value))
        if error is None:
            return None
        return f"{what}, at {'/'.join(map(str, error.absolute_path)) or 'its root'}: {error.message[:200]}"

    def wrong_result(self, method: str, value: Any) -> Optional[str]:
        return self.wrong_value(self._named[method, "agent", True], value, f"the result of {method}")

    def unknown(self, line: Line) -> Iterator[str]:
        """The members of a message that its types do not have."""
        found = self.payload(line)
        if found is not None and found[0]:
            yield from self._unknown(found[1], [self._types[found[0]]], found[2])

    def _unknown(self, value: Any, schemas: Iterable[Any], where: str) -> Iterator[str]:
        flat = [each for schema in schemas for each in self._flat(schema)]
        if isinstance(value, list):
            items = [each["items"] for each in flat if "items" in each]
            for index, item in enumerate(value):
                yield from self._unknown(item, items, f"{where}/{index}")
        members: Dict[str, List[Any]] = {}
        for each in flat:
            for name, schema in each.get("properties", {}).items():
                members.setdefault(name, []).append(schema)
        # A type without members of its own, such as the input of a tool, takes any.
        if not isinstance(value, dict) or any(each.get("additionalProperties") for each in flat):
            return
        for name, member in value.items():
            if name in members and name != "_meta":
                yield from self._unknown(member, members[name], f"{where}/{name}")
            elif name not in members and members:
                yield f"{where} has the member {name}"

    def _flat(self, schema: Any) -> Iterator[Dict[str, Any]]:
        """A schema and those that it refers to for the same value."""
        if not isinstance(schema, dict):
            return
        yield schema
        if "$ref" in schema:
            yield from self._flat(self._types[schema["$ref"].rsplit("/", 1)[1]])
        for keyword in SAME:
            for each in schema.get(keyword, ()):
                yield from self._flat(each)
