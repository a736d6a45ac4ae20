"""The head that reads names: its formulas and its file."""

from dataclasses import replace

import numpy as np
import pytest
from heads import by_torch, random_head
from safetensors.numpy import load_file, save_file

from handful.encoders.names import NameHead
from handful.errors import EncoderError, FileError

MEANS = np.random.default_rng(1).normal(size=(7, 32)).astype(np.float32)


def test_vectors_are_those_of_torch():
    head = random_head()
    found = head.vectors(MEANS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_torch(head, MEANS), atol=1e-5)
    np.testing.assert_allclose(found, MEANS @ head.weight.T + head.bias, atol=1e-5)


@pytest.mark.parametrize("dim", [32, 768])
def test_a_row_does_not_depend_on_the_others(dim):
    head = random_head(dim)
    means = np.random.default_rng(1).normal(size=(7, dim))
    found = head.vectors(means)
    assert np.array_equal(head.vectors(means[::-1]), found[::-1])
    assert np.array_equal(head.vectors(np.asfortranarray(means)), found)
    for n in range(7):
        assert np.array_equal(head.vectors(means[n : n + 1])[0], found[n])
    assert head.vectors(means[:0]).shape == (0, dim)


def test_a_file_gives_the_head_back(tmp_path):
    head = replace(random_head(), border=np.arange(65, dtype=np.float32))
    head.save(tmp_path / "a")
    again = NameHead.load(tmp_path / "a", 32)
    assert (again.dim, again.beta) == (32, -0.25)
    assert np.array_equal(again.o_prototypes, head.o_prototypes)
    assert np.array_equal(again.border, head.border)
    assert np.array_equal(again.vectors(MEANS), head.vectors(MEANS))
    assert again.identity() == head.identity()
    again.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_float16_halves_the_matrices_and_nothing_else(tmp_path):
    head = random_head(96)
    head.save(tmp_path / "full")
    head.save(tmp_path / "half", "float16")
    assert (tmp_path / "half").stat().st_size < 0.6 * (tmp_path / "full").stat().st_size
    half = NameHead.load(tmp_path / "half")
    assert half.weight.dtype == np.float32
    assert np.array_equal(half.weight, head.weight.astype(np.float16).astype(np.float32))
    for a, b in ((half.bias, head.bias), (half.o_prototypes, head.o_prototypes)):
        assert np.array_equal(a, b)
    assert half.identity() != head.identity()
    half.save(tmp_path / "again")  # in float32: the same numbers
    assert NameHead.load(tmp_path / "again").identity() == half.identity()


def test_what_float16_cannot_hold_is_refused(tmp_path):
    head = NameHead(np.eye(2) * 1e6, np.zeros(2), np.zeros((1, 2)))
    with pytest.raises(EncoderError, match=r"linear.weight has values that are too large for float16"):
        head.save(tmp_path / "x", "float16")
    with pytest.raises(EncoderError, match="float32 or float16, found 'int8'"):
        head.save(tmp_path / "x", "int8")
    with pytest.raises(FileError, match="nowhere"):
        head.save(tmp_path / "nowhere" / "x")
    assert list(tmp_path.iterdir()) == []


def test_the_identity_follows_every_number():
    def changed(**other):
        head = random_head()
        parts = {"weight": head.weight, "bias": head.bias, "o_prototypes": head.o_prototypes}
        return NameHead(**(parts | {"beta": head.beta} | other)).identity()

    head = random_head()
    different = [
        changed(),
        changed(weight=head.weight + 1),
        changed(bias=-head.bias),
        changed(beta=0),
    ]
    different.append(changed(o_prototypes=head.o_prototypes[:7]))
    different.append(changed(exclusion=0.0))
    assert len(set(different)) == len(different)
    assert changed() == head.identity() == changed(border=np.ones(65))  # no vector depends on it


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"linear.bias": None}, "it lacks linear.bias$"),
        ({"linear.weight": None, "beta": None}, "it lacks linear.weight, beta$"),
        ({"query": np.zeros(3)}, "query is unknown to this version"),
        ({"border": np.zeros(64)}, r"border has the shape \(64,\), expected \(65,\)"),
        ({"linear.weight": np.zeros((32, 31))}, r"linear.weight has the shape \(32, 31\), expected \(32, 32\)"),
        ({"linear.bias": np.zeros((32, 1))}, r"linear.bias has the shape \(32, 1\), expected \(32,\)"),
        ({"linear.bias": np.zeros(())}, r"linear.weight has the shape \(32, 32\), expected \(1, 1\)"),
        ({"o_prototypes": np.zeros((8, 31))}, r"o_prototypes has the shape \(8, 31\), expected \(8, 32\)"),
        ({"o_prototypes": np.zeros((0, 32))}, r"o_prototypes has the shape \(0, 32\), expected \(1, 32\)"),
        ({"beta": np.zeros(1)}, r"beta has the shape \(1,\), expected \(\)"),
        ({"linear.bias": np.full(32, np.nan)}, "linear.bias has values that are not finite"),
        ({"linear.bias": np.full(32, 1e30)}, "linear.bias has values that are not finite, or above 1e"),
    ],
)
def test_broken_files_are_told_with_their_names(tmp_path, change, message):
    path = tmp_path / "names.safetensors"
    random_head().save(path)
    save_file({name: value for name, value in (load_file(path) | change).items() if value is not None}, path)
    with pytest.raises(EncoderError, match=rf"broken encoder: .*names\.safetensors: {message}"):
        NameHead.load(path)


def test_files_that_are_no_heads(tmp_path):
    path = tmp_path / "names.safetensors"
    with pytest.raises(EncoderError, match=r"broken encoder: .*names.safetensors is missing"):
        NameHead.load(path)
    path.write_bytes(b"nothing")
    with pytest.raises(EncoderError, match=r"names.safetensors cannot be read: "):
        NameHead.load(path)
    random_head().save(path)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(EncoderError, match=r"names.safetensors cannot be read: "):
        NameHead.load(path)
    random_head().save(path)
    with pytest.raises(EncoderError, match=r"vectors of 32 numbers, but the encoder gives 768"):
        NameHead.load(path, 768)


def test_wrong_arrays():
    with pytest.raises(EncoderError, match=r"means must have the shape \(n_types, 32\), found \(31,\)"):
        random_head().vectors(np.zeros(31))
    with pytest.raises(EncoderError, match=r"linear.weight must hold numbers"):
        NameHead("no", np.zeros(2), np.zeros((1, 2)))
