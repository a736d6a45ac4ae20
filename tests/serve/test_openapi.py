"""The description is true: schemathesis asks for what it allows, and for what it does not."""

import subprocess
import sys

import pytest

from .conftest import TOKEN, serving
from .made import fitted


@pytest.mark.exhaustive
def test_schemathesis_finds_nothing(tmp_path):
    pytest.importorskip("schemathesis")
    command = [sys.executable, "-m", "schemathesis.cli", "run", "--max-examples=10", "--seed=1", "--no-color"]
    phases, token = "--phases=examples,coverage,fuzzing", f"Authorization: Bearer {TOKEN}"
    with serving({"people": fitted()}, token=TOKEN, hosts=None) as served:
        run = subprocess.run(
            [*command, phases, "-H", token, f"{served.url}/openapi.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )
        count = served.service.metrics.registry.get_sample_value
    assert run.returncode == 0, run.stdout + run.stderr
    for route in ("/predict", "/models/{name}/predict"):  # both what is allowed, and what is not
        for status in ("200", "422"):
            assert count("handful_requests_total", {"route": route, "method": "POST", "status": status})
        assert not count("handful_requests_total", {"route": route, "method": "POST", "status": "500"})


def test_every_status_is_described_and_names_are_those_of_the_models():
    with serving({"people": fitted(), "gods": fitted({"GOD": "G gods"})}) as served:
        record = served.client.get("/openapi.json").json()
    assert "security" not in record
    paths = record["paths"]
    assert {"/predict", "/models/people/predict", "/models/gods/predict", "/info", "/health", "/metrics"} < set(paths)
    statuses = {"200", "400", "408", "413", "415", "422", "429", "503"}
    assert set(paths["/predict"]["post"]["responses"]) == statuses
    (_, by_type) = record["components"]["schemas"]["Asked-gods"]["oneOf"][0]["properties"]["min_score"]["oneOf"]
    assert set(by_type["properties"]) == {"GOD"}
