"""The OpenAPI description of a server, made from what it serves."""

from typing import Any

from handful import __version__
from handful.tagger import Tagger
from handful.tagger.finding import FIND, MOST
from handful.web import Limits

Record = dict[str, Any]

_STRING: Record = {"type": "string"}
_COUNT: Record = {"type": "integer", "minimum": 0}
_SHARE: Record = {"type": "number", "minimum": 0, "maximum": 1}


def openapi(models: dict[str, Tagger], limits: Limits, *, needs_token: bool) -> Record:
    """Return the description, as it is at ``/openapi.json``."""
    first = next(iter(models))
    health = _get("Whether the server runs", "health", _ref("Health")) | {"security": []}
    paths: Record = {
        "/predict": {"post": _predict(first, "predict", limits)},
        **{f"/models/{name}/predict": {"post": _predict(name, f"predict-{name}", limits)} for name in models},
        "/health": {"get": health},
        "/info": {"get": _get("The models with their types", "info", _ref("Info"))},
        "/metrics": {"get": _get("Counts and times, for Prometheus", "metrics", _STRING, "text/plain")},
        "/openapi.json": {"get": _get("This description", "openapi", {"type": "object"})},
    }
    record: Record = {
        "openapi": "3.1.0",
        "info": {
            "title": "handful",
            "version": __version__,
            "description": "Finds mentions of entity types in texts. Positions count code points.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": _schemas() | {f"Asked-{name}": _asked(tagger, limits) for name, tagger in models.items()}
        },
    }
    if needs_token:
        record["components"]["securitySchemes"] = {
            "bearer": {"type": "http", "scheme": "bearer"},
            "basic": {"type": "http", "scheme": "basic", "description": "Any name, and the token as the password."},
            "token": {"type": "apiKey", "in": "header", "name": "X-Handful-Token"},
        }
        record["security"] = [{"bearer": []}, {"basic": []}, {"token": []}]
        for path in paths.values():
            for operation in path.values():
                if "security" not in operation:
                    operation["responses"]["401"] = _error("The token is missing or wrong.", "WWW-Authenticate")
    return record


def _ref(name: str) -> Record:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(schema: Record, kind: str = "application/json") -> Record:
    return {"content": {kind: {"schema": schema}}}


def _get(summary: str, name: str, schema: Record, kind: str = "application/json") -> Record:
    answer = {"description": summary + "."} | _content(schema, kind)
    return {"summary": summary, "operationId": name, "responses": {"200": answer}}


def _predict(model: str, name: str, limits: Limits) -> Record:
    found = {"description": "The mentions of the text, or those of each text."}
    return {
        "summary": f"Find mentions with the model {model}",
        "operationId": name,
        "requestBody": {
            "required": True,
            "description": f"At most {limits.max_bytes:,} bytes.",
            **_content(_ref(f"Asked-{model}")),
        },
        "responses": {
            "200": found | _content({"oneOf": [_ref("Found"), _ref("AllFound")]}),
            "400": _error("The body is not JSON."),
            "408": _error("The body took too long to come."),
            "413": _error("The body is too large."),
            "415": _error("The Content-Type is not application/json."),
            "422": _error("The body is JSON, but does not ask for what can be done."),
            "429": _error("There is too much to do already.", "Retry-After"),
            "503": _error("The answer took too long, or the server is about to end.", "Retry-After"),
        },
    }


def _error(description: str, header: str | None = None) -> Record:
    record = {"description": description} | _content(_ref("Error"))
    return record | ({"headers": {header: {"required": True, "schema": _STRING}}} if header else {})


def _object(properties: Record, required: list[str] | None = None, **more: Any) -> Record:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
        **more,
    }


def _list(items: Record, **more: Any) -> Record:
    return {"type": "array", "items": items, **more}


def _schemas() -> Record:
    entities = {"entities": _list(_ref("Entity"))}
    return {
        "Entity": _object(
            {
                "entity_group": _STRING | {"description": "The name of the type."},
                "score": _SHARE,
                "word": _STRING | {"description": "The words, as the text has them."},
                "start": _COUNT | {"description": "Where it starts, in code points; words are joined by spaces."},
                "end": _COUNT,
            }
        ),
        "Found": _object({"model": _STRING, **entities}),
        "AllFound": _object({"model": _STRING, "results": _list(_object(entities))}),
        "Health": _object({"status": {"type": "string", "const": "ok"}}),
        "Info": _object(
            {
                "version": _STRING,
                "models": _list(_ref("Model"), minItems=1),
                "limits": _object({"max_bytes": _COUNT, "max_texts": _COUNT, "max_requests": _COUNT}),
            }
        ),
        "Model": _object(
            {
                "name": _STRING,
                "types": _list(_object({"name": _STRING, "description": _STRING})),
                "encoder": _object({"name": _STRING, "fingerprint": _STRING, "dim": _COUNT}),
            }
        ),
        "Error": _object({"error": _object({"what": _STRING, "advice": {"type": ["string", "null"]}})}),
    }


def _asked(tagger: Tagger, limits: Limits) -> Record:
    """Return the schema of a body for a model."""
    words = _list(_STRING | {"minLength": 1})
    texts = _list({"oneOf": [_STRING, words]}, maxItems=limits.max_texts)
    by_type = _object({one.name: _SHARE for one in tagger.types_}, [], title="By type")
    find = {
        "oneOf": [{"enum": list(FIND)}, {"type": "number", "minimum": 1 / MOST, "maximum": MOST}],
        "description": "How many times as bad a missed mention is as a wrong one; more is 3, sure is 1/3.",
    }
    least: Record = {"min_score": {"oneOf": [_SHARE, by_type], "description": "Leave out mentions with a lower score."}}
    least["find"] = find
    return {
        "oneOf": [
            _object({"text": _STRING, **least}, ["text"], title="One text"),
            _object({"words": words, **least}, ["words"], title="One text, split into words"),
            _object({"texts": texts, **least}, ["texts"], title="Several texts"),
        ],
        "examples": [{"text": "She dug in seaweed meal with the fork.", "min_score": 0.5}],
    }
