"""What servers of ours share: bodies that are read up to a limit, and the files of a page (extra `web`)."""

import asyncio
import json
from importlib.resources import files
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

__all__ = ["Json", "read_body", "read_json", "read_static", "static_file"]

_KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}


class Json(JSONResponse):
    """An answer in JSON; half of a surrogate pair, which UTF-8 cannot hold, is written by its number."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


async def read_json(request: Request, most: int, *, seconds: float | None = None) -> Any:
    """Read the body of a request as JSON, no further than a limit of bytes and no longer than some seconds."""
    body = await read_body(request, "application/json", most, seconds=seconds)
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


async def read_body(request: Request, kind: str, most: int, *, seconds: float | None = None) -> bytes:
    """Read the body of a request, no further than a limit of bytes and no longer than some seconds."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        raise HTTPException(415, f"the Content-Type must be {kind}")
    pieces, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise HTTPException(413, f"at most {most // 1024:,} KiB can be sent at once")
                pieces.append(piece)
    except TimeoutError:
        raise HTTPException(408, f"the body was not there after {seconds:g} seconds") from None
    return b"".join(pieces)


def read_static(package: str) -> dict[str, tuple[bytes, str]]:
    """Read the files of a page, once, from the folder ``static`` of a package."""
    folder = files(package) / "static"
    found = {}
    for one in folder.iterdir() if folder.is_dir() else ():
        ending = one.name[one.name.rfind(".") :]
        if ending in _KINDS:
            found[one.name] = one.read_bytes(), _KINDS[ending]
    return found


def static_file(static: dict[str, tuple[bytes, str]], name: str) -> Response:
    """Answer with one of the files of a page."""
    if name not in static:
        raise HTTPException(404, "there is no such file")
    body, kind = static[name]
    return Response(body, media_type=kind)
