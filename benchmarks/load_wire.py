"""A visitor without a browser: Streamlit's protocol over a WebSocket, as its front end speaks it.

What the server sends is put together as a browser would: elements by their place on the page, large
ones that were sent before by their hash. Nothing is drawn.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
import urllib.request
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qsl, urlsplit
from uuid import uuid4

import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks import load_widgets
from benchmarks.load_widgets import Value

PATIENCE = 180.0  # seconds without a message, after which an answer counts as lost
BREAKS = 5  # of the connection, after which a visitor gives up
NUMBERS = ("rows", "columns", "shape", "values", "first", "filled")  # of a map: what was computed


class Lost(Exception):
    """An answer that didn't come, or not whole."""


class Visitor:
    """One session: the page that it sees now, and its address. Made by `visit`."""

    def __init__(self, url: str) -> None:
        self.url, self.reopened = url, 0  # how often the connection broke and was taken up again
        self._wire: websockets.ClientConnection
        self.session, self.page, self.query = "", "", ""
        self.pages: dict[str, str] = {}  # hashes by address
        self.elements: dict[tuple[int, ...], Any] = {}
        self._known: dict[str, ForwardMsg] = {}
        self._held: dict[str, Value] = {}  # of the page's widgets, by id

    async def open(self) -> None:
        """Connects; after a break, to the same session, as a browser does."""
        address = f"ws://{urlsplit(self.url).netloc}/_stcore/stream"
        same = ["-", self.session] if self.session else []  # after the place of a token
        protocols = [websockets.Subprotocol(name) for name in ("streamlit", *same)]
        # Browsers send no pings of their own, so neither does this.
        self._wire = await websockets.connect(
            address,
            subprotocols=protocols,
            max_size=None,
            open_timeout=PATIENCE,
            ping_interval=None,
        )

    async def close(self) -> None:
        """Leaves."""
        await self._wire.close()

    async def go(self, query: str = "", page: str = "") -> float:
        """Opens the page at the address `page`; the seconds until all of it had come."""
        self.query, self.page = query, self.pages.get(page, "")
        self._held.clear()
        return await self._run({})

    async def act(self, values: Mapping[str, Value]) -> float:
        """Changes widgets, by the end of their ids: {"layer0": {"string_value": "2"}}.

        The seconds until all that follows had come. Raises Lost where a widget isn't there.
        """
        return await self._run(values)

    async def put(self, widget: str, name: str, content: bytes) -> float:
        """Uploads a file into the uploader whose id ends with `widget`, and waits for the page."""
        began, asked = time.perf_counter(), BackMsg()
        asked.file_urls_request.request_id = uuid4().hex
        asked.file_urls_request.file_names.append(name)
        asked.file_urls_request.session_id = self.session
        await self._wire.send(asked.SerializeToString())
        while (came := await self._next()).WhichOneof("type") != "file_urls_response":
            pass
        urls = came.file_urls_response.file_urls[0]
        await asyncio.to_thread(_send, self.url, self.url + urls.upload_url, name, content)
        info = {"name": name, "size": len(content), "file_id": urls.file_id, "file_urls": urls}
        state = {"file_uploader_state_value": {"uploaded_file_info": [info]}}
        await self.act({widget: state})
        return time.perf_counter() - began

    def found(self, kind: str) -> Iterator[Any]:
        """The elements of a kind on the page, from top to bottom."""
        for place in sorted(self.elements):
            element = self.elements[place]
            if element.WhichOneof("type") == kind:
                yield getattr(element, kind)

    def options(self, widget: str) -> list[str]:
        """What the widget whose id ends with `widget` offers. Raises Lost where it isn't there."""
        id = self._id(widget)
        bodies = [*self.found("selectbox"), *self.found("slider")]
        return next(list(body.options) for body in bodies if body.id == id)

    def wrong(self) -> list[str]:
        """What the page says is wrong."""
        alerts = [a.body for a in self.found("alert") if a.format in (a.ERROR, a.WARNING)]
        return alerts + [e.message for e in self.found("exception")]

    def seen(self) -> tuple[str, str]:
        """(hash of all that Compare shows, hash of the numbers in its maps)."""
        whole, numbers = hashlib.sha256(), hashlib.sha256()
        for one in self.found("bidi_component"):
            data = json.loads(one.json)
            data.pop("turn", None)  # how often a box was drawn
            whole.update(json.dumps(data, sort_keys=True).encode())
            for panel in data.get("maps", ()):
                numbers.update(json.dumps([panel[name] for name in NUMBERS]).encode())
        for chart in self.found("plotly_chart"):
            whole.update(chart.spec.encode())
        for text in self.found("markdown"):
            whole.update(text.body.encode())
        return whole.hexdigest(), numbers.hexdigest()

    async def _run(self, values: Mapping[str, Value]) -> float:
        began, asked = time.perf_counter(), BackMsg()
        asked.rerun_script.query_string = self.query
        asked.rerun_script.page_script_hash = self.page
        sent = self._held | {self._id(end): value for end, value in values.items()}
        states = [load_widgets.state(id, value) for id, value in sent.items()]
        asked.rerun_script.widget_states.widgets.extend(states)
        came = await self._answer(asked)
        if came.script_finished != came.FINISHED_SUCCESSFULLY:
            raise Lost(f"the page ended with status {came.script_finished}")
        took = time.perf_counter() - began
        before = {id: value for id, value in sent.items() if "trigger_value" not in value}
        bodies = ((e, getattr(e, e.WhichOneof("type"))) for e in self.elements.values())
        ids = ((e, body.id) for e, body in bodies if getattr(body, "id", ""))
        held = {id: load_widgets.value(e, before.get(id)) for e, id in ids}
        self._held = {id: value for id, value in held.items() if value is not None}
        return took

    async def _answer(self, asked: BackMsg) -> ForwardMsg:
        """Sends a message, again where the connection breaks; what the page's run ends with."""
        while True:
            try:
                await self._wire.send(asked.SerializeToString())
                while True:
                    while (came := await self._next()).WhichOneof("type") != "script_finished":
                        self._take(came)
                    if came.script_finished != came.FINISHED_EARLY_FOR_RERUN:
                        return came  # else the page asked for another run, which follows
            except websockets.ConnectionClosed as error:
                self.reopened += 1
                if self.reopened > BREAKS:
                    raise Lost(f"the connection broke too often: {error}") from None
                await self.open()

    async def _next(self) -> ForwardMsg:
        came = ForwardMsg()
        try:
            came.ParseFromString(await asyncio.wait_for(self._wire.recv(), PATIENCE))
        except TimeoutError:
            raise Lost(f"no answer within {PATIENCE:.0f} s") from None
        if came.metadata.cacheable:
            self._known[came.hash] = came
        if came.WhichOneof("type") == "ref_hash":
            known, place = self._known[came.ref_hash], came.metadata
            came = ForwardMsg()
            came.CopyFrom(known)
            came.metadata.CopyFrom(place)
        return came

    def _take(self, came: ForwardMsg) -> None:
        match came.WhichOneof("type"):
            case "new_session":
                self.session = came.new_session.initialize.session_id or self.session
                self.page = came.new_session.page_script_hash
                self.elements.clear()
            case "navigation":
                self.pages = {p.url_pathname: p.page_script_hash for p in came.navigation.app_pages}
            case "page_info_changed":
                self.query = came.page_info_changed.query_string
            case "delta":
                place = tuple(came.metadata.delta_path)
                if came.delta.WhichOneof("type") == "new_element":
                    self.elements[place] = came.delta.new_element

    def _id(self, end: str) -> str:
        for element in self.elements.values():
            body = getattr(element, element.WhichOneof("type"))
            if getattr(body, "id", "").endswith(f"-{end}"):
                return str(body.id)
        raise Lost(f"there is no {end} on the page")


@asynccontextmanager
async def visit(url: str) -> AsyncIterator[Visitor]:
    """`async with visit("http://127.0.0.1:8501") as visitor`: a session of its own."""
    visitor = Visitor(url)
    await visitor.open()
    try:
        yield visitor
    finally:
        await visitor.close()


def parsed(query: str) -> dict[str, str]:
    """The parameters of an address."""
    return dict(parse_qsl(query, keep_blank_values=True))


def _send(url: str, to: str, name: str, content: bytes) -> None:
    """One file as a form, with Streamlit's token against requests from elsewhere."""
    with urllib.request.urlopen(f"{url}/_stcore/health", timeout=PATIENCE) as answer:
        cookie = (answer.headers["Set-Cookie"] or "").split(";")[0]
    mark = uuid4().hex
    head = f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    request = urllib.request.Request(
        to, head.encode() + content + f"\r\n--{mark}--\r\n".encode(), method="PUT"
    )
    request.add_header("Content-Type", f"multipart/form-data; boundary={mark}")
    request.add_header("Cookie", cookie)
    request.add_header("X-Xsrftoken", cookie.partition("=")[2])
    with urllib.request.urlopen(request, timeout=PATIENCE):
        pass
