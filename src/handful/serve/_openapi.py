"""The OpenAPI description of a server: ``openapi.json``, with what this server serves."""

import json
from copy import deepcopy
from importlib.resources import files
from typing import Any

from handful import __version__
from handful.tagger import Tagger
from handful.web import Limits

Record = dict[str, Any]


def openapi(models: dict[str, Tagger], limits: Limits, *, needs_token: bool) -> Record:
    """Return the description, as it is at ``/openapi.json``."""
    record: Record = json.loads((files(__package__) / "openapi.json").read_text(encoding="utf-8"))
    record["info"]["version"] = __version__
    paths, schemas = record["paths"], record["components"]["schemas"]
    post, asked = paths.pop("/predict")["post"], schemas.pop("Asked")
    addresses = {"/predict": (next(iter(models)), "predict")}
    addresses |= {f"/models/{name}/predict": (name, f"predict-{name}") for name in models}
    of_models: Record = {}
    for address, (name, operation) in addresses.items():
        own = deepcopy(post) | {"summary": f"Find mentions with the model {name}", "operationId": operation}
        own["requestBody"]["description"] = f"At most {limits.max_bytes:,} bytes."
        own["requestBody"]["content"]["application/json"]["schema"]["$ref"] = f"#/components/schemas/Asked-{name}"
        of_models[address] = {"post": own}
    for name, tagger in models.items():
        schemas[f"Asked-{name}"] = own = deepcopy(asked)
        for one in own["oneOf"]:
            share, by_type = one["properties"]["min_score"]["oneOf"]
            by_type["properties"] = {each.name: share for each in tagger.types_}
        own["oneOf"][-1]["properties"]["texts"]["maxItems"] = limits.max_texts
    record["paths"] = of_models | paths
    if not needs_token:
        del record["security"], record["components"]["securitySchemes"]
        for operation in (one for path in record["paths"].values() for one in path.values()):
            operation["responses"].pop("401", None)
    return record
