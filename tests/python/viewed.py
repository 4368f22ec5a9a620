"""What the step ``view`` of the vectors looks at.

Beside what a scenario expects, a copy of each view is kept that reads nothing but what has changed, and of contents
nothing but what is new; it must be the view.
"""

from expected import MISSING, Difference, same

LISTS = ("entries", "terminals")
CONTENTS = ("blocks", "summary", "content")
# What a connection counts as it will.
COUNTED = ("revision", "rewritten", "end")
# What changes have that is no member of the view.
OF_CHANGES = ("reset", "first", "removed")


def joined(head, known, content):
    """An entry from its head, what was known of it, and what is new of its content."""
    entry = dict(head)
    for name in CONTENTS:
        if name not in content:
            continue
        old = list(known[name]) if known else []
        new = list(content[name])
        if content["continues"]:
            last, more = old.pop(), new.pop(0)
            if last["type"] != "text" or more["type"] != "text":
                raise Difference("what goes on is no text")
            old.append({**last, "text": last["text"] + more["text"]})
        entry[name] = old + new
    if "output" in content:
        entry["output"] = (known["output"] if known else "") + content["output"]
        entry["before"] = content["before"]
    if content["end"] != head["end"]:
        raise Difference(f"the content of {head} ends elsewhere: {content}")
    return entry


class Copy:
    """What is kept of a view between two steps."""

    def __init__(self):
        self.revision = 0
        self.members = {}
        self.entries = {}

    def follow(self, connection, session):
        """Reads what has changed since, and returns it; None where there is no view."""
        changes = connection.view_since(session, self.revision)
        if connection.view_revision(session) != (changes and changes["revision"]):
            raise Difference("the revision is another than that of what has changed")
        if changes is None:
            return None
        if changes["reset"]:
            self.members, self.entries = {}, {}
        for head in changes["entries"] + changes["terminals"]:
            index = head["index"]
            known = self.entries.get(index)
            position = known["end"] if known else 0
            content = connection.view_content(session, index, position)
            if content["from"] not in (0, position):
                raise Difference(f"asked from {position}: {content}")
            self.entries[index] = joined(head, known if content["from"] else None, content)
        gone = set(changes["removed"])
        self.entries = {
            index: entry for index, entry in self.entries.items() if index >= changes["first"] and index not in gone
        }
        self.members.update({name: changes[name] for name in changes if name not in LISTS + OF_CHANGES})
        self.revision = changes["revision"]
        return changes

    def whole(self):
        entries = [self.entries[index] for index in sorted(self.entries)]
        lists = {
            name: [entry for entry in entries if (entry["type"] == "terminal") == (name == "terminals")] for name in LISTS
        }
        return {**self.members, **lists}


def holds(expected, found, at):
    """The members that are expected must be equal."""
    for name, value in expected.items():
        actual = found.get(name, MISSING)
        if name in COUNTED:
            raise Difference(f"{at}: {name} is no business of a scenario")
        if name in LISTS and isinstance(actual, list) and len(actual) == len(value):
            for place, (wanted, there) in enumerate(zip(value, actual)):
                holds(wanted, there, f"{at}/{name}/{place}")
        elif actual is MISSING or not same(value, actual):
            raise Difference(f"{at}/{name}: expected {value!r}, found {actual!r}")


def look(connection, step, copies, at):
    """Looks at the view of a session; `copies` is kept between the steps."""
    if "shows" not in step:
        raise Difference(f"{at}: what it shows is not stated")
    session, shows = step["view"], step["shows"]
    copy = copies.setdefault(session, Copy())
    changes = copy.follow(connection, session)
    whole = connection.view(session)
    if (whole is None) != (changes is None):
        raise Difference(f"{at}: a view with changes and without itself")
    if whole is None:
        del copies[session]
    if (whole is None) != (shows is None):
        raise Difference(f"{at}: the view is {whole!r}")
    if whole is None:
        return
    if not same(copy.whole(), whole):
        raise Difference(f"{at}: read bit by bit it is\n  {copy.whole()}\nand it is\n  {whole}")
    beside = {
        "busy": bool(whole["prompts"]) or whole["state"] not in ("idle", "unknown"),
        "changed": [head["index"] for head in changes["entries"]],
        "removed": changes["removed"],
        "members": [name for name in changes if name not in (*LISTS, *OF_CHANGES, "revision", "epoch")],
        "reset": changes["reset"],
    }
    holds(shows, {**whole, **beside}, at)
