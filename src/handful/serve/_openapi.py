"""The OpenAPI description of a server, made from what it serves."""

from typing import Any

from handful import __version__
from handful.tagger import Tagger

from ._settings import Settings

__all__ = ["openapi"]

Record = dict[str, Any]


def openapi(models: dict[str, Tagger], settings: Settings, *, needs_token: bool) -> Record:
    """Return the description, as it is at ``/openapi.json``."""
    first = next(iter(models))
    paths: Record = {
        "/predict": {"post": _predict(first, "predict", settings)},
        **{f"/models/{name}/predict": {"post": _predict(name, f"predict-{name}", settings)} for name in models},
        "/health": {"get": _get("Whether the server runs", "health", "Health", is_open=True)},
        "/info": {"get": _get("The models with their types", "info", "Info")},
        "/metrics": {
            "get": {
                "summary": "Counts and times, for Prometheus",
                "operationId": "metrics",
                "responses": {
                    "200": {"description": "Counts.", "content": {"text/plain": {"schema": {"type": "string"}}}}
                },
            }
        },
        "/openapi.json": {
            "get": {
                "summary": "This description",
                "operationId": "openapi",
                "responses": {
                    "200": {
                        "description": "This description.",
                        "content": {"application/json": {"schema": {"type": "object"}}},
                    }
                },
            }
        },
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
            "schemas": _schemas() | {_asked_of(name): _asked(tagger, settings) for name, tagger in models.items()}
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
                if isinstance(operation, dict) and "security" not in operation:
                    operation["responses"]["401"] = _error("The token is missing or wrong.", "WWW-Authenticate")
    return record


def _predict(model: str, name: str, settings: Settings) -> Record:
    return {
        "summary": f"Find mentions with the model {model}",
        "operationId": name,
        "requestBody": {
            "required": True,
            "description": f"At most {settings.max_bytes:,} bytes.",
            "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{_asked_of(model)}"}}},
        },
        "responses": {
            "200": {
                "description": "The mentions: those of the text, or those of each text.",
                "content": {
                    "application/json": {
                        "schema": {
                            "oneOf": [{"$ref": "#/components/schemas/Found"}, {"$ref": "#/components/schemas/AllFound"}]
                        }
                    }
                },
            },
            "400": _error("The body is not JSON."),
            "408": _error("The body took too long to come."),
            "413": _error("The body is too large."),
            "415": _error("The Content-Type is not application/json."),
            "422": _error("The body is JSON, but does not ask for what can be done."),
            "429": _error("There is too much to do already.", "Retry-After"),
            "503": _error("The answer took too long, or the server is about to end.", "Retry-After"),
        },
    }


def _get(summary: str, name: str, schema: str, *, is_open: bool = False) -> Record:
    answer = {"application/json": {"schema": {"$ref": f"#/components/schemas/{schema}"}}}
    record: Record = {
        "summary": summary,
        "operationId": name,
        "responses": {"200": {"description": summary + ".", "content": answer}},
    }
    return record | ({"security": []} if is_open else {})


def _error(description: str, header: str | None = None) -> Record:
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Error"}}}
    record: Record = {"description": description, "content": content}
    if header is not None:
        record["headers"] = {header: {"required": True, "schema": {"type": "string"}}}
    return record


def _object(properties: Record, required: list[str] | None = None, **more: Any) -> Record:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
        **more,
    }


def _schemas() -> Record:
    string: Record = {"type": "string"}
    count: Record = {"type": "integer", "minimum": 0}
    share: Record = {"type": "number", "minimum": 0, "maximum": 1}
    entities: Record = {"type": "array", "items": {"$ref": "#/components/schemas/Entity"}}
    named = {"model": string}
    return {
        "Entity": _object(
            {
                "entity_group": string | {"description": "The name of the type."},
                "score": share,
                "word": string | {"description": "The words, as the text has them."},
                "start": count | {"description": "Where it starts, in code points; words are joined by spaces."},
                "end": count,
            }
        ),
        "Found": _object({**named, "entities": entities}),
        "AllFound": _object({**named, "results": {"type": "array", "items": _object({"entities": entities})}}),
        "Health": _object({"status": {"type": "string", "const": "ok"}}),
        "Info": _object(
            {
                "version": string,
                "models": {"type": "array", "minItems": 1, "items": {"$ref": "#/components/schemas/Model"}},
                "limits": _object({"max_bytes": count, "max_texts": count, "max_requests": count}),
            }
        ),
        "Model": _object(
            {
                "name": string,
                "types": {"type": "array", "items": _object({"name": string, "description": string})},
                "encoder": _object({"name": string, "fingerprint": string, "dim": count}),
            }
        ),
        "Error": _object({"error": _object({"what": string, "advice": {"type": ["string", "null"]}})}),
    }


def _asked_of(model: str) -> str:
    return f"Asked-{model}"


def _asked(tagger: Tagger, settings: Settings) -> Record:
    """Return what a body may be; types are those of the model."""
    string: Record = {"type": "string"}
    share: Record = {"type": "number", "minimum": 0, "maximum": 1}
    words: Record = {"type": "array", "items": {"type": "string", "minLength": 1}}
    texts: Record = {"type": "array", "maxItems": settings.max_texts, "items": {"oneOf": [string, words]}}
    by_type = _object({one.name: share for one in tagger.types_}, [], title="By type")
    least: Record = {"min_score": {"oneOf": [share, by_type], "description": "Leave out mentions with a lower score."}}
    return {
        "oneOf": [
            _object({"text": string, **least}, ["text"], title="One text"),
            _object({"words": words, **least}, ["words"], title="One text, split into words"),
            _object({"texts": texts, **least}, ["texts"], title="Several texts"),
        ],
        "examples": [{"text": "She dug in seaweed meal with the fork.", "min_score": 0.5}],
    }
