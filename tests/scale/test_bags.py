"""Unlabelled text on Dask: the same model, to the byte, as with the text in memory."""

import pytest

from handful import Tagger
from handful.errors import DataError, ModelError
from handful.scale import fit
from handful.text import Sentence
from tagger.test_refit import KINDS_OF_FIT, MORE, contents
from tagger.toy import SUPPORT, UNLABELLED, ToyEncoder

bag = pytest.importorskip("dask.bag")
pytest.importorskip("dask.dataframe")

TEXT = [f"{text} {word} saw Pim ." for word in ("one", "two", "Gus") for text in UNLABELLED] + UNLABELLED
FEW = [*SUPPORT, MORE[2]]  # one of them stands in the text, and has other labels there than none


@KINDS_OF_FIT
def test_a_bag_gives_the_model_that_a_list_gives(encoder, given, tmp_path):
    near = contents(Tagger(encoder=encoder, cache=False, **given).fit([*FEW, MORE[0]], TEXT), tmp_path / "near")
    far = fit(Tagger(encoder=encoder, cache=False, **given), [*FEW, MORE[0]], bag.from_sequence(TEXT, npartitions=4))
    assert contents(far, tmp_path / "far") == near


def test_a_column_of_a_data_frame_gives_it_too(tmp_path):
    import dask.dataframe as dd
    import pandas as pd

    near = contents(Tagger(encoder=ToyEncoder(), cache=False).fit(FEW, TEXT), tmp_path / "near")
    frame = dd.from_pandas(pd.DataFrame({"id": range(len(TEXT)), "body": TEXT}), npartitions=3)
    far = fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, frame["body"])
    assert contents(far, tmp_path / "far") == near
    assert far.predict(TEXT[0])


def test_labels_are_added_without_the_text_after_a_note_and_cannot_be_changed():
    tagger = fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, bag.from_sequence(TEXT, npartitions=2))
    assert tagger.text_ is None
    with pytest.raises(ModelError, match="does not hold the text of its fit; fit again with the new labels"):
        tagger.relabel(FEW)
    assert any("of the fit before are missing" in note for note in tagger.add([MORE[0]]).summary_.notes)


def test_text_that_is_here_is_for_the_tagger_itself():
    with pytest.raises(DataError, match=r"expected what encode_texts returns, a dask.bag, or .* Tagger.fit takes text"):
        fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, TEXT)


def test_a_text_that_cannot_be_read_is_named():
    with pytest.raises(DataError, match=r"the unlabelled text, partition 1, item 0: found int 5"):
        fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, bag.from_sequence(["a b", 5], npartitions=2))
    with pytest.raises(DataError, match="the unlabelled text has no word"):
        fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, bag.from_sequence([" "], npartitions=1))


def test_sentences_and_lists_of_words_are_text_too(tmp_path):
    items = [Sentence(tuple(TEXT[0].split())), TEXT[1].split(), TEXT[2]]
    near = contents(Tagger(encoder=ToyEncoder(), cache=False).fit(FEW, items), tmp_path / "near")
    far = fit(Tagger(encoder=ToyEncoder(), cache=False), FEW, bag.from_sequence(items, npartitions=2))
    assert contents(far, tmp_path / "far") == near
