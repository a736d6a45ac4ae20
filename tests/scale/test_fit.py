"""Unlabelled text in shards: the same model, to the byte, as with the text in memory."""

import pytest

from handful import Tagger
from handful.errors import DataError, ModelError
from handful.scale import encode_texts, fit
from tagger.test_refit import KINDS_OF_FIT, MORE, contents
from tagger.toy import SUPPORT, UNLABELLED, ToyEncoder

distributed = pytest.importorskip("distributed")

TEXT = [f"{text} {word} saw Pim ." for word in ("one", "two", "Gus") for text in UNLABELLED] + UNLABELLED
FEW = [*SUPPORT, MORE[2]]  # one of them stands in the text, and has other labels there than none


@pytest.fixture(scope="module")
def threads():
    """Give workers that are threads: they can have any encoder."""
    with distributed.Client(
        processes=False, n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as client:
        yield client


def encoded(client, folder, encoder):
    files = []
    for number in range(3):  # a piece each
        files.append(folder / f"text{number}.txt")
        files[-1].write_text("".join(f"{text}\n" for text in TEXT[5 * number : 5 * number + (5 if number < 2 else 99)]))
    return encode_texts(client, list(map(str, files)), folder / "features", encoder=encoder)


@KINDS_OF_FIT
def test_shards_give_the_model_that_a_list_gives(threads, encoder, given, tmp_path):
    near = contents(Tagger(encoder=encoder, cache=False, **given).fit([*FEW, MORE[0]], TEXT), tmp_path / "near")
    features = encoded(threads, tmp_path, encoder)
    far = fit(Tagger(encoder=encoder, cache=False, **given), [*FEW, MORE[0]], features)
    assert contents(far, tmp_path / "far") == near


def test_labels_are_added_without_the_text_after_a_note_and_cannot_be_changed(threads, tmp_path):
    tagger = fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, encoded(threads, tmp_path, ToyEncoder()))
    assert tagger.text_ is None
    with pytest.raises(ModelError, match="does not hold the text of its fit; fit again with the new labels"):
        tagger.relabel(FEW)
    assert any("of the fit before are missing" in note for note in tagger.add([MORE[0]]).summary_.notes)


def test_text_that_is_here_is_for_the_tagger_itself():
    with pytest.raises(DataError, match=r"expected what encode_texts returns; Tagger.fit takes text that is here"):
        fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, TEXT)
