"""What goes wrong, as JSON with a status; never a stack trace."""

from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from handful.errors import HandfulError
from handful.web.guard import refusal
from handful.web.http import Json

from ._batches import Busy, Stopping

__all__ = ["HANDLERS", "RETRY_AFTER"]

RETRY_AFTER = 1  # seconds

_ADVICE = {
    404: "GET /openapi.json says what there is",
    405: "GET /openapi.json says what there is",
    413: "send less at once",
    415: "send JSON, with Content-Type: application/json",
}


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    what = "there is nothing at this address" if error.detail == "Not Found" else error.detail
    what = "this address does not answer to this method" if error.detail == "Method Not Allowed" else what
    return Json(refusal(what, _ADVICE.get(error.status_code)), error.status_code, headers=error.headers)


def _handful(request: Request, error: Exception) -> Response:
    assert isinstance(error, HandfulError)
    return Json(refusal(error.message, None if error.advice is None else error.advice.python), 422)


def _later(status: int, what: str) -> Any:
    def answer(request: Request, error: Exception) -> Response:
        headers = {"retry-after": str(RETRY_AFTER)}
        return Json(refusal(what, f"try again in {RETRY_AFTER} second"), status, headers=headers)

    return answer


def _fault(request: Request, error: Exception) -> Response:
    return Json(refusal(f"a fault of the server: {type(error).__name__}", None), 500)


#: Exception handlers of an application.
HANDLERS: dict[Any, Any] = {
    HTTPException: _http,
    HandfulError: _handful,
    Busy: _later(429, "there is too much to do already"),
    Stopping: _later(503, "the server is about to end"),
    TimeoutError: _later(503, "the answer took too long, and was given up"),
    Exception: _fault,
}
