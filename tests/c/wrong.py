"""Writes the calls that wrong.c makes, from the header, so that no function of it is left out.

    python3 tests/c/wrong.py include/acp.h > wrong_calls.h

What comes out are lists in the form of macros, `LIST(X)` with one `X(call)` for each call:

* `GOOD_CALLS`: each function once, with arguments that are fine;
* `NULL_POINTERS`: each pointer that a function takes, NULL instead;
* `BAD_TEXTS`: each slice, without its bytes, longer than any memory, and not UTF-8;
* `BAD_NUMBERS`: each enumeration and each index, a value that has no meaning;
* `ODD_NUMBERS`: each other number, at its ends;
* `NAMES`: each function from a number to its name, with numbers that have none;
* `FREES`: each function that frees, with nothing to free.

A type or a parameter of a kind that is new in the header is an error until it stands in the tables below.
"""

import re
import sys
from typing import Iterator, List, Tuple

# What stands for a parameter where it is fine: members of `given` and `outputs` in wrong.c.
POINTERS = {f"acp_{name} *": f"given.{name}" for name in
            ("config", "connection", "observer", "event", "sessions", "requests", "terminals", "items", "writer", "permission_policy", "http_server", "http_client")}
POINTERS.update({"acp_member *": "&given.member", "acp_value *": "&given.member.value", "acp_header *": "&given.header"})
OUTPUTS = {f"{kind}*": f"&outputs.{name}" for kind, name in (
    ("acp_config *", "config"), ("acp_connection *", "connection"), ("acp_observer *", "observer"),
    ("acp_event *", "event"), ("acp_permission_policy *", "permission_policy"),
    ("acp_http_server *", "http_server"), ("acp_http_client *", "http_client"),
    ("acp_sessions *", "sessions"), ("acp_requests *", "requests"), ("acp_terminals *", "terminals"),
    ("acp_items *", "items"), ("acp_writer *", "writer"), ("acp_slice ", "slice"), ("acp_string ", "string"), ("int32_t ", "number"),
    ("int64_t ", "whole"), ("uint64_t ", "wide"), ("uint16_t ", "version"), ("size_t ", "size"), ("double ", "real"),
    ("bool ", "flag"))}
TEXTS = {"json": 'acp_text("{\\"a\\":[\\"b\\"]}")', "params": 'acp_text("{}")', "result": 'acp_text("{}")',
         "pointer": 'acp_text("")', "method": 'acp_text("_x/a")', "id": 'acp_text("1")', "data": 'acp_text("{}")',
         "name": "acp_text(ACP_DRAFT_NES)", "form": 'acp_text("[?]")', "capabilities": 'acp_text("{}")',
         "options": 'acp_text("{}")'}
# The number of a request need not be asked for.
OPTIONAL = {"acp_connection_request", "acp_connection_request_with", "acp_client_initialize", "acp_client_new_session",
            "acp_client_prompt"}
# Bytes from the peer need not be text.
BYTES = {"bytes", "target"}
METHODS = {("acp_http_server_request", "method")}
ENUMERATIONS = {"role", "framing", "policy", "severity", "limit", "from", "of"}
# A list and its length belong together.
LISTS = {"acp_config_set_versions": ["given.config", "(const uint16_t[]) {1, 2}", "2"]}
BAD = ("acp_bytes(NULL, 1)", 'acp_bytes("x", SIZE_MAX)', 'acp_bytes("x", SIZE_MAX / 2 + 1)', 'acp_text("\\xff")')
NONSENSE = ("0", "-1", "99", "INT32_MIN", "INT32_MAX")
NAMELESS = ("99", "INT32_MIN", "INT32_MAX")
ENDS = {"int32_t": ("INT32_MIN", "INT32_MAX"), "int64_t": ("INT64_MIN", "INT64_MAX"), "size_t": ("0", "SIZE_MAX"),
        "uint16_t": ("0", "UINT16_MAX"), "uint64_t": ("0", "UINT64_MAX - 2", "UINT64_MAX"), "double": ("-1e308 * 10", "1e308 * 10 * 0")}

Parameter = Tuple[str, str]


def functions(header: str) -> Iterator[Tuple[str, str, List[Parameter]]]:
    """What a function returns, its name and its parameters."""
    declared = re.findall(r'extern "C" \{(.*?)#ifdef __cplusplus', header, re.DOTALL)[0]
    declared = re.sub(r"//.*|#.*|\bACP_MUST_USE\b", "", declared)
    for text in filter(None, map(str.strip, declared.split(";"))):
        returns, name, inside = re.fullmatch(r"(.+?)(\w+)\((.*)\)", " ".join(text.split())).groups()
        parameters = [] if inside == "void" else [re.fullmatch(r"(.+?)(\w+)", one.strip()).groups()
                                                  for one in inside.split(",")]
        yield returns.strip(), name, [(kind.replace("const ", "").strip(), what) for kind, what in parameters]


def good(kind: str, what: str) -> str:
    """What can be passed for a parameter."""
    if kind == "acp_slice":
        return TEXTS.get(what, 'acp_text("s-1")')
    if kind == "char *":
        return "outputs.buffer"
    if kind.endswith("*"):
        return {**POINTERS, **OUTPUTS}[kind]
    return {"bool": "true", "int32_t": "1", "uint16_t": "1", "uint64_t": "1", "int64_t": "1", "double": "1",
            "size_t": {"index": "0", "capacity": "sizeof outputs.buffer", "count": "0", "len": "1"}.get(what, "")}[kind]


def wrong(kind: str, what: str, name: str) -> Iterator[Tuple[str, str]]:
    """What must not be passed for a parameter, or only just can, and the list that it goes to."""
    if kind.endswith("*"):
        if what != "out" or name not in OPTIONAL:
            yield "NULL_POINTERS", "NULL"
    elif kind == "acp_slice":
        yield from (("BAD_TEXTS", bad) for bad in BAD[: 3 if what in BYTES or (name, what) in METHODS else 4])
    elif kind == "int32_t" and what in ENUMERATIONS:
        yield from (("BAD_NUMBERS", number) for number in NONSENSE)
    elif name in LISTS:
        yield from (("BAD_NUMBERS", number) for number in ("0", "SIZE_MAX"))
    elif what == "len":
        yield from (("BAD_NUMBERS", number) for number in ("SIZE_MAX / 8", "SIZE_MAX"))
    elif what == "index" and kind == "size_t":
        yield from (("BAD_NUMBERS", number) for number in ("1", "SIZE_MAX / 16", "SIZE_MAX"))
    elif kind != "bool":
        yield from (("ODD_NUMBERS", number) for number in ENDS[kind])


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as file:
        header = file.read()
    lists = {name: [] for name in ("GOOD_CALLS", "NULL_POINTERS", "BAD_TEXTS", "BAD_NUMBERS", "ODD_NUMBERS", "NAMES",
                                   "FREES")}
    count = 0
    for returns, name, parameters in functions(header):
        count += 1
        if returns != "acp_status" and returns != "void":
            lists["NAMES"] += [f"{name}({number})" for number in NAMELESS if parameters]
            continue
        fine = LISTS.get(name) or [good(*parameter) for parameter in parameters]
        if returns == "void":
            lists["FREES"].append(f"{name}(NULL)")
        else:
            lists["GOOD_CALLS"].append(f"{name}({', '.join(fine)})")
            for at, (kind, what) in enumerate(parameters):
                for group, value in wrong(kind, what, name):
                    lists[group].append(f"{name}({', '.join([*fine[:at], value, *fine[at + 1:]])})")
    declared = len(re.findall(r"^\w.*\bacp_\w+\(", header[: header.index('}  // extern "C"')], re.MULTILINE))
    if count != declared:
        sys.exit(f"{count} functions were read, the header has {declared}")
    print("// Made from acp.h by wrong.py.")
    for name, calls in lists.items():
        print(f"#define {name}(X) \\\n    " + " \\\n    ".join(f"X({call})" for call in calls) + "\n")


if __name__ == "__main__":
    main()
