"""What has changed in a view: since a revision, and for somebody who follows it; what it costs, and what is given up."""

import random
import sys
import time
import unittest
from typing import Any, Dict, Iterator, List, Optional, Tuple

import libacp
from libacp import view
from test_observer import RECORDINGS, records
from viewing import SESSION, Client, message


class Since(unittest.TestCase):
    def test_what_is_drawn_again(self) -> None:
        client = Client()
        seen = client.view
        client.prompt("Hello?")
        first = seen.since(0)
        self.assertTrue(first.reset and first)
        self.assertEqual(([each.index for each in first.entries], first.revision), ([0], seen.revision))
        self.assertLessEqual({"state", "prompts", "turn"}, first.names)
        self.assertFalse(seen.since(first.revision))
        client.say("Good ")
        client.update("session_info_update", title="Greetings")
        second = seen.since(first.revision)
        self.assertEqual((second.reset, second.entries, second.names, second.removed), (False, (seen.entries[1],), {"title"}, ()))
        self.assertIs(second.view, seen)
        # Somebody who was away for longer.
        self.assertEqual([each.index for each in seen.since(first.revision - 1).entries], [1])
        self.assertEqual(seen.since(0).entries, seen.entries)
        # And somebody who has looked meanwhile.
        self.assertEqual(len(seen.entries), 2)
        self.assertEqual(seen.since(first.revision).entries, second.entries)
        with self.assertRaisesRegex(ValueError, "View.follow"):
            second.added(message(second.entries[0]))

    def test_two_follow(self) -> None:
        client = Client()
        seen = client.view
        one, two = seen.follow(), seen.follow()
        first = one.take()
        assert first is not None
        self.assertEqual((first.reset, first.entries, first.names), (True, (), frozenset(libacp._mirror.MEMBERS)))
        self.assertIsNone(one.take())
        client.say("a")
        self.assertEqual(self.added(one), ["a"])
        self.assertIsNone(one.take())
        client.say("b")
        self.assertEqual(message(seen.entries[0]).text, "ab")
        client.say("c")
        self.assertEqual(self.added(one), ["bc"])
        client.say("d")
        client.prompt("Hello?")
        self.assertEqual((self.added(two), self.added(one), self.added(two)), (["abcd", "Hello?"], ["d", "Hello?"], []))
        client.say("e")
        self.assertEqual(self.added(one), ["e"])
        client.say("f")
        self.assertEqual((self.added(two), self.added(one)), (["ef"], ["f"]))
        client.update("plan", entries=[])
        client.say("g")
        # One has what two has not, and reads first what nobody has.
        late = seen.follow()
        self.assertEqual((self.added(late), self.added(one)), (["abcd", "Hello?", "ef", "g"], ["g"]))

    def test_what_was_there_before(self) -> None:
        client = Client()
        follower = client.view.follow()
        client.update("tool_call", toolCallId="t", title="Dig")
        first = follower.take()
        assert first is not None
        self.assertEqual(first.before, {})
        client.update("tool_call_update", toolCallId="t", status="completed")
        client.say("Done")
        second = follower.take()
        assert second is not None
        self.assertEqual(second.before, {0: first.entries[0]})
        self.assertEqual(repr(second), "<Changes 2..4: 2 entries, 0 terminals, 0 removed>")
        self.assertEqual(repr(first), "<Changes 0..2: 1 entries, 0 terminals, 0 removed, reset>")

    def added(self, follower: view.Follower) -> List[str]:
        changes = follower.take()
        return [] if changes is None else [changes.added(each) for each in changes.entries if isinstance(each, view.Message)]


class GivenUp(unittest.TestCase):
    def test_a_load_puts_another_conversation_in_its_place(self) -> None:
        client = Client()
        seen = client.view
        follower = seen.follow()
        client.say("old")
        client.update("tool_call", toolCallId="t", title="Dig")
        self.assertIsNotNone(follower.take())
        before = seen.entries
        client.connection.request("session/load", {"sessionId": SESSION, "cwd": "/work", "mcpServers": []})
        client.say("ne")
        self.assertEqual((seen.entries, seen.replaying), (before, True))
        client.say("w")
        client.answer({})
        changes = follower.take()
        assert changes is not None
        self.assertEqual((changes.reset, changes.before, seen.epoch, seen.replaying), (True, {}, 1, False))
        self.assertEqual([changes.added(message(each)) for each in changes.entries], ["new"])
        self.assertEqual((len(seen.entries), seen.tool("t")), (1, None))

    def test_what_the_core_has_dropped_is_dropped(self) -> None:
        client = Client(limits=libacp.Limits(view_entries=4))
        seen = client.view
        follower = seen.follow()
        kept: Dict[int, view.Entry] = {}
        for number in range(30):
            client.update("tool_call", toolCallId=f"t-{number}", title="Dig", status="completed", rawInput="x" * 1000)
            changes = follower.take()
            assert changes is not None
            kept.update((each.index, each) for each in changes.entries)
            for index in changes.removed:
                del kept[index]
            self.assertEqual(tuple(kept.values()), seen.entries)
        snapshot = client.connection.view(SESSION)
        assert snapshot is not None
        self.assertEqual([each.index for each in seen.entries], [each["index"] for each in snapshot["entries"]])
        self.assertLess(len(seen.entries), 10)
        self.assertEqual((seen.dropped, seen.trimmed), (snapshot["dropped"], snapshot["trimmed"]))
        self.assertIsNone(seen.tool("t-0"))
        last, oldest = seen.tool("t-29"), seen.entries[0]
        assert last is not None and isinstance(oldest, view.ToolCall)
        self.assertEqual((last.trimmed, oldest.trimmed, oldest.raw_input), (False, True, None))

    def test_the_end_of_a_session(self) -> None:
        client = Client()
        seen = client.view
        client.say("Good ")
        self.assertFalse(seen.forget())
        client.connection.request("session/close", {"sessionId": SESSION})
        client.answer({})
        follower, other = seen.follow(), seen.follow()
        self.assertTrue(seen.frozen)
        revision = seen.revision
        self.assertTrue(seen.forget())
        self.assertIsNone(client.connection.view(SESSION))
        # It stays what it was.
        self.assertEqual((message(seen.entries[0]).text, seen.frozen, seen.revision), ("Good ", True, revision))
        changes = follower.take()
        assert changes is not None
        self.assertEqual((changes.entries, changes.reset), (seen.entries, True))
        self.assertIn("frozen", changes.names)
        self.assertEqual(seen.since(revision).entries, ())
        self.assertIsNotNone(other.take())
        # And then there is another one of the same name.
        client.connection.request("session/load", {"sessionId": SESSION, "cwd": "/work", "mcpServers": []})
        client.say("morning")
        client.answer({})
        changes = follower.take()
        assert changes is not None
        self.assertEqual([changes.added(message(each)) for each in changes.entries], ["morning"])
        self.assertEqual((changes.reset, len(seen.entries), seen.frozen), (True, 1, False))
        # Also for who comes after others have looked.
        changes = other.take()
        assert changes is not None
        self.assertEqual((changes.reset, changes.entries, changes.before), (True, seen.entries, {}))


class Counted:
    """A connection that counts the characters of content that are read."""

    def __init__(self, connection: libacp.Connection) -> None:
        self.config = connection.config
        self.view_revision, self.view_since = connection.view_revision, connection.view_since
        self._content = connection.view_content
        self.read = self.calls = 0

    def view_content(self, session: str, index: int, position: int) -> Any:
        found: Any = self._content(session, index, position)
        self.calls += 1
        self.read += sum(len(each["text"]) for each in found["blocks"])
        return found


class Cost(unittest.TestCase):
    def test_reading_a_message_while_it_grows_costs_as_much_as_the_message(self) -> None:
        client = Client()
        counted: Any = Counted(client.connection)
        seen = libacp.View(counted, SESSION)
        follower = seen.follow()
        joined = 0
        for number in range(100_000):
            client.say("abcde ")
            if number % 100 == 99:
                changes = follower.take()
                assert changes is not None
                joined += len(changes.added(message(changes.entries[0])))
        self.assertEqual((counted.calls, counted.read, joined), (1000, 600_000, 600_000))
        (entry,) = seen.entries
        content: Any = entry._content
        # It is not one text for each look.
        self.assertLess(len(content._parts), 300)
        text = message(entry).text
        self.assertEqual(text, "abcde " * 100_000)
        # Joined once, and kept.
        self.assertIs(message(entry).text, text)

    @unittest.skipUnless(sys.implementation.name == "cpython", "other interpreters copy a text to make it longer")
    def test_so_does_reading_all_of_its_text_each_time(self) -> None:
        client = Client()
        seen = client.view
        took: List[float] = []
        for number in range(20_000):
            client.say("abcde " * 5)
            if number % 20 == 19:
                start = time.perf_counter()
                length = len(message(seen.entries[0]).text)
                took.append(time.perf_counter() - start)
                self.assertEqual(length, 30 * (number + 1))
        early, late = (sorted(took[at : at + 200])[100] for at in (0, 800))
        # A text of 600 KB takes some fifteen times as long to copy as one of 60 KB takes in all.
        self.assertLess(late, 5 * early)

    def test_a_connection_that_is_busy_is_read_again(self) -> None:
        client = Client()
        busy: Any = Counted(client.connection)
        seen = libacp.View(busy, SESSION)
        follower = seen.follow()
        client.say("a")
        self.assertEqual(len(seen.entries), 1)
        client.say("b")
        client.prompt("Hello?")
        client.say("c")
        read, busy.view_content = busy.view_content, None
        for attempt in (lambda: seen.entries, follower.take):
            with self.assertRaises(TypeError):
                attempt()
        # One entry was read, and the next was not.
        busy.view_content = lambda session, index, position: read(session, index, position) if index == 0 else 1 / 0
        with self.assertRaises(ZeroDivisionError):
            self.assertEqual(seen.state, "")
        busy.view_content = read
        changes = follower.take()
        assert changes is not None
        self.assertEqual([message(each).text for each in changes.entries], ["ab", "Hello?", "c"])
        self.assertEqual((changes.entries, seen.state), (seen.entries, "running"))

    def test_nobody_looks(self) -> None:
        client = Client()
        counted: Any = Counted(client.connection)
        seen = libacp.View(counted, SESSION)
        for _ in range(1000):
            client.say("abcde ")
        self.assertEqual(counted.calls, 0)
        self.assertEqual((len(message(seen.entries[0]).text), counted.calls), (6000, 1))


CONTENT = {"message": "blocks", "compaction": "summary", "tool_call": "content", "terminal": "output"}


def whole(entry: Any) -> Dict[str, Any]:
    """An entry as the connection's own snapshot has it."""
    found = dict(entry._head)
    name = CONTENT.get(entry.type)
    if name is not None:
        found[name] = getattr(entry, name)
    if entry.type == "terminal":
        found["before"] = entry.before
    return found


def sessions() -> Iterator[Tuple[str, str]]:
    for path in sorted([*RECORDINGS.glob("*.jsonl"), *RECORDINGS.glob("version-2/*.jsonl")]):
        yield path.stem, str(path.relative_to(RECORDINGS).with_suffix(""))


class Recordings(unittest.TestCase):
    def test_however_often_one_looks_it_is_the_same(self) -> None:
        """Read in steps, at any time, each view is what the observer has."""
        entries = 0
        for stem, name in sessions():
            with self.subTest(stem):
                entries += self.compare(name, random.Random(stem))
        self.assertGreater(entries, 100)

    def compare(self, name: str, chance: random.Random) -> int:
        observer = libacp.Observer(view=True)
        views: Dict[str, libacp.View] = {}
        kept: Dict[str, Dict[int, view.Entry]] = {}
        followers: Dict[str, view.Follower] = {}
        for side, data in records(name):
            observer.receive_data(side, data)
            list(observer.events())
            for id in observer.views:
                if id not in views:
                    views[id] = libacp.View(observer, id)
                    followers[id], kept[id] = views[id].follow(), {}
                if chance.random() < 0.3:
                    self.follow(followers[id], kept[id])
        for id, seen in views.items():
            snapshot: Optional[Any] = observer.view(id)
            if snapshot is None:
                continue
            self.follow(followers[id], kept[id])
            self.assertEqual([whole(each) for each in seen.entries], snapshot["entries"])
            self.assertEqual([whole(each) for each in seen.terminals], snapshot["terminals"])
            self.assertEqual(sorted(kept[id].values(), key=lambda each: each.index), sorted((*seen.entries, *seen.terminals), key=lambda each: each.index))
            for member, (json_name, _) in libacp._mirror.MEMBERS.items():
                self.assertEqual(getattr(seen, member), snapshot[json_name], member)
            self.assertEqual((seen.revision, seen.epoch), (snapshot["revision"], snapshot["epoch"]))
        return sum(len(seen.entries) for seen in views.values())

    def follow(self, follower: view.Follower, kept: Dict[int, view.Entry]) -> None:
        changes = follower.take()
        if changes is None:
            return
        if changes.reset:
            kept.clear()
        for index in changes.removed:
            del kept[index]
        for each in (*changes.entries, *changes.terminals):
            kept[each.index] = each


if __name__ == "__main__":
    unittest.main()
