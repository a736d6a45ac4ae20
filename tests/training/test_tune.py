"""`tune`, from labels to a folder."""

import dataclasses
import random
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from made import ENDINGS, make_corpus, make_encoder, write_conll
from typer.testing import CliRunner

from handful import Tagger
from handful.cli.commands import make_app
from handful.encoders import _graph as graph
from handful.encoders import export_encoder, load
from handful.encoders.names import NAMES_FILE, NameHead
from handful.errors import DataError, EncoderError, MissingExtraError
from handful.evaluate import score
from handful.text import read, types_of, write
from handful.training import TuneRecipe, tune

TYPES = {"PER": "who", "LOC": "where", "GENE": "which", "DRUG": "what"}
LONG = pytest.mark.exhaustive
QUICK = TuneRecipe(rank=4, least_steps=60, batch=8, epochs=12, lr=0.02, head_lr=0.02, dropout=0, folds=2, share=0.35)


@pytest.fixture(scope="module")
def folders(made_once):
    """Return a random encoder: in the Hugging Face layout, exported, and with a head that reads names."""

    def make(folder):
        source = make_encoder(folder / "source", "bert")
        export_encoder(source, folder / "int8", int8=True)
        head = NameHead(np.eye(32), np.zeros(32), np.random.default_rng(0).normal(size=(8, 32)))
        head.save(folder / "source" / NAMES_FILE)
        export_encoder(source, folder / "named", int8=True)
        with pytest.MonkeyPatch.context() as patch:  # its table of embeddings counts as a large one
            patch.setattr(graph, "_MANY_ROWS", 66)
            export_encoder(source, folder / "four", int8=True, languages=["en", "sw"])
        (folder / "source" / NAMES_FILE).unlink()

    return made_once("to-tune", make)


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    """Return labelled sentences to learn from, and others."""
    folder = tmp_path_factory.mktemp("corpora")
    made = {name: make_corpus(random.Random(name), n, list(ENDINGS)) for name, n in (("few", 40), ("test", 60))}
    return {name: list(read(write_conll(folder / f"{name}.conll", some))) for name, some in made.items()}


def fitted(encoder, corpora, **more):
    return Tagger(encoder=encoder, cache=False, **more).fit(corpora["few"])


@pytest.mark.parametrize("kind", ["named", *(pytest.param(kind, marks=LONG) for kind in ("int8", "source"))])
def test_a_tuned_tagger_is_better_and_like_any_other(kind, folders, corpora, tmp_path):
    types = {"types": TYPES} if kind == "named" else {}
    before = fitted(folders / kind, corpora, **types)
    after = tune(before, out=tmp_path / "tuned", recipe=QUICK)
    f1 = [tagger.evaluate(corpora["test"]).strict.micro.f1 for tagger in (before, after.tagger)]
    assert after.is_tuned
    assert f1[1] > f1[0]
    assert "the tuned encoder is taken" in str(after)
    assert after.after > after.before + 0.5 * after.error > after.before
    assert [path.name for path in tmp_path.iterdir()] == ["tuned"]
    assert (tmp_path / "tuned" / "encoder" / "model.onnx").is_file()
    again = Tagger.load(tmp_path / "tuned", cache=False)
    assert again.predict_sentences(corpora["test"]) == after.tagger.predict_sentences(corpora["test"])
    assert again.evaluate(corpora["test"]).strict.micro.f1 == f1[1]


@LONG
def test_an_encoder_in_four_bits_is_tuned_and_stays_one(folders, corpora, tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "_MANY_ROWS", 66)
    before = fitted(folders / "four", corpora, types=TYPES)
    after = tune(before, out=tmp_path / "tuned", recipe=QUICK)
    assert after.tagger is not before
    encoder = load(tmp_path / "tuned/encoder")
    assert encoder.languages == ("en", "sw")
    kinds = [
        {node.op_type for node in onnx.load(folder / "model.onnx").graph.node}
        for folder in (folders / "four", tmp_path / "tuned/encoder")
    ]
    assert "BitShift" in kinds[0]
    assert kinds[0] == kinds[1]
    f1 = [tagger.evaluate(corpora["test"]).strict.micro.f1 for tagger in (before, after.tagger)]
    assert f1[1] > f1[0]
    words = [sentence.words for sentence in corpora["test"]]
    alone = np.concatenate([encoder.encode([one]) for one in words])
    assert alone.tobytes() == encoder.encode(words).tobytes()


def test_it_is_loaded_without_torch(folders, corpora, tmp_path):
    tune(fitted(folders / "int8", corpora), out=tmp_path / "tuned", recipe=QUICK)
    code = "import sys; sys.modules['torch'] = None; from handful import Tagger; "
    code += f"print(Tagger.load({str(tmp_path / 'tuned')!r}).predict('the katoson sees misuburg'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "katoson" in done.stdout


def test_where_it_does_not_help_the_encoder_stays(folders, corpora, tmp_path):
    before = fitted(folders / "int8", corpora)
    after = tune(before, out=tmp_path / "same", recipe=TuneRecipe(rank=1, epochs=1, least_steps=1, lr=0, folds=2))
    assert not after.is_tuned
    assert "the encoder stays as it was" in str(after)
    assert after.tagger.predict_sentences(corpora["test"]) == before.predict_sentences(corpora["test"])


def test_a_gain_that_may_be_chance_is_not_taken(folders, corpora, tmp_path):
    before = fitted(folders / "int8", corpora)
    after = tune(before, out=tmp_path / "same", recipe=dataclasses.replace(QUICK, caution=1000))
    assert after.after > after.before
    assert not after.is_tuned
    assert after.tagger.predict_sentences(corpora["test"]) == before.predict_sentences(corpora["test"])


def test_more_labels_and_text_are_taken(folders, corpora, tmp_path):
    before = Tagger(encoder=folders / "int8", cache=False).fit(corpora["few"][:14])
    text = [sentence.without_labels() for sentence in corpora["test"]]
    after = tune(before, corpora["few"][14:], text, out=tmp_path / "tuned", recipe=QUICK)
    assert after.tagger.summary_.n_support == 40
    assert after.tagger.summary_.n_unlabelled_words == sum(len(one.words) for one in text)
    assert before.summary_.n_support == 14


def test_partial_labels_count_for_what_they_say(folders, corpora, tmp_path):
    words = ["the", "katoson", "sees", "misuburg", "near", "lavisen", "."]
    partial = {"tokens": words, "ner_tags": ["O", "PER|LOC", "O", "_", "O", "PER", "O"]}
    before = Tagger(encoder=folders / "int8", cache=False).fit([*corpora["few"], partial])
    assert tune(before, out=tmp_path / "tuned", recipe=QUICK).n_sentences == 41


def files(folder):
    return {path.relative_to(folder): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@LONG
def test_what_was_stopped_leaves_nothing_and_the_same_call_gives_the_same_bytes(
    folders, corpora, tmp_path, monkeypatch
):
    from handful.training import student

    tagger, take, taken = fitted(folders / "int8", corpora), student.Loop.take, []

    def stopped(loop):
        taken.append(take(loop))
        if len(taken) == 125:  # in the last of three trainings
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(student.Loop, "take", stopped)
        with pytest.raises(KeyboardInterrupt):
            tune(tagger, out=tmp_path / "tuned", recipe=QUICK)
    assert not list(tmp_path.iterdir())
    for name in ("one", "other"):
        tune(tagger, out=tmp_path / name, recipe=QUICK)
    assert files(tmp_path / "one") == files(tmp_path / "other")


def test_progress_says_what_is_done_and_how_long_it_takes(folders, corpora, tmp_path):
    states = []
    tune(fitted(folders / "int8", corpora), out=tmp_path / "tuned", recipe=QUICK, progress=states.append)
    assert [state.step for state in states] == list(range(1, states[-1].n_steps + 1))
    assert str(states[0]).startswith("checking 1/2 · step 1/")
    assert str(states[-1]).startswith("tuning · step")


def test_bad_input_is_said_first(folders, corpora, tmp_path, monkeypatch):
    few = Tagger(encoder=folders / "int8", cache=False).fit(corpora["few"][:8])
    with pytest.raises(DataError, match="there are 8 labelled sentences, too few to tune"):
        tune(few, out=tmp_path / "a")
    with pytest.raises(DataError, match="not fitted"):
        tune(Tagger(encoder=folders / "int8"), out=tmp_path / "a")
    tagger = fitted(folders / "int8", corpora)
    other = Tagger(encoder=tagger.encoder_, cache=False).fit(corpora["few"])
    with pytest.raises(EncoderError, match="an object, which cannot be tuned"):
        tune(other, out=tmp_path / "a")
    with pytest.raises(DataError, match="rank"):
        TuneRecipe(rank=0)
    monkeypatch.setattr("handful._util.lazy.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="tuning needs torch"):
        tune(tagger, out=tmp_path / "b")


def test_what_people_do_elsewhere(folders, corpora, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks" / "tune")
    import finetuned

    monkeypatch.setattr(finetuned, "RECIPE", TuneRecipe(least_steps=80, lr=3e-3, head_lr=3e-3, dropout=0))
    made = [finetuned.FineTuned(folders / "int8").fit(corpora["few"]) for _ in range(2)]
    found = [one.predict_sentences(corpora["test"]) for one in made]
    assert found[0] == found[1]
    f1 = score(corpora["test"], found[0]).micro.f1
    assert f1 > 0.5


def test_tuned_is_a_method_of_the_bench():
    from handful.bench._methods import OURS, TunedTagger, Variant, takes_types, variants

    assert variants(["tuned"], ["none", "auto"]) == [Variant("tuned", "auto", "all")]
    assert takes_types("tuned")
    assert OURS["tuned"] is TunedTagger


@pytest.mark.parametrize(("n", "is_tuned"), [(40, True), (8, False)])  # 8 sentences are too few to hold some out
def test_the_method_tunes_where_there_are_enough_labels(n, is_tuned, folders, corpora):
    from handful.bench._methods import TunedTagger

    method = TunedTagger(folders / "named", "auto", False, types_of(TYPES), recipe=QUICK)
    found = method.fit(corpora["few"][:n], None).predict_sentences(corpora["test"])
    assert [one.words for one in found] == [one.words for one in corpora["test"]]
    assert (method.tuning is not None) is is_tuned


def test_the_command(folders, corpora, tmp_path):
    fitted(folders / "int8", corpora).save(tmp_path / "model")
    write(corpora["test"][:20], tmp_path / "more.conll", "conll")
    usual = dataclasses.asdict(TuneRecipe())
    changed = {name: value for name, value in dataclasses.asdict(QUICK).items() if value != usual[name]}
    (tmp_path / "recipe.toml").write_text("".join(f"{name} = {value}\n" for name, value in changed.items()))

    def tune(out):
        arguments = ["tune", tmp_path / "model", tmp_path / "more.conll", "--out", tmp_path / out]
        arguments += ["--recipe", tmp_path / "recipe.toml"]
        return CliRunner().invoke(make_app(["tune", "fit"]), [*map(str, arguments)])

    done = tune("tuned")
    assert done.exit_code == 0
    assert "on held-out labels, F1 was" in " ".join(done.stdout.split())
    assert "60 sentences" in " ".join(done.stdout.split())
    assert Tagger.load(tmp_path / "tuned").summary_.n_support == 60
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "file").touch()
    refused = tune("other")
    assert (refused.exit_code, "other things in it" in refused.stderr) == (1, True)
