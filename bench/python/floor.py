"""The floor of W4: what making Python objects of the lines takes, with nothing around."""

from __future__ import annotations

from measure import Inputs, Pass, Work, main


def works() -> "dict[str, Work]":
    import orjson

    def loads(name: str) -> Work:
        def work(inputs: Inputs) -> Pass:
            lines, done = inputs.lines(name), Pass()
            with done.timed():
                for line in lines:
                    orjson.loads(line)
            done.count = len(lines)
            return done

        return work

    return {"w4-small": loads("small.jsonl"), "w4-mix": loads("mix.jsonl")}


main(works)
