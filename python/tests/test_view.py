"""Views as Python holds them: objects that do not change, read while a conversation grows."""

import json
import unittest
from typing import Any, Dict, List

import libacp
from libacp import view
from viewing import SESSION, Client, message


class Entries(unittest.TestCase):
    def test_a_turn(self) -> None:
        client = Client()
        seen = client.view
        self.assertEqual((seen.entries, seen.state, seen.turn, seen.questions), ((), "idle", 0, []))
        client.prompt("Hello?")
        self.assertEqual((seen.state, [each["index"] for each in seen.prompts]), ("running", [0]))
        client.say("Hmm", "agent_thought_chunk")
        client.say("Good ")
        client.say("morning.")
        client.update("tool_call", toolCallId="t", title="Dig", kind="edit", rawInput={"deep": 1}, locations=[{"path": "/a"}])
        client.update("tool_call_update", toolCallId="t", status="completed", rawOutput=5)
        client.update("tool_call_update", toolCallId="t", content=[{"type": "diff", "path": "/a", "newText": "b"}])
        client.update("plan", entries=[{"content": "one", "priority": "low", "status": "pending"}])
        client.update("session_info_update", title="Holes")
        client.answer({"stopReason": "end_turn"})
        asked, thought, said, dug, plan = seen.entries
        self.assertEqual([message(each).role for each in (asked, thought, said)], ["user", "thought", "agent"])
        self.assertEqual([message(each).text for each in (asked, thought, said)], ["Hello?", "Hmm", "Good morning."])
        self.assertEqual(message(said).blocks, [{"type": "text", "text": "Good morning."}])
        assert isinstance(dug, view.ToolCall) and isinstance(plan, view.Plan)
        self.assertEqual((dug.id, dug.title, dug.kind, dug.status, dug.permission), ("t", "Dig", "edit", "completed", None))
        self.assertEqual((dug.raw_input, dug.raw_output, dug.locations), ({"deep": 1}, 5, [{"path": "/a"}]))
        self.assertEqual(dug.content, [{"type": "diff", "path": "/a", "newText": "b"}])
        self.assertEqual([each["content"] for each in plan.entries], ["one"])
        self.assertEqual((seen.title, seen.state, seen.stop_reason, seen.turn, seen.prompts), ("Holes", "idle", "end_turn", 1, []))
        self.assertIs(seen.tool("t"), dug)
        self.assertIs(seen.plan(), plan)
        self.assertEqual((seen.tool("other"), seen.message("t"), seen.terminal("t")), (None, None, None))
        self.assertEqual({each.turn for each in seen.entries}, {1})

    def test_what_has_not_changed_is_the_same_object(self) -> None:
        client = Client()
        seen = client.view
        client.prompt("Hello?")
        client.say("Good ")
        before = seen.entries
        self.assertIs(seen.entries, before)
        client.update("session_info_update", title="Greetings")
        self.assertIs(seen.entries, before)
        client.say("morning.")
        client.update("plan", entries=[])
        after = seen.entries
        self.assertIs(after[0], before[0])
        self.assertIsNot(after[1], before[1])
        # What was handed out stays what it was.
        self.assertEqual((len(before), message(before[1]).text, message(after[1]).text), (2, "Good ", "Good morning."))
        self.assertEqual(message(before[1]).blocks, [{"type": "text", "text": "Good "}])
        with self.assertRaises(AttributeError):
            setattr(after[1], "text", "")
        with self.assertRaises(AttributeError):
            setattr(after[1], "other", "")

    def test_blocks_and_what_was_added(self) -> None:
        client = Client()
        seen = client.view
        image = {"type": "image", "data": "", "mimeType": "image/png"}
        noted = {"type": "text", "text": "c", "annotations": {"priority": 1}}
        objects: List[view.Message] = []
        for block in ({"type": "text", "text": "a"}, {"type": "text", "text": "b"}, image, noted, {"type": "text", "text": "d"}):
            client.update("agent_message_chunk", content=block)
            objects.append(message(seen.entries[0]))
        self.assertEqual([each.text for each in objects], ["a", "ab", "ab", "abc", "abcd"])
        self.assertEqual([len(each.blocks) for each in objects], [1, 1, 2, 3, 4])
        self.assertEqual(objects[-1].blocks, [{"type": "text", "text": "ab"}, image, noted, {"type": "text", "text": "d"}])
        self.assertEqual([objects[-1].added(each) for each in (None, *objects)], ["abcd", "bcd", "cd", "cd", "d", ""])
        self.assertTrue(objects[-1].continues(objects[0]))
        self.assertFalse(objects[0].continues(objects[-1]))
        self.assertFalse(objects[0].continues(None))
        # Not of another entry.
        client.prompt("Hello?")
        self.assertEqual(message(seen.entries[1]).added(objects[0]), "Hello?")

    def test_a_text_that_is_replaced_is_told_anew(self) -> None:
        client = Client(version=2)
        seen = client.view
        client.say("one ", messageId="m")
        client.say("two", messageId="m")
        before = seen.message("m")
        client.update("agent_message", messageId="m", content=[{"type": "text", "text": "three"}])
        after = message(seen.message("m"))
        self.assertEqual((message(before).text, after.text, after.added(before)), ("one two", "three", "three"))
        self.assertFalse(after.continues(before))
        client.say(" four", messageId="m")
        self.assertEqual(message(seen.message("m")).added(after), " four")
        client.update("agent_message", messageId="m", content=[])
        self.assertEqual((message(seen.message("m")).text, message(seen.message("m")).blocks), ("", []))

    def test_a_terminal(self) -> None:
        client = Client()
        seen = client.view
        client.connection.respond(client.ask("terminal/create", command="ls", args=["-l"]), {"terminalId": "t-1"})
        request = client.ask("terminal/output", terminalId="t-1")
        client.connection.respond(request, {"output": "a\n", "truncated": False})
        (before,) = seen.terminals
        request = client.ask("terminal/output", terminalId="t-1")
        client.connection.respond(request, {"output": "a\nb\n", "truncated": False, "exitStatus": {"exitCode": 0}})
        (after,) = seen.terminals
        self.assertEqual((before.command, before.exit_status, before.output), ("ls -l", None, "a\n"))
        self.assertEqual((after.exit_status, after.output, after.before), ({"exitCode": 0, "signal": None}, "a\nb\n", 0))
        self.assertIs(seen.terminal("t-1"), after)
        self.assertEqual(seen.entries, ())

    def test_questions(self) -> None:
        client = Client()
        client.prompt("Dig")
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        request = client.ask("session/request_permission", toolCall={"toolCallId": "t", "title": "Dig"}, options=options)
        seen = client.view
        (question,) = seen.questions
        self.assertEqual((question["serial"], question["toolCallId"], question["params"]["options"]), (request.serial, "t", options))
        tool = seen.tool("t")
        assert tool is not None
        self.assertEqual(tool.permission, request.serial)
        client.connection.respond(request, {"outcome": {"outcome": "selected", "optionId": "y"}})
        again = seen.tool("t")
        assert again is not None
        self.assertEqual((seen.questions, again.permission), ([], None))

    def test_an_update_that_nobody_knows(self) -> None:
        client = Client(policy="off")
        client.update("weather", warm=True)
        (entry,) = client.view.entries
        assert isinstance(entry, view.Update)
        self.assertEqual((entry.kind, entry.update), ("weather", {"sessionUpdate": "weather", "warm": True}))

    def test_what_they_look_like(self) -> None:
        client = Client()
        client.prompt("x" * 100)
        client.update("tool_call", toolCallId="t", title="Dig")
        client.update("plan", entries=[])
        self.assertEqual(
            [repr(each) for each in client.view.entries],
            [f"<Message 0 user {'x' * 40!r}...>", "<ToolCall 1 't' 'Dig' pending>", "<Plan 2 'main'>"],
        )
        self.assertEqual(repr(client.view), "<View 's-1' running, 3 entries>")


class Where(unittest.TestCase):
    def test_a_connection_without_views(self) -> None:
        with self.assertRaisesRegex(ValueError, "view=True"):
            libacp.View(libacp.Connection("client"), SESSION)
        with self.assertRaisesRegex(ValueError, "this Observer keeps no views: it was made without `view=True`"):
            libacp.View(libacp.Observer(), SESSION)

    def test_before_there_is_a_session(self) -> None:
        client = libacp.Connection("client", view=True)
        seen = libacp.View(client, "other")
        self.assertEqual((seen.entries, seen.terminals, seen.revision, seen.session), ((), (), 0, "other"))
        self.assertIsNone(seen.follow().take())

    def test_an_observer(self) -> None:
        observer = libacp.Observer(view=True)
        seen = libacp.View(observer, SESSION)

        def say(side: Any, **members: Any) -> None:
            observer.receive_data(side, json.dumps({"jsonrpc": "2.0", **members}).encode() + b"\n")
            list(observer.events())

        say("client", id=0, method="initialize", params={"protocolVersion": 1, "clientCapabilities": {}})
        say("agent", id=0, result={"protocolVersion": 1, "agentCapabilities": {}})
        say("client", id=1, method="session/new", params={"cwd": "/w", "mcpServers": []})
        say("agent", id=1, result={"sessionId": SESSION})
        say("client", id=2, method="session/prompt", params={"sessionId": SESSION, "prompt": [{"type": "text", "text": "Hi"}]})
        self.assertEqual([message(each).text for each in seen.entries], ["Hi"])

    def test_values_that_were_told_again(self) -> None:
        client = Client()
        seen = client.view
        modes: Dict[str, Any] = {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]}
        commands = [{"name": "web", "description": "Search"}]
        client.update("available_commands_update", availableCommands=commands)
        self.assertEqual((seen.commands, seen.modes, seen.usage, seen.background), (commands, None, None, None))
        options = [{"id": "m", "name": "M", "type": "select", "category": "mode", "currentValue": "ask", "options": [{"value": "ask", "name": "Ask"}]}]
        client.update("config_option_update", configOptions=options)
        assert seen.config_options is not None and seen.modes is not None
        self.assertEqual(seen.config_options[0]["configId"], "m")
        self.assertEqual(seen.modes, modes)


if __name__ == "__main__":
    unittest.main()
