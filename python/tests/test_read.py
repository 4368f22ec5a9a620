"""What the module makes of JSON text, against the `json` module: equal values of equal types, and equal failures."""

import gc
import json
import random
import struct
import threading
import unittest
from typing import Any, Callable, List, Tuple

import libacp
from pair import ready

ROUNDS = 4000
CHARACTERS = "aZ09 /é€\u2028\u00a0\ufffd🦀\x7f"
ESCAPES = ["\\n", "\\t", "\\r", "\\b", "\\f", "\\/", '\\"', "\\\\", "\\u0041", "\\u00e9", "\\u0000", "\\uFFFF", "\\ufffd", "\\ud83e\\udd80"]
LONE = ["\\ud800", "\\uDFFF", "\\udd80\\ud83e"]
NUMBERS = ["0", "-0", "1", "-1", "0.0", "-0.0", "1E2", "1e-2", "1.5e+3", "1e400", "-1e400", "1e-400", "5e-324", "2.2250738585072011e-308"]
NUMBERS += [str(2**bits + off) for bits in (31, 53, 63, 64, 100) for off in (-1, 0, 1)]
NUMBERS += ["-" + str(2**63), "-" + str(2**63 + 1), "9007199254740993.0", "0.1", "179769313486231580793728971405301e276", "7" * 300]
WORDS = ["true", "false", "null"]


class Texts:
    """Texts of JSON values, of every kind and way to write them."""

    def __init__(self, seed: int, lone: bool) -> None:
        self.random = random.Random(seed)
        self.escapes = ESCAPES + LONE if lone else ESCAPES

    def value(self, depth: int = 0) -> str:
        pick = self.random.random()
        if depth < 6 and pick < 0.25:
            return self.joined("{}", [f"{self.string()}{self.space()}:{self.value(depth + 1)}" for _ in range(self.count())])
        if depth < 6 and pick < 0.45:
            return self.joined("[]", [self.value(depth + 1) for _ in range(self.count())])
        kinds: "List[Callable[[], str]]" = [self.string, self.number, lambda: self.random.choice(WORDS)]
        return self.space() + self.random.choice(kinds)() + self.space()

    def joined(self, around: str, items: "List[str]") -> str:
        return self.space() + around[0] + self.space() + f",{self.space()}".join(items) + self.space() + around[1] + self.space()

    def string(self) -> str:
        pieces = []
        for _ in range(self.count()):
            some = CHARACTERS if self.random.random() < 0.3 else "abcdefgh"
            pieces.append("".join(self.random.choice(some) for _ in range(self.random.choice([1, 3, 8, 40]))))
            if self.random.random() < 0.3:
                pieces.append(self.random.choice(self.escapes))
        return '"' + "".join(pieces) + '"'

    def number(self) -> str:
        pick = self.random.random()
        if pick < 0.4:
            return self.random.choice(NUMBERS)
        if pick < 0.6:
            return str(self.random.randint(-(10**25), 10**25))
        if pick < 0.8:
            return repr(struct.unpack("<d", struct.pack("<Q", self.random.getrandbits(62)))[0])
        return f"{self.random.randint(-99, 99)}.{self.random.getrandbits(80)}e{self.random.randint(-330, 330)}"

    def broken(self) -> str:
        """A text with something left out, put in or changed; now and then it is still JSON."""
        text = self.value()
        at = self.random.randrange(len(text) + 1)
        other = self.random.choice(['"', "\\", "{", "}", "[", "]", ",", ":", "0", "-", ".", "e", "\n", "\x1f", "N", "NaN", "Infinity", ""])
        return text[:at] + other + text[at + self.random.randrange(3) :]

    def count(self) -> int:
        return self.random.choice([0, 1, 2, 3, 7])

    def space(self) -> str:
        return self.random.choice(["", "", "", " ", "\n", "\t", "\r\n  "])


def exact(value: Any) -> Any:
    """The value with its types, to the last bit."""
    if isinstance(value, dict):
        return dict, [(exact(name), exact(item)) for name, item in value.items()]
    if isinstance(value, list):
        return list, [exact(item) for item in value]
    return type(value), struct.pack("<d", value) if isinstance(value, float) else value


def outcome(read: "Callable[[str], Any]", text: str) -> "Tuple[Any, ...]":
    try:
        return "value", exact(read(text))
    except (ValueError, RecursionError) as error:
        return type(error), str(error) if isinstance(error, ValueError) else None


def unchecked(text: str) -> Any:
    """The params of an event made by hand, which nobody has checked."""
    return libacp.Notification("_x/y", libacp.RawJson(text)).params


class Read(unittest.TestCase):
    def same(self, text: str) -> None:
        self.assertEqual(outcome(unchecked, text), outcome(json.loads, text), text[:500])

    def test_values_are_those_of_the_json_module(self) -> None:
        texts = Texts(1, lone=True)
        for _ in range(ROUNDS):
            self.same(texts.value())

    def test_broken_text_fails_as_in_the_json_module(self) -> None:
        texts = Texts(2, lone=True)
        failed = 0
        for _ in range(ROUNDS):
            text = texts.broken()
            self.same(text)
            failed += outcome(json.loads, text)[0] != "value"
        self.assertGreater(failed, ROUNDS // 2)

    def test_single_texts(self) -> None:
        texts = ["", " ", "01", "-", "-01", "1.", ".5", "1e", "1e+", "+1", "1 2", "[1,]", '{"a":1,}', '{"a"}', "{1:2}", "[,1]", "tru", "nullx"]
        texts += ["NaN", "-Infinity", "\ufeff1", '"\t"', '"\\x"', '"\\u12"', '"\\u+123"', '"\\', '"\\"', "\u0661", "1\u00a0", "[1\x0b]", "-0", "[-0.0]"]
        texts += ['{"a":1,"b":2,"a":3}', '{"a":1,"\\u0061":2}', '""', '{"":""}', f'"{"x" * 100_000}\\n"', f'{{"{"n" * 200}":1}}']
        for text in texts:
            self.same(text)

    def test_what_came_before_is_not_taken_for_what_comes(self) -> None:
        pairs = [
            (r'{"a\\":1}', r'{"a\": b":1}'),
            (r'{"k":"v\\"}', r'{"k":"v\", x"}'),
            ('{"k":"one","l":2}', '{"k":"one"x,"l":2}'),
            ('{"k":"one","l":2}', '{"k":"on","l2":2}'),
            ('{"long name":"long value","l":2}', '{"long namE":"long valuE","l":2}'),
            ('{"a\\u0062":"c\\td"}', '{"ab":"c\td"}'),
        ]
        for before, after in pairs:
            for _ in range(3):
                for text in (before, before, before, after):
                    self.same(text)

    def test_any_depth(self) -> None:
        for depth in (100, 255, 256, 257, 300, 100_000):
            self.same("[" * depth + "]" * depth)
            self.same('{"a":' * depth + "1" + "}" * depth)

    def test_what_a_peer_sends(self) -> None:
        texts, agent, read = Texts(3, lone=True), ready().agent, 0
        for _ in range(ROUNDS // 4):
            value = texts.value().replace("\n", " ").replace("\r", " ")
            agent.receive_data(b'{"jsonrpc":"2.0","method":"_x/y","params":[%s]}\n' % value.encode())
            for event in agent.events():
                if isinstance(event, libacp.Notification):
                    self.assertEqual(exact(event.params), exact(json.loads(event.params_json)))
                    read += 1
        self.assertGreater(read, ROUNDS // 5)


class Strings(unittest.TestCase):
    def test_names_and_attributes_are_one_object_each(self) -> None:
        one, other = (libacp.Notification("_x/y", libacp.RawJson('{"someName":1}'), session="s-1") for _ in range(2))
        self.assertIs(next(iter(one.params)), next(iter(other.params)))
        self.assertIs(one.method, other.method)
        self.assertIs(one.session, other.session)

    def test_any_number_of_names(self) -> None:
        for _ in range(2):
            for number in range(5000):
                name = f"name{number:0{1 + number % 80}}"
                self.assertEqual(unchecked(f'{{"{name}":0}}'), {name: 0})

    def test_reading_inside_of_reading(self) -> None:
        text = json.dumps([{"a": [{"b": str(number)}]} for number in range(50)])
        seen = []

        def collected(phase: str, info: "dict[str, int]") -> None:
            seen.append(unchecked('{"a":{"inner":[1]}}'))

        thresholds = gc.get_threshold()
        gc.callbacks.append(collected)
        try:
            gc.set_threshold(5)
            self.assertEqual([unchecked(text) for _ in range(20)], [json.loads(text)] * 20)
        finally:
            gc.callbacks.remove(collected)
            gc.set_threshold(*thresholds)
        self.assertGreater(len(seen), 1)
        self.assertEqual(seen, [{"a": {"inner": [1]}}] * len(seen))

    def test_many_threads_read_one_event(self) -> None:
        texts = [json.dumps({f"n{number}": {"text": "x" * number}}) for number in range(300)]
        events = [libacp.Notification("_x/y", libacp.RawJson(text)) for text in texts]
        results: "List[List[Any]]" = []
        threads = [threading.Thread(target=lambda: results.append([event.params for event in events])) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for result in results:
            self.assertEqual([json.dumps(value) for value in result], texts)
            self.assertTrue(all(one is other for one, other in zip(result, results[0])))
        self.assertEqual(len(results), 8)


if __name__ == "__main__":
    unittest.main()
