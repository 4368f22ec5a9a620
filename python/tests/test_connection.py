"""The connection: what goes in, what comes out, what it knows."""

import unittest
from typing import Any, get_type_hints

import libacp
from libacp.names import ConnectionSnapshot, SessionSnapshot
from pair import AGENT, CLIENT, Pair, line, ready, with_session


class Handshake(unittest.TestCase):
    def test_both_sides_know_each_other(self) -> None:
        pair = Pair()
        self.assertEqual((pair.client.phase, pair.client.version, pair.client.capabilities), ("start", None, {}))
        request, response = pair.call(pair.client, "initialize", CLIENT, AGENT)
        self.assertEqual(request.params, {"protocolVersion": 1, **CLIENT})
        self.assertEqual(response.result(), {"protocolVersion": 1, **AGENT})
        for side, own, peer in ((pair.client, CLIENT, AGENT), (pair.agent, AGENT, CLIENT)):
            self.assertEqual((side.phase, side.version), ("ready", 1))
            self.assertEqual(side.own_capabilities, next(iter(own.values())))
            self.assertEqual(side.capabilities, next(iter(peer.values())))
            self.assertEqual(side.peer_info, {"protocolVersion": 1, **peer})
        self.assertEqual((pair.client.role, pair.agent.role), ("client", "agent"))

    def test_version_2_where_both_want_it(self) -> None:
        pair = ready(
            client={"capabilities": {}, "info": {"name": "c", "version": "1"}},
            agent={"capabilities": {}, "info": {"name": "a", "version": "1"}},
            versions=(1, 2),
        )
        self.assertEqual((pair.client.version, pair.agent.version), (2, 2))

    def test_config_is_what_was_asked_for(self) -> None:
        limits = libacp.Limits(frame=4096, pending=2, remembered=3, view_output=9)
        connection = libacp.Connection(
            "agent",
            framing="content-length",
            policy="strict",
            policies={"error": "tolerant", "note": "off"},
            limits=limits,
            versions=iter([2, 1]),
            drafts=iter(["nes", "session_fork"]),
            timeout=5,
            reminder=6,
            prompt_queueing=True,
            foreign_methods=iter(["vendor/x", "y"]),
            view=True,
        )
        config = connection.config
        self.assertEqual((config.role, config.framing, config.policy), ("agent", "content-length", "strict"))
        self.assertEqual((config.limits, config.versions, config.timeout, config.reminder), (limits, (1, 2), 5, 6))
        self.assertEqual(config.drafts, ("session_fork", "nes"))
        self.assertEqual((config.prompt_queueing, config.foreign_methods), (True, ("vendor/x", "y")))
        self.assertIn("prompt_queueing=True, foreign_methods=('vendor/x', 'y'), view=True", repr(config))
        self.assertEqual((config.view, libacp.Connection("agent").config.view), (True, False))
        self.assertEqual(config.policies, {"note": "off", "error": "tolerant"})
        self.assertIn("policies={'note': 'off', 'error': 'tolerant'}", repr(config))
        self.assertEqual(libacp.Connection("agent").config.policies, {})
        self.assertEqual(libacp.Connection("agent").config.versions, (1,))
        self.assertEqual(libacp.Connection("agent", versions={2}).config.versions, (2,))
        self.assertIn("versions=(1, 2)", repr(config))
        self.assertEqual(libacp.Connection("agent", policy="off").config.policy, "off")
        self.assertEqual((limits.frame, limits.pending, limits.depth), (4096, 2, libacp.Limits().depth))
        self.assertEqual((limits.remembered, libacp.Limits().remembered), (3, 4096))
        self.assertEqual((limits.view_output, limits.view_entries, limits.view_bytes), (9, 4096, 16 << 20))
        self.assertIn("remembered=3, view_entries=4096", repr(limits))

    def test_a_wrong_config_is_refused(self) -> None:
        wrong: "list[tuple[dict[str, Any], str]]" = [
            ({"role": "server"}, "role.*client.*agent.*server"),
            ({"framing": "json"}, "framing.*lines.*json"),
            ({"policy": "lax"}, "policy.*tolerant.*lax"),
            ({"policies": {"info": "off"}}, "policies: .*note.*warning.*error.*info"),
            ({"policies": {"note": "lax"}}, "policies/note: .*tolerant.*strict.*off.*lax"),
            ({"drafts": ["nope"]}, "drafts.*nope"),
            ({"versions": []}, "versions: .*at least one"),
            ({"versions": [1, 3]}, "versions: .*no version 3"),
            ({"versions": (-1,)}, "versions: .*no version -1"),
            ({"foreign_methods": ["session/new"]}, "foreign_methods.*session/new"),
            ({"foreign_methods": ["_x"]}, "foreign_methods.*underscore"),
            ({"foreign_methods": ["rpc.x"]}, "foreign_methods.*rpc"),
            ({"foreign_methods": [""]}, "foreign_methods"),
        ]
        for arguments, message in wrong:
            with self.assertRaisesRegex(ValueError, message):
                libacp.Connection(**{"role": "client", **arguments})
        none: "list[Any]" = ["12", 2, [1.5], [None]]
        for versions in none:
            with self.assertRaisesRegex(TypeError, "versions: expected whole numbers"):
                libacp.Connection("client", versions=versions)
        with self.assertRaisesRegex(TypeError, "drafts"):
            libacp.Connection("client", drafts="nes")
        with self.assertRaisesRegex(TypeError, "foreign_methods"):
            libacp.Connection("client", foreign_methods="vendor/x")
        others: "list[Any]" = [({"note": None}, "value, found NoneType"), ({1: "off"}, "key, found int"), ("off", "found str")]
        for other, message in others:
            with self.assertRaisesRegex(TypeError, f"policies: .*{message}"):
                libacp.Connection("client", policies=other)


class Bytes(unittest.TestCase):
    def test_any_split_gives_the_same_events(self) -> None:
        data = line("initialize", {"protocolVersion": 1, **CLIENT}, 0) + b"{oops\n" + line("_x/y", {}, "é")
        whole, split = libacp.Connection("agent"), libacp.Connection("agent")
        whole.receive_data(data)
        events = list(whole.events())
        for byte in data:
            split.receive_data(bytes([byte]))
        self.assertEqual(list(split.events()), events)
        self.assertEqual([type(event) for event in events], [libacp.Request, libacp.Violation, libacp.Violation])

    def test_kinds_of_bytes(self) -> None:
        data = line("initialize", {"protocolVersion": 1}, 1)
        for kind in (bytes, bytearray, memoryview, lambda data: memoryview(bytearray(data + data))[: len(data)]):
            agent = libacp.Connection("agent")
            agent.receive_data(kind(data))
            self.assertIsInstance(agent.next_event(), libacp.Request)
        for wrong in ("text", 5, None, [1, 2]):
            with self.assertRaisesRegex(TypeError, "bytes, bytearray or memoryview"):
                libacp.Connection("agent").receive_data(wrong)  # type: ignore[arg-type]

    def test_partial_writes(self) -> None:
        client = libacp.Connection("client")
        client.request("initialize", CLIENT)
        whole = client.transmit()
        sent = b""
        while piece := client.transmit(7):
            self.assertLessEqual(len(piece), 7)
            client.consume(len(piece[:5]))
            sent += piece[:5]
        self.assertEqual(sent, whole)
        self.assertEqual(client.data_to_send(), b"")

    def test_data_to_send_takes_all(self) -> None:
        pair = with_session()
        for _ in range(3):
            pair.agent.notify("session/update", update("x"))
        data = pair.agent.data_to_send()
        self.assertEqual((data.count(b"\n"), pair.agent.transmit()), (3, b""))

    def test_other_framings(self) -> None:
        pair = with_session(framing="content-length")
        pair.agent.notify("session/update", update("é"))
        self.assertRegex(pair.agent.transmit(), rb"\AContent-Length: \d+\r\n\r\n\{")
        self.assertEqual(pair.one(pair.agent).update, "agent_message_chunk")
        pair = with_session(framing="messages")
        pair.agent.notify("session/update", update("a\nb"))
        pair.agent.notify("session/update", update("c"))
        self.assertEqual(pair.agent.transmit()[-1:], b"}")
        self.assertEqual([event.params["update"]["content"]["text"] for event in _notes(pair)], ["a\nb", "c"])

    def test_buffered_is_what_was_not_read(self) -> None:
        agent = libacp.Connection("agent")
        agent.receive_data(b"x" * 10)
        self.assertEqual(agent.buffered, 10)


def update(text: str) -> "dict[str, object]":
    content = {"type": "text", "text": text}
    return {"sessionId": "s-1", "update": {"sessionUpdate": "agent_message_chunk", "content": content}}


def _notes(pair: Pair) -> "list[Any]":
    return list(pair.pump(pair.agent))


class Turn(unittest.TestCase):
    def setUp(self) -> None:
        self.pair = with_session()
        self.client, self.agent = self.pair.client, self.pair.agent

    def prompt(self) -> Any:
        self.client.request("session/prompt", {"sessionId": "s-1", "prompt": [{"type": "text", "text": "Hi"}]})
        return self.pair.one(self.client)

    def test_a_turn(self) -> None:
        prompt = self.prompt()
        self.assertEqual((prompt.method, prompt.session), ("session/prompt", "s-1"))
        self.assertEqual(self.agent.sessions["s-1"].turn, "running")
        self.agent.notify("session/update", update("🦀\u2028"))
        self.agent.respond(prompt, {"stopReason": "end_turn"})
        note, response = self.pair.pump(self.agent)
        assert isinstance(note, libacp.Notification) and isinstance(response, libacp.Response)
        self.assertEqual((note.update, note.timing, note.session), ("agent_message_chunk", "turn", "s-1"))
        self.assertEqual(note.params, update("🦀\u2028"))
        self.assertEqual((response.outcome, response.result()), ("result", {"stopReason": "end_turn"}))
        session = self.client.session("s-1")
        assert session is not None
        self.assertEqual((session.state, session.turn, session.terminals), ("ready", "idle", {}))
        self.assertIsNone(self.client.session("s-2"))

    def test_cancelling_answers_permission_requests(self) -> None:
        prompt = self.prompt()
        options = [{"optionId": "y", "name": "Yes", "kind": "allow_once"}]
        ask = {"sessionId": "s-1", "toolCall": {"toolCallId": "t"}, "options": options}
        asked = self.agent.request("session/request_permission", ask)
        request = self.pair.one(self.agent)
        self.client.notify("session/cancel", {"sessionId": "s-1"})
        (answered,) = list(self.client.events())
        assert isinstance(answered, libacp.Answered)
        self.assertEqual((answered.id, answered.serial, answered.rule), (request.id, request.serial, "CANCEL-03"))
        with self.assertRaises(libacp.IdMisuse):
            self.client.respond(request, {"outcome": {"outcome": "selected", "optionId": "y"}})
        events: Any = self.pair.pump(self.client)
        self.assertEqual({type(event) for event in events}, {libacp.Notification, libacp.Response})
        response = next(event for event in events if isinstance(event, libacp.Response))
        self.assertEqual((response.id, response.result()), (asked, {"outcome": {"outcome": "cancelled"}}))
        self.agent.respond_error(prompt, libacp.ErrorCode.INTERNAL_ERROR, "aborted")
        self.assertEqual(self.pair.one(self.agent).result(), {"stopReason": "cancelled"})

    def test_terminals_are_tracked(self) -> None:
        self.prompt()
        create = {"sessionId": "s-1", "command": "true"}
        self.pair.call(self.agent, "terminal/create", create, {"terminalId": "t-1"})
        self.assertEqual(self.agent.open_terminals, [libacp.TerminalRef("s-1", "t-1")])
        self.assertEqual(self.client.sessions["s-1"].terminals, {"t-1": False})
        self.client.receive_eof()
        closed: Any = list(self.client.events())[-1]
        self.assertEqual(closed.terminals, (libacp.TerminalRef("s-1", "t-1"),))
        self.assertEqual((closed.reason, closed.unanswered), ("end_of_stream", ()))


class Requests(unittest.TestCase):
    def test_a_cancelled_request_is_still_answered(self) -> None:
        pair = ready()
        own = pair.client.request("_x/slow", {}, id="mine")
        request = pair.one(pair.client)
        pair.client.cancel(own)
        pair.client.cancel(own)
        cancel = pair.one(pair.client)
        self.assertEqual((cancel.id, cancel.method, cancel.serial), ("mine", "_x/slow", request.serial))
        self.assertTrue(pair.agent.unanswered[0].cancelled)
        pair.agent.respond_error(cancel, libacp.ErrorCode.REQUEST_CANCELLED, "stopped", {"at": [1]})
        response = pair.one(pair.agent)
        self.assertEqual((response.outcome, response.result_json), ("error", None))
        self.assertEqual((response.error.code, response.error.data), (-32800, {"at": [1]}))
        with self.assertRaisesRegex(libacp.PeerError, r"stopped \(-32800\)"):
            response.result()

    def test_time(self) -> None:
        pair = ready(timeout=1000)
        pair.client.handle_timeout(50)
        slow = pair.client.request("_x/slow")
        quick = pair.client.request("_x/quick", timeout=10)
        self.assertEqual([request.deadline for request in pair.client.pending], [1050, 60])
        self.assertEqual(pair.client.poll_timeout(), 60)
        pair.client.handle_timeout(60)
        event: Any = pair.client.next_event()
        self.assertEqual((event.id, event.outcome), (quick, "timeout"))
        with self.assertRaises(libacp.NoResult) as raised:
            event.result()
        self.assertEqual((raised.exception.outcome, raised.exception.method), ("timeout", "_x/quick"))
        self.assertEqual([request.id for request in pair.client.pending], [slow])

    def test_a_call_that_waits_for_ever(self) -> None:
        pair = ready(timeout=1000)
        pair.client.request("_x/a", timeout=None)
        pair.client.request("_x/b")
        self.assertEqual([request.deadline for request in pair.client.pending], [None, 1000])
        for wrong in (-1, 1.5, "1"):
            with self.assertRaises((TypeError, OverflowError)):
                pair.client.request("_x/c", timeout=wrong)  # type: ignore[arg-type]

    def test_params_of_an_extension_are_an_object_or_a_list(self) -> None:
        pair = ready()
        for params in (5, "s", True, 1.5):
            for call in (pair.client.request, pair.client.notify):
                with self.assertRaises(libacp.Misuse) as caught:
                    call("_x", params)  # type: ignore[arg-type]
                self.assertEqual(caught.exception.rule, "RPC-19")
        pair.client.request("_x", [1])  # type: ignore[arg-type]
        pair.client.request("_x", None)
        self.assertEqual([event.params for event in pair.pump(pair.client)], [[1], {}])  # type: ignore[union-attr]

    def test_a_reminder(self) -> None:
        pair = ready(reminder=20)
        pair.client.request("_x/slow", id="a")
        request = pair.one(pair.client)
        self.assertEqual((pair.agent.poll_timeout(), pair.agent.unanswered[0].deadline), (20, 20))
        pair.agent.handle_timeout(20)
        advice: Any = pair.agent.next_event()
        self.assertEqual((advice.rule, advice.id, advice.method), ("RPC-15", "a", "_x/slow"))
        self.assertIsNone(pair.agent.poll_timeout())
        pair.agent.respond(request, {})

    def test_an_event_names_one_request_and_not_a_later_one_with_its_id(self) -> None:
        pair = ready()
        pair.client.request("_x/y", {"n": 1}, id=7)
        first = pair.one(pair.client)
        pair.agent.respond(first, {})
        pair.pump(pair.agent)
        pair.client.request("_x/y", {"n": 2}, id=7)
        second = pair.one(pair.client)
        self.assertNotEqual(first.serial, second.serial)
        with self.assertRaises(libacp.IdMisuse) as raised:
            pair.agent.respond(first, {})
        self.assertEqual(raised.exception.rule, "RPC-15")
        self.assertEqual(pair.agent.data_to_send(), b"")
        (open_request,) = pair.agent.unanswered
        self.assertEqual(pair.agent.unanswered_by_serial(second.serial), open_request)
        self.assertEqual((open_request.id, open_request.method, open_request.session), (7, "_x/y", None))
        pair.agent.respond(open_request, {})
        self.assertIsNone(pair.agent.unanswered_by_serial(second.serial))

    def test_pending_by_serial(self) -> None:
        pair = ready()
        pair.client.request("_x/y")
        (request,) = pair.client.pending
        self.assertEqual(pair.client.pending_by_serial(request.serial), request)
        self.assertIsNone(pair.client.pending_by_serial(request.serial + 1))

    def test_ids_are_exact(self) -> None:
        for id in (0, -1, 2**53 + 1, 2**63 - 1, -(2**63), "1", "", "é\n\U0001f980"):
            pair = ready()
            self.assertEqual(pair.client.request("_x/y", id=id), id)
            request = pair.one(pair.client)
            self.assertEqual((type(request.id), request.id), (type(id), id))
            pair.agent.respond(request.id, {})
            self.assertEqual(pair.one(pair.agent).id, id)

    def test_null_is_an_id_and_no_id_is_none(self) -> None:
        agent = ready().agent
        agent.receive_data(b'{"jsonrpc":"2.0","id":null,"method":"_x/y"}\n{\n')
        violation, request, garbage = list(agent.events())
        assert isinstance(violation, libacp.Violation) and isinstance(garbage, libacp.Violation)
        assert isinstance(request, libacp.Request)
        self.assertEqual((violation.id, violation.has_id), (None, True))
        self.assertEqual((garbage.id, garbage.has_id), (None, False))
        self.assertIsNone(request.id)
        agent.data_to_send()
        agent.respond(request, {})
        self.assertIn(b'"id":null', agent.data_to_send())

    def test_ids_that_are_none(self) -> None:
        client = ready().client
        for wrong, rule in ((None, "RPC-07"), (2**63, "RPC-06"), (1.5, "RPC-08"), ("\ud800", "FRAME-01")):
            with self.assertRaises(libacp.IdMisuse) as raised:
                client.request("_x/y", id=wrong)  # type: ignore[arg-type]
            self.assertEqual(raised.exception.rule, rule)
        others: "list[Any]" = [True, b"1", [1]]
        for other in others:
            with self.assertRaisesRegex(TypeError, "int, str or None"):
                client.request("_x/y", id=other)
        self.assertEqual(client.pending, [])

    def test_close(self) -> None:
        pair = ready()
        own = pair.client.request("_x/y")
        pair.client.close()
        response, closed = list(pair.client.events())
        assert isinstance(response, libacp.Response) and isinstance(closed, libacp.Closed)
        self.assertEqual((response.id, response.outcome, closed.reason), (own, "closed", "host"))
        self.assertEqual(pair.client.phase, "closed")
        self.assertIsNone(pair.client.next_event())
        self.assertRaises(libacp.PhaseMisuse, pair.client.request, "_x/y")

    def test_what_is_known_of_it_as_a_whole(self) -> None:
        start: "dict[str, Any]" = {"phase": "start", "version": None, "login": "unknown", "loginMethods": []}
        lists: "dict[str, Any]" = {"openElicitations": [], "providers": []}
        client = libacp.Connection("client")
        self.assertEqual(client.snapshot(), {**start, **lists})
        self.assertEqual(list(get_type_hints(ConnectionSnapshot)), list(client.snapshot()))
        self.assertIsNone(client.peer_extension("x.example"))
        methods = [{"id": "web", "name": "Web"}, {"id": "tty", "name": "T", "type": "terminal"}]
        meta = {"x.example": {"level": 2}, "y.example": True}
        pair = Pair()
        told = {"clientCapabilities": {"auth": {"terminal": True}}}
        pair.call(pair.client, "initialize", told, {"agentCapabilities": {"_meta": meta}, "authMethods": methods})
        known = [{"methodId": "web", "kind": "agent"}, {"methodId": "tty", "kind": "terminal"}]
        for side in (pair.client, pair.agent):
            ready = {"phase": "ready", "version": 1, "login": "unknown", "loginMethods": known}
            self.assertEqual(side.snapshot(), {**ready, **lists})
        self.assertEqual(pair.client.peer_extension("x.example"), {"level": 2})
        self.assertIs(pair.client.peer_extension("y.example"), True)
        self.assertIsNone(pair.client.peer_extension("z.example"))
        self.assertIsNone(pair.agent.peer_extension("x.example"))

    def test_can_and_why_not(self) -> None:
        pair = ready(client={})
        self.assertTrue(pair.client.can("session/new"))
        self.assertIsNone(pair.client.why_not("session/new"))
        self.assertFalse(pair.agent.can("fs/read_text_file"))
        why = pair.agent.why_not("fs/read_text_file")
        self.assertIsInstance(why, libacp.CapabilityMisuse)
        with self.assertRaises(libacp.CapabilityMisuse) as raised:
            pair.agent.request("fs/read_text_file", {"sessionId": "s", "path": "/a"})
        self.assertEqual(str(raised.exception), str(why))

    def test_repr(self) -> None:
        pair = ready()
        self.assertEqual(repr(pair.client), "<libacp.Connection client ready version=1 pending=0 unanswered=0>")
        self.assertEqual(repr(libacp.Connection("agent")), "<libacp.Connection agent start pending=0 unanswered=0>")


class Sessions(unittest.TestCase):
    EMPTY: "dict[str, Any]" = {
        "state": "ready",
        "turn": "idle",
        "stopReason": None,
        "error": None,
        "background": None,
        "terminals": {},
        "cwd": "/work",
        "roots": ["/work"],
        "modes": None,
        "configOptions": None,
        "toolCalls": [],
        "displayTerminals": [],
        "cancellable": {"toolCalls": [], "terminals": []},
        "plan": None,
        "planIds": [],
        "commands": None,
        "openCompactions": [],
        "authUncertain": False,
        "parent": None,
        "mayCancel": True,
    }

    def test_a_snapshot_is_all_that_is_known(self) -> None:
        pair = with_session()
        for side in (pair.client, pair.agent):
            self.assertEqual(side.session_snapshot("s-1"), self.EMPTY)
            self.assertIsNone(side.session_snapshot("s-2"))
        entries = [{"content": "é", "priority": "low", "status": "pending"}]
        update: Any = {"sessionUpdate": "plan", "entries": entries}
        pair.agent.notify("session/update", {"sessionId": "s-1", "update": update})
        update = {"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T"}
        pair.agent.notify("session/update", {"sessionId": "s-1", "update": update})
        pair.pump(pair.agent)
        for side in (pair.client, pair.agent):
            snapshot = side.session_snapshot("s-1")
            calls = [{"toolCallId": "t", "status": "pending"}]
            self.assertEqual(snapshot, {**self.EMPTY, "plan": entries, "toolCalls": calls})
            self.assertIsNot(snapshot, side.session_snapshot("s-1"))

    def test_its_members_are_the_documented_ones(self) -> None:
        hints = get_type_hints(SessionSnapshot)
        self.assertEqual(list(hints), list(self.EMPTY))

    def test_commands_and_directories(self) -> None:
        client = with_session().client
        self.assertIsNone(client.command_text("s-1", "web"))
        commands = [{"name": "web", "description": "Searches"}]
        update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
        client.receive_data(line("session/update", {"sessionId": "s-1", "update": update}))
        self.assertEqual([event.method for event in client.events() if hasattr(event, "method")], ["session/update"])
        self.assertEqual(client.command_text("s-1", "web"), "/web")
        self.assertEqual(client.command_text("s-1", "web", input="a b"), "/web a b")
        self.assertIsNone(client.command_text("s-2", "web"))
        self.assertTrue(client.in_roots("s-1", "/work/x"))
        self.assertFalse(client.in_roots("s-1", "/work/../x") or client.in_roots("s-2", "/work"))

    def test_output_is_cut_from_the_front(self) -> None:
        self.assertEqual(libacp.cut_output("12 €", 5), {"output": "2 €", "truncated": True})
        self.assertEqual(libacp.cut_output("12 €", 6), {"output": "12 €", "truncated": False})
        with self.assertRaises(libacp.ParamsMisuse) as raised:
            libacp.cut_output("\ud800", 6)
        self.assertEqual((raised.exception.rule, raised.exception.pointer), ("FRAME-01", "/output"))
        with self.assertRaises(OverflowError):
            libacp.cut_output("a", -1)


if __name__ == "__main__":
    unittest.main()
