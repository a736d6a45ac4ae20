"""docs/sklearn.md runs from top to bottom, and what it says is so."""

import re
from pathlib import Path

import numpy as np
import pytest

PAGE = Path(__file__).parents[1] / "docs" / "sklearn.md"


@pytest.fixture(scope="module")
def names():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(blocks) >= 6
    names = {"print": lambda *values: None}
    for block in blocks:
        exec(compile(block, PAGE.name, "exec"), names)
    return names


def test_the_pipeline_finds_the_types(names):
    found = names["model"].predict(names["X"])
    assert (found == names["tags"]).mean() > 0.97
    assert names["classifier"].score(names["subspace"].transform(names["X"]), names["tags"]) > 0.95


def test_the_subspace_is_a_data_frame(names):
    plane = names["plane"]
    assert list(plane.columns) == [f"subspacekmeans{i}" for i in range(plane.shape[1])]
    assert plane.index.equals(names["X"].index)
    bare = names["model"][-1].transform(names["model"][0].transform(names["X"]))
    assert np.array_equal(plane.to_numpy(), np.asarray(bare))
    assert 1 <= plane.shape[1] < 16


def test_the_search_finds_the_share(names):
    search = names["search"]
    assert search.best_params_["subspacekmeans__o_ratio"] == 0.75
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 4
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    assert names["by_f1"].best_score_ > 0.9
