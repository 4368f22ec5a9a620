"""Python objects to JSON and back: exact, or refused with the place."""

import enum
import json
import unittest
from decimal import Decimal
from typing import Any

import libacp
from pair import ready


class Level(enum.IntEnum):
    HIGH = 3


class Name(str):
    def __str__(self) -> str:
        return "another"


class Values(unittest.TestCase):
    def setUp(self) -> None:
        self.pair = ready()

    def sent(self, params: Any) -> bytes:
        self.pair.client.request("_x/y", params)
        return self.pair.client.transmit()

    def echo(self, value: Any) -> Any:
        self.pair.client.request("_x/y", {"value": value})
        return self.pair.one(self.pair.client).params["value"]

    def test_values_come_as_they_went(self) -> None:
        values: "list[Any]" = [None, True, False, 0, -1, 2**53 + 1, 2**64, -(2**200), 0.1, 1e300, -0.0, 5e-324, 1e16]
        values += ["", "é\u2028\x00\x1f\x7f\"\\/\U0001f980", [], {}, [1, [2, {"a": [None]}]], {"": "", "a/b~c": 1}]
        for value in values:
            found = self.echo(value)
            self.assertEqual(repr(found), repr(value))

    def test_tuples_and_subclasses(self) -> None:
        self.assertEqual(self.echo((1, (2,))), [1, [2]])
        found = self.echo([Level.HIGH, Name("plain")])
        self.assertEqual([(type(item), item) for item in found], [(int, 3), (str, "plain")])

    def test_text_is_compact_and_in_order(self) -> None:
        self.assertIn(b'"params":{"b":1,"a":[true,null,"\xc3\xa9"]}', self.sent({"b": 1, "a": [True, None, "é"]}))

    def test_no_params_are_an_empty_object(self) -> None:
        self.pair.client.request("_x/y")
        self.assertEqual(self.pair.one(self.pair.client).params, {})

    def test_what_has_no_json_is_refused_with_its_place(self) -> None:
        wrong: "list[tuple[Any, str, str, str]]" = [
            ({"a": {1}}, "/a", "RPC-21", "found set"),
            ({"a": [0, b"x"]}, "/a/1", "RPC-21", "found bytes"),
            ({"a/b": {"~": object()}}, "/a~1b/~0", "RPC-21", "found object"),
            ({"a": float("nan")}, "/a", "RPC-21", "finite"),
            ({"a": float("-inf")}, "/a", "RPC-21", "finite"),
            ({"a": {1: 2}}, "/a", "RPC-21", "key of type str, found int"),
            ({"a": {None: 2}}, "/a", "RPC-21", "key of type str, found NoneType"),
            ({"a": ["x\ud83d"]}, "/a/0", "FRAME-01", "surrogate"),
            ({"a": {"\udc00": 1}}, "/a", "FRAME-01", "surrogate"),
        ]
        for params, pointer, rule, message in wrong:
            with self.assertRaises(libacp.ParamsMisuse) as raised:
                self.pair.client.request("_x/y", params)
            misuse = raised.exception
            self.assertEqual((misuse.pointer, misuse.rule), (pointer, rule))
            self.assertIn(message, misuse.message)
        self.assertEqual(self.pair.client.data_to_send(), b"")
        self.assertEqual(self.pair.client.pending, [])

    def test_endless_nesting_is_refused(self) -> None:
        ring: "dict[str, Any]" = {}
        ring["ring"] = [ring]
        with self.assertRaises(libacp.LimitMisuse):
            self.pair.client.request("_x/y", ring)

    def test_broken_text_outside_params(self) -> None:
        with self.assertRaises(libacp.MethodMisuse):
            self.pair.client.request("_x/\ud800")
        self.pair.client.request("_x/y")
        request = self.pair.one(self.pair.client)
        with self.assertRaises(libacp.ParamsMisuse):
            self.pair.agent.respond_error(request, 1, "\ud800")
        with self.assertRaises(libacp.ParamsMisuse):
            self.pair.agent.respond(request, {"a": "\ud800"})
        self.assertEqual(len(self.pair.agent.unanswered), 1)

    def test_half_surrogate_pairs_of_the_peer_do_not_reach_the_host(self) -> None:
        self.pair.agent.receive_data(b'{"jsonrpc":"2.0","method":"_x/y","params":{"a":"\\ud83d","b":"\\ud83e\\udd80"}}\n')
        note: Any = list(self.pair.agent.events())[-1]
        self.assertEqual(note.params, {"a": "\ufffd", "b": "🦀"})

    def test_numbers_longer_than_python_reads(self) -> None:
        digits = b"9" * 5000
        self.pair.agent.receive_data(b'{"jsonrpc":"2.0","method":"_x/y","params":{"a":' + digits + b',"b":18446744073709551617}}\n')
        note: Any = list(self.pair.agent.events())[-1]
        self.assertEqual(note.params["b"], 2**64 + 1)
        self.assertEqual((type(note.params["a"]), note.params["a"]), (int, 10**5000 - 1))
        self.assertIn("9" * 5000, note.params_json)

    def test_integers_are_exact_at_any_size(self) -> None:
        for number in (10**4300, -(10**4300), 10**5000 + 7, -(10**19_000) - 7):
            found = self.echo({"a": [number, 1]})
            self.assertEqual((type(found["a"][0]), found), (int, {"a": [number, 1]}))

    def test_integers_of_a_whole_frame_cost_no_more_than_their_text(self) -> None:
        for sign in ("", "-"):
            digits = sign + "7" * 2_000_000
            self.pair.agent.receive_data(b'{"jsonrpc":"2.0","method":"_x/y","params":{"a":' + digits.encode() + b"}}\n")
            note: Any = list(self.pair.agent.events())[-1]
            self.assertEqual((type(note.params["a"]), note.params["a"]), (Decimal, Decimal(digits)))

    def test_integers_of_20000_digits_are_the_longest_that_are_read(self) -> None:
        for sign in ("", "-"):
            longest, longer = (sign + "9" * digits for digits in (20_000, 20_001))
            text = f'{{"jsonrpc":"2.0","method":"_x/y","params":[{longest},{longer}]}}\n'
            self.pair.agent.receive_data(text.encode())
            note: Any = list(self.pair.agent.events())[-1]
            self.assertEqual([type(each) for each in note.params], [int, Decimal], sign)
            self.assertEqual((Decimal(note.params[0]), note.params[1]), (Decimal(longest), Decimal(longer)))

    def test_params_are_read_once(self) -> None:
        self.pair.client.request("_x/y", {"a": [1]})
        request = self.pair.one(self.pair.client)
        self.assertIs(request.params, request.params)
        self.assertEqual(json.loads(request.params_json), request.params)


class Raw(unittest.TestCase):
    def test_raw_text_is_sent_as_it_is(self) -> None:
        pair = ready()
        for text in ('{"a": 1.0, "b":1e2}', b'{"a": 1.0, "b":1e2}'):
            pair.client.request("_x/y", libacp.RawJson(text))
            self.assertIn(b'"params":{"a": 1.0, "b":1e2}', pair.client.data_to_send())

    def test_raw_text_is_checked(self) -> None:
        client = ready().client
        for text in ("{", "{}{}", '{"a":NaN}', "", '{},"id":5'):
            with self.assertRaises(libacp.ParamsMisuse):
                client.request("_x/y", libacp.RawJson(text))
        with self.assertRaises(libacp.ParamsMisuse):
            libacp.RawJson(b"\xff")
        with self.assertRaises(libacp.ParamsMisuse):
            libacp.RawJson("\ud800")
        with self.assertRaisesRegex(TypeError, "str or bytes, found dict"):
            libacp.RawJson({})  # type: ignore[arg-type]
        self.assertEqual(client.data_to_send(), b"")

    def test_raw_text_in_the_middle_is_no_value(self) -> None:
        with self.assertRaises(libacp.ParamsMisuse) as raised:
            ready().client.request("_x/y", {"a": libacp.RawJson("1")})
        self.assertEqual(raised.exception.pointer, "/a")


if __name__ == "__main__":
    unittest.main()
