import asyncio
import json
import os
import sys

import libacp.aio

PROXY = "target/wasm32-unknown-unknown/wasm/acp_proxy.wasm"
RULES = {"context": "Be brief: ", "secret": "sk-", "refuse": ["rm"]}
HOST = [sys.executable, "examples/wasm-proxy/host.py", PROXY, "--rules", json.dumps(RULES), "--"]
AGENT = [sys.executable, "docs/snippets/python/agent.py"]


async def main():
    async with libacp.aio.spawn_agent([*HOST, *AGENT]) as agent:
        session = await agent.new_session(os.getcwd())
        async for update in session.prompt("hello"):
            if update["sessionUpdate"] == "agent_message_chunk":
                print(update["content"]["text"])
        print(await agent.request("_proxy/counts"))


asyncio.run(main())
