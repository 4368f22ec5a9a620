"""The agent of the script in an application of Starlette's, beside a page of its own: as its documentation mounts it, and at a
path below another one."""

from ours import make
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

import libacp.http

app = Starlette(
    routes=[
        Route("/hello", lambda request: PlainTextResponse("hello")),
        Mount("/acp", libacp.http.asgi(make)),
        Mount("/agents", libacp.http.asgi(make, path="/two")),
    ]
)
