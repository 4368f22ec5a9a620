"""`acp serve` behind the reverse proxies of Debian, with the configurations of the book: ``run.py ACP [NAME ...]``.

For each proxy that is installed: a turn over HTTP and over a WebSocket, a turn that is silent for longer than the proxy waits
for a silent server, that a page of another origin is refused, and that a conversation outlives the proxy (restarts.py).
Behind an nginx that buffers responses, clients say why nothing comes; behind the others they do not. The Python needs the
wheel and what tests/interop/remote/requirements.txt names. Without names, a proxy that is not installed takes no part, and a
note says so. Ends with ``N passed, N failed``.
"""

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Callable, Dict, Iterator, List

import httpx
import restarts

from libacp.aio import Client, connect

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "python" / "tests" / "remote"))
from serving import answers, free_port  # noqa: E402

CONFIGURATIONS = HERE.parents[1] / "docs" / "reverse-proxies"
# In place of agents.example.com: a name that is resolved here.
HOST = "localhost"
# What the test has in place of the sixty seconds of the configurations, and how long an agent is silent.
PATIENCE, SILENCE = 20, 45
# After how many seconds clients say that nothing comes: the one in Python, and `acp connect`.
FIRST, DEFAULT_FIRST = 5, 20
# What makes an nginx buffer event streams: HTTP/1.0 to the server, as by default, and no regard to what the server asks for.
BUFFERS = {
    "proxy_http_version 1.1;": "proxy_http_version 1.0;",
    "proxy_buffering off;": "proxy_buffering on; proxy_ignore_headers X-Accel-Buffering;",
}


class Running(subprocess.Popen):
    """A program in a process group of its own: nginx leaves its workers behind when it is killed alone."""

    def __init__(self, *command: object, **options: object) -> None:
        super().__init__([str(part) for part in command], text=True, start_new_session=True, **options)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)


@contextlib.contextmanager
def running(*command: object, **options: object) -> Iterator[Running]:
    process = Running(*command, **options)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def configuration(name: str, front: int, back: int, **others: str) -> str:
    """The one of the book, with other ports, another name and less patience."""
    text = (CONFIGURATIONS / name).read_text()
    for before, after in {"7332": str(back), "8080": str(front), **others}.items():
        if before not in text:
            raise ValueError(f"{name} has no {before}")
        text = text.replace(before, after)
    return text.replace("60s", f"{PATIENCE}s").replace("agents.example.com", HOST)


def nginx(folder: Path, front: int, back: int, **others: str) -> List[object]:
    site, main = folder / "site.conf", folder / "nginx.conf"
    site.write_text(configuration("nginx.conf", front, back, **others))
    paths = "".join(
        f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main.write_text(
        f"daemon off; pid {folder}/pid; error_log stderr warn;\nevents {{}}\n"
        f"http {{ access_log off;\n{paths}include {site};\n}}\n"
    )
    return [shutil.which("nginx") or "/usr/sbin/nginx", "-p", folder, "-c", main]


def caddy(folder: Path, front: int, back: int) -> List[object]:
    file = folder / "Caddyfile"
    file.write_text("{\n\tadmin off\n}\n" + configuration("Caddyfile", front, back))
    return ["caddy", "run", "--config", file, "--adapter", "caddyfile"]


def haproxy(folder: Path, front: int, back: int) -> List[object]:
    file = folder / "haproxy.cfg"
    file.write_text(configuration("haproxy.cfg", front, back))
    return [shutil.which("haproxy") or "/usr/sbin/haproxy", "-db", "-f", file]


def buffering(folder: Path, front: int, back: int) -> List[object]:
    return nginx(folder, front, back, **BUFFERS)


PROXIES = {"nginx": nginx, "caddy": caddy, "haproxy": haproxy, "nginx that buffers": buffering}
# Debian has some of them in a folder that not every user's path names.
PATH = f"{os.environ.get('PATH', '')}:/usr/sbin"


def installed() -> List[str]:
    """The proxies that are here; says which are not."""
    programs = {name.split()[0] for name in PROXIES}
    here = [name for name in PROXIES if shutil.which(name.split()[0], path=PATH)]
    for name in programs - set(here):
        print(f"note: {name} is not on this machine: nothing was tried behind it (apt-get install {name})")
    return here


@contextlib.contextmanager
def proxy(name: str, folder: str, front: int, back: int) -> Iterator[Running]:
    """A proxy that listens."""
    with running(*PROXIES[name](Path(folder), front, back)) as process:
        end = time.monotonic() + 15
        while not answers(front):
            if time.monotonic() > end:
                raise OSError("it does not listen")
            time.sleep(0.1)
        yield process


async def turn(scheme: str, port: int, silence: float) -> None:
    """A whole conversation, without anything that breaks."""
    await asyncio.wait_for(converse(scheme, port, silence), silence + 30)


async def converse(scheme: str, port: int, silence: float) -> None:
    seen: List[str] = []
    client = Client("tests", "1.0")
    address = f"{scheme}://{HOST}:{port}/acp"
    times = {"first": FIRST * 1000}
    async with connect(address, client, times=times, on_transport=lambda event: seen.append(event["event"])) as agent:
        session = await agent.new_session("/work")
        prompt = session.prompt(str(silence))
        text = ""
        async for update in prompt:
            text += (update.get("content") or {}).get("text", "")
        assert text == "begunended", text
    broken = {"gap", "lost", "retrying", "silent"} & set(seen)
    assert not broken, f"{broken} in {seen}"


async def told(port: int) -> None:
    """The client says why it hears nothing, once for the stream on which the answer is due."""
    seen: List[dict] = []
    address, times = f"http://{HOST}:{port}/acp", {"first": FIRST * 1000}
    async with connect(address, Client("tests", "1.0"), times=times, on_transport=seen.append) as agent:
        answer = asyncio.ensure_future(agent.new_session("/work"))
        done, _ = await asyncio.wait([answer], timeout=FIRST + 5)
        assert not done, "the proxy does not buffer"
        answer.cancel()
    silences = [event for event in seen if event["event"] == "silent"]
    assert [event["session"] for event in silences] == [None], seen
    assert silences[0]["waited"] >= FIRST * 1000 and "proxy_buffering off" in silences[0]["message"], silences


def printed(acp: str, port: int) -> None:
    """`acp connect` prints it."""
    calls = [("initialize", {"protocolVersion": 1}), ("session/new", {"cwd": "/work", "mcpServers": []})]
    calls = [{"jsonrpc": "2.0", "id": at, "method": name, "params": params} for at, (name, params) in enumerate(calls)]
    pipe, command = subprocess.PIPE, (acp, "connect", f"http://{HOST}:{port}/acp")
    with running(*command, stdin=pipe, stdout=subprocess.DEVNULL, stderr=pipe) as client:
        assert client.stdin is not None and client.stderr is not None
        client.stdin.write("".join(json.dumps(call) + "\n" for call in calls))
        client.stdin.flush()
        end = threading.Timer(DEFAULT_FIRST + 10, client.terminate)
        end.start()
        found = next((line for line in client.stderr if "proxy_buffering off" in line), None)
        end.cancel()
    assert found and f"{DEFAULT_FIRST} seconds" in found, found


def foreign(port: int) -> None:
    """A page of another origin is refused, and one of the server's own name is not."""
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": 1}}
    status: Dict[str, int] = {}
    for origin in ("http://evil.example", f"http://{HOST}:{port}"):
        answer = httpx.post(f"http://{HOST}:{port}/acp", headers={"origin": origin}, json=hello)
        status[origin] = answer.status_code
    assert list(status.values()) == [403, 200], status


def tests(acp: str, name: str, port: int) -> Dict[str, Callable[[], object]]:
    if PROXIES[name] is buffering:
        return {
            "a client says that nothing comes": lambda: asyncio.run(told(port)),
            "`acp connect` says it": lambda: printed(acp, port),
        }
    return {
        "a turn over HTTP": lambda: asyncio.run(turn("http", port, 0.2)),
        "a turn over a WebSocket": lambda: asyncio.run(turn("ws", port, 0.2)),
        "a silent turn over HTTP": lambda: asyncio.run(turn("http", port, SILENCE)),
        "a silent turn over a WebSocket": lambda: asyncio.run(turn("ws", port, SILENCE)),
        "a page of another origin": lambda: foreign(port),
    }


def attempt(name: str, test: str, check: Callable[[], object]) -> bool:
    """Whether a test passes; says why it does not."""
    try:
        check()
    except Exception as problem:
        print(f"FAILED {name}: {test}: {problem!r}")
        return False
    return True


@contextlib.contextmanager
def serving(acp: str, *options: str) -> Iterator[int]:
    """The port of an `acp serve` with the agent of these tests."""
    with tempfile.TemporaryDirectory() as told:
        command = [acp, "--quiet", "serve", "--listen", "127.0.0.1:0", *options, "--", sys.executable, HERE / "agent.py", told]
        with running(*command, stdout=subprocess.PIPE) as server:
            yield int(re.search(r":(\d+)/", server.stdout.readline())[1])


def restarted(acp: str, name: str, scheme: str, back: int) -> None:
    """A conversation with a proxy of its own, which is killed and started again."""
    with tempfile.TemporaryDirectory() as folder:
        front = free_port()
        restarts.test([acp], f"{scheme}://{HOST}:{front}/acp", lambda: proxy(name, folder, front, back))


def resumed(acp: str, name: str) -> None:
    """The same where streams are resumed."""
    with tempfile.TemporaryDirectory() as folder, serving(acp, "--resumable") as back:
        front = free_port()
        url = f"http://{HOST}:{front}/acp"
        restarts.test([acp], url, lambda: proxy(name, folder, front, back), resumes=True)


def behind(acp: str, name: str, pool: Executor) -> List[bool]:
    """The outcomes of all tests behind one proxy, which run at the same time: they wait more than they work."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        front = free_port()
        back = stack.enter_context(serving(acp))
        try:
            stack.enter_context(proxy(name, folder, front, back))
        except OSError as problem:
            print(f"FAILED {name}: {problem}")
            return [False]
        checks = tests(acp, name, front)
        # Nothing of a turn comes through one that buffers before the turn is over.
        if PROXIES[name] is not buffering:
            for scheme in ("http", "ws"):
                checks[f"a proxy that is restarted, {scheme}"] = partial(restarted, acp, name, scheme, back)
            checks["a proxy that is restarted, and streams that are resumed"] = partial(resumed, acp, name)
        return list(pool.map(lambda test: attempt(name, *test), checks.items()))


def main(acp: str, names: List[str]) -> int:
    with ThreadPoolExecutor() as proxies, ThreadPoolExecutor(32) as pool:
        outcomes = list(proxies.map(lambda name: behind(acp, name, pool), names or installed()))
    passed = sum(sum(each) for each in outcomes)
    failed = sum(map(len, outcomes)) - passed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
