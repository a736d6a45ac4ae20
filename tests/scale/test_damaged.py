"""Folders of shards that are not as they were written, and texts that are damaged: an error says which file."""

import gzip
import json

import numpy as np
import pytest

from handful.errors import EncoderError, FileError, FormatError
from handful.scale import open_features
from handful.scale._features import _encode_piece
from handful.scale._folders import ShardFolder
from handful.scale._pieces import PieceReader, TextPiece, find_pieces
from handful.scale._shards import are_usual, seal
from handful.scale._workers import Opening

from .made import TEXTS, Encoder

pytest.importorskip("fsspec")
pytest.importorskip("dask")

OPTIONS = {"unlabelled": True}


@pytest.fixture
def features(tmp_path):
    """Make a folder of features in two shards, as workers do."""
    (tmp_path / "text.txt").write_text("\n".join(TEXTS[:8]) + "\n", encoding="utf-8")
    pieces = find_pieces([str(tmp_path / "text.txt")], None, OPTIONS, tmp_path / "spool", 300)
    plan = {"encoder": "made", "dim": 8, "dtype": "float32", "options": OPTIONS}
    folder = ShardFolder(tmp_path / "features", "features")
    folder.start(plan | {"pieces": [piece.to_dict() for piece in pieces]})
    opening = Opening(Encoder(), None, None)
    found = [_encode_piece(one, str(folder.path), OPTIONS, opening, "float32") for one in enumerate(pieces)]
    folder.finish(found)
    assert len(found) == 2
    return folder.path


def read_all(path):
    """Read all that there is to read."""
    far = open_features(path).far_text()
    words = [words for shard in far.shards for words in shard.load().words]
    chunk = far.rows.chunks[0].item.load()
    return words, chunk[0 : len(far.rows)]


def change(path, **values):
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | values), encoding="utf-8")


def test_what_was_written_is_read(features):
    words, rows = read_all(features)
    assert " ".join(words[0]) in TEXTS[0]
    assert rows.shape == (sum(map(len, words)), 8)


@pytest.mark.parametrize(
    ("name", "values", "said"),
    [
        ("plan.json", {"format": 2}, "plan.json: is of format 2, this version of handful reads 1"),
        ("plan.json", {"kind": "predictions"}, "does not describe features"),
        ("plan.json", {"dim": "8"}, "'dim' is '8', expected a whole number of at least 1"),
        ("plan.json", {"dim": 9}, "is not an array of .* rows of 9 numbers"),
        ("plan.json", {"dim": 4}, "is not an array of .* rows of 4 numbers .float32. with checksums, as plan"),
        ("plan.json", {"dtype": "float16"}, "is not an array"),
        ("plan.json", {"dtype": "int8"}, "'dtype' is 'int8', expected one of float32, float16"),
        ("plan.json", {"encoder": None}, "'encoder' is None, expected a string"),
        ("plan.json", {"pieces": None}, "'pieces' is None, expected a list"),
        ("plan.json", {"pieces": []}, "has 2 shards, and plan.json has 0 pieces of text"),
        ("index.json", {"n_words": [1 << 60, 1]}, "'n_words' is .*, expected a list, each entry a whole"),
        ("index.json", {"n_words": [1 << 40, 1]}, "is not an array of 1,099,511,627,776 rows"),
        ("index.json", {"n_words": [3, 3]}, "is not an array of 3 rows"),
        ("index.json", {"report": "line"}, "'report' is 'line', expected a list, each entry a string"),
    ],
)
def test_a_plan_or_an_index_that_was_changed_is_an_error(features, name, values, said):
    change(features / name, **values)
    with pytest.raises((FileError, FormatError), match=said):
        read_all(features)


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b"[]", b"null"])
@pytest.mark.parametrize("name", ["plan.json", "index.json", "000000.json"])
def test_a_file_that_is_no_object_is_an_error(features, name, content):
    (features / name).write_bytes(content)
    with pytest.raises((FileError, FormatError), match=name):
        read_all(features)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"sentences": [["one"]]}, "000001.json: its words are not the .* of index.json"),
        ({"sentences": [[]]}, "000001.json: its words are not the .* of index.json"),
        ({"sentences": "text"}, "'sentences' is 'text', expected a list"),
        ({"sentences": [[1]]}, "000001.json: its words are not the .* of index.json"),
        ({"unreadable": [10**6]}, "its words are not the"),
        ({"unreadable": [-1]}, "'unreadable' is .*, expected a list, each entry a whole number of at least 0"),
        ({"n_words": -1}, "'n_words' is -1, expected a whole number of at least 0"),
        ({"report": None}, "'report' is None, expected a list, each entry a string"),
    ],
)
def test_words_that_do_not_fit_are_an_error_whatever_the_checksum_says(features, values, said):
    rows, about = features / "000001.npy", features / "000001.json"
    change(about, **values)
    rows.write_bytes(rows.read_bytes()[:-16])
    seal(rows, about.read_bytes())
    with pytest.raises((FileError, FormatError), match=said):
        read_all(features)


def sealed(path, change):
    content = bytearray(path.read_bytes()[:-16])
    change(content)
    path.write_bytes(content)
    seal(path, path.with_suffix(".json").read_bytes())


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1e30])
def test_numbers_that_no_encoder_gives_are_an_error(features, number):
    def put(content):
        content[-4:] = np.float32(number).tobytes()

    sealed(features / "000000.npy", put)
    with pytest.raises(FileError, match=r"000000.npy: has numbers that are not finite, or above 1e\+15; remove the"):
        read_all(features)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("dtype", "largest"), [("float16", 65504), ("float32", 1e15)])
def test_numbers_are_usual_up_to_the_largest(dtype, largest):
    assert are_usual(np.array([[0, -0.0, largest, -largest]], dtype))
    assert are_usual(np.empty((0, 3), dtype))
    for number in (np.nan, -np.nan, np.inf, -np.inf):
        assert not are_usual(np.array([[0, number]], dtype))
    assert are_usual(np.array([1.1e15], "float32")) is False


def test_an_array_that_is_cut_off_is_an_error(features):
    path = features / "000000.npy"
    whole = path.read_bytes()
    path.write_bytes(whole[:-16])
    with pytest.raises(FileError, match=r"000000.npy: is not an array of .* or was cut off; remove the folder"):
        read_all(features)
    path.write_bytes(whole[:200])
    with pytest.raises(FileError, match=r"000000.npy: is not an array of .* or was cut off; remove the folder"):
        read_all(features)
    path.write_bytes(whole)
    sealed(path, lambda content: content.__delitem__(slice(-32, None)))  # a row less; the checksums are no row
    with pytest.raises(FileError, match="is not an array of"):
        read_all(features)
    path.unlink()
    with pytest.raises(FileError, match=r"000000.npy: cannot be read: No such file or directory; remove the folder"):
        read_all(features)


def test_what_an_encoder_must_not_give_is_not_written(tmp_path):
    class Broken(Encoder):
        def vector(self, word):
            return np.full(self.dim, np.nan)

    (tmp_path / "text.txt").write_text("some text\n")
    piece = TextPiece("text.txt", str(tmp_path / "text.txt"), "text")
    with pytest.raises(EncoderError, match="features that are not finite"):
        _encode_piece((0, piece), str(tmp_path), OPTIONS, Opening(Broken(), None, None), "float32")
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "'documents' is None, expected a whole number of at least 0"),
        (b'{"documents": 1, "words": -1}', "'words' is -1"),
        (b'{"documents": 1, "words": 1, "mentions": 1}', "'report' is None"),
        (None, "cannot be read: No such file"),
    ],
)
def test_counts_beside_predictions_that_are_not_counts_are_an_error(tmp_path, content, said):
    path = tmp_path / "000000.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises((FileError, FormatError), match=f"000000.json: {said}"):
        ShardFolder(tmp_path, "predictions").about(path)


def test_an_index_of_predictions_that_was_changed_is_an_error(tmp_path):
    folder = ShardFolder(tmp_path / "found", "predictions")
    folder.start({})
    folder.finish([{"documents": 1, "words": 2, "mentions": 0, "report": ["a note"]}] * 2)
    assert folder.index()["words"] == [2, 2]
    whole = (folder.path / "index.json").read_text(encoding="utf-8")
    for values in ({"documents": "1"}, {"words": [-1]}, {"mentions": [True]}, {"report": [["a note"]]}):
        (folder.path / "index.json").write_text(whole, encoding="utf-8")
        change(folder.path / "index.json", **values)
        with pytest.raises(FormatError, match=rf"index.json: '{next(iter(values))}' is "):
            folder.index()


def test_a_piece_that_ends_after_the_file_has_what_is_there(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("one\ntwo\n")
    found = PieceReader(TextPiece("text.txt", str(path), "text", 0, 1 << 60), OPTIONS)
    assert [document.text for document in found] == ["one", "two"]


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_path_that_cannot_be_one_is_an_error(path):
    with pytest.raises(FileError, match="cannot be read"):
        find_pieces([path], None, OPTIONS, None)


def test_a_compressed_file_that_is_damaged_is_an_error(tmp_path):
    path = tmp_path / "text.txt.gz"
    content = bytearray(gzip.compress("".join(f"line {i} of {i * i}\n" for i in range(500)).encode()))
    content[12:40] = bytes(28)
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"text.txt.gz: the gzip file is damaged"):
        find_pieces([str(path)], None, OPTIONS, tmp_path / "spool", 100)


def test_text_that_is_said_to_be_wrapped_is_not_cut(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("a short line\n" * 50)
    for wrapped, n_pieces in ((True, 1), (False, 13)):
        options = OPTIONS | {"wrapped": wrapped}
        pieces = find_pieces([str(path)], "text", options, tmp_path / "spool", 50)
        assert len(pieces) == n_pieces
        assert len([document for piece in pieces for document in PieceReader(piece, options)]) == (1 if wrapped else 50)


def test_a_parquet_file_that_is_damaged_is_an_error(tmp_path):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(pa.table({"text": [f"text {i}" for i in range(50)]}), path, compression="none")
    whole = path.read_bytes()
    piece = TextPiece("rows.parquet", str(path), "parquet", 0, 1)
    assert len(list(PieceReader(piece, OPTIONS))) == 50
    with pytest.raises(FormatError, match=r"rows.parquet: the file has 1 row groups, not 2: it was changed"):
        list(PieceReader(TextPiece("rows.parquet", str(path), "parquet", 1, 2), OPTIONS))
    path.write_bytes(whole.replace(b"text 7", b"text \xff"))
    with pytest.raises(FormatError, match=r"rows.parquet: this Parquet file is damaged"):
        list(PieceReader(piece, OPTIONS))
    said = []
    for place in range(0, len(whole) - 8, 7):
        path.write_bytes(whole[:place] + b"\xfe" + whole[place + 1 :])
        try:
            list(PieceReader(piece, OPTIONS))
        except (FileError, FormatError) as error:
            said.append(str(error))
    assert len(said) > 10
    assert all(one.startswith(str(path)) for one in said)
