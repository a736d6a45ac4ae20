"""The component for spaCy, in pipelines of spaCy itself."""

import shutil
import subprocess
import sys
import tomllib
import warnings
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc, DocBin, Span
from spacy.training import Example
from spacy.util import registry

from handful import Sentence, Tagger, examples, read, score
from handful.errors import DataError, FileError, HandfulWarning
from handful.integrations import SpacyTagger
from handful.text import Span as OurSpan
from handful.text import stream

TEXTS = [
    "She dug in seaweed meal with the fork before the onions went in.",
    "Slugs had every lettuce by Sunday 🐌, so we put down copper tape.",
    "",
    "Nothing happened today.",
    "We sprayed the tomatoes with soft soap against whitefly.",
]


def pipeline(garden, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("handful", config={"model": str(garden), "threads": 1, **config})
    return nlp


def entities(doc):
    return [(one.text, one.label_, one.start_char, one.end_char, one._.score) for one in doc.ents]


def expected(tagger, text):
    keys = ("word", "entity_group", "start", "end", "score")
    return [tuple(found[key] for key in keys) for found in tagger.predict(text)]


@pytest.fixture(scope="module")
def nlp(garden):
    return pipeline(garden)


def test_entities_are_those_of_the_tagger(nlp, tagger):
    found = [entities(nlp(text)) for text in TEXTS]
    assert found == [expected(tagger, text) for text in TEXTS]
    assert sum(map(len, found)) >= 6
    assert nlp.pipe_labels["handful"] == [one.name for one in tagger.types_]


def test_pipe_batches_and_gives_the_same(nlp, tagger):
    calls = []
    component = nlp.get_pipe("handful")
    tag = component.tagger.tag

    def counted(documents, **options):
        calls.append(documents := list(documents))
        return tag(documents, **options)

    component.tagger.tag = counted
    try:
        docs = list(nlp.pipe(TEXTS * 3, batch_size=4))
    finally:
        del component.tagger.tag
    assert [len(call) for call in calls] == [4, 4, 4, 3]
    assert [entities(doc) for doc in docs] == [expected(tagger, text) for text in TEXTS * 3]


def test_several_processes(garden, tagger):
    nlp = pipeline(garden, threads=2)
    nlp(TEXTS[0])  # the encoder is open, with its threads, before the processes are started
    docs = list(nlp.pipe(TEXTS, n_process=2, batch_size=2))
    assert [[one[:4] for one in entities(doc)] for doc in docs] == [
        [one[:4] for one in expected(tagger, text)] for text in TEXTS
    ]


def test_spans_under_a_key_with_scores(garden, tagger):
    nlp = pipeline(garden, spans_key="garden", min_score=0.3)
    doc = nlp(TEXTS[0])
    found = [one for one in expected(tagger, TEXTS[0]) if one[4] >= 0.3]
    assert [(one.text, one.label_, one._.score) for one in doc.spans["garden"]] == [(*f[:2], f[4]) for f in found]
    assert doc.spans["garden"].attrs["scores"].tolist() == [one[4] for one in found]
    assert not doc.ents
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    assert again.spans["garden"].attrs["scores"].tolist() == [one[4] for one in found]
    assert [one._.score for one in again.spans["garden"]] == [one[4] for one in found]


def test_mentions_inside_others_are_spans_of_a_key_and_the_outermost_are_entities(tmp_path):
    few = ["The [University of [Oslo](GPE)](ORG) has students .", "She left [Paris](GPE) for the [Bank](ORG) ."]
    types = {"ORG": "company, school or institution", "GPE": "country or city"}
    Tagger(types, overlap=True, cache=False, threads=1).fit(few).save(tmp_path / "model")
    text = "He studied at the University of Bergen."
    doc = pipeline(tmp_path / "model", spans_key="sc")(text)
    assert [(one.text, one.label_) for one in doc.spans["sc"]] == [("University of Bergen", "ORG"), ("Bergen", "GPE")]
    assert not doc.ents
    nlp = pipeline(tmp_path / "model")
    assert [(one.text, one.label_) for one in nlp(text).ents] == [("University of Bergen", "ORG")]
    assert nlp.get_pipe("handful").n_left_out == 1
    DocBin(docs=[doc], store_user_data=True).to_disk(tmp_path / "docs.spacy")
    assert [span.type for span in read(tmp_path / "docs.spacy")[0].spans] == ["ORG", "GPE"]


def test_types_alone(tagger):
    nlp = spacy.blank("en")
    types = {"PEST": "an animal or disease that harms plants", "TOOL": "a tool taken in hand to do the work"}
    nlp.add_pipe("handful", name="finder", config={"types": types, "threads": 1})
    assert ("whitefly", "PEST") in [(one.text, one.label_) for one in nlp(TEXTS[4]).ents]
    assert nlp.get_pipe("finder").labels == ("PEST", "TOOL")


def ruled(garden, patterns, **config):
    nlp = spacy.blank("en")
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    nlp.add_pipe("handful", config={"model": str(garden), "threads": 1, **config})
    return nlp


def test_earlier_entities_are_kept_on_request(garden, tagger):
    patterns = [{"label": "DAY", "pattern": "Sunday"}, {"label": "FOOD", "pattern": "lettuce"}]
    found = {(one[0], one[1]) for one in expected(tagger, TEXTS[1])}
    assert "lettuce" in {word for word, _ in found}  # so that both want it
    kept = ruled(garden, patterns, keep=True)
    assert {(one.text, one.label_) for one in kept(TEXTS[1]).ents} == {
        ("Sunday", "DAY"),
        ("lettuce", "FOOD"),
        *(one for one in found if one[0] != "lettuce"),
    }
    assert kept.get_pipe("handful").n_left_out == 1
    replaced = ruled(garden, patterns)
    assert {(one.text, one.label_) for one in replaced(TEXTS[1]).ents} == found


def test_spans_of_the_key_are_kept_on_request(garden, tagger):
    nlp = spacy.blank("en")
    nlp.add_pipe("span_ruler", config={"spans_key": "both"}).add_patterns([{"label": "DAY", "pattern": "Sunday"}])
    nlp.add_pipe("handful", config={"model": str(garden), "threads": 1, "spans_key": "both", "keep": True})
    doc = nlp(TEXTS[1])
    group = doc.spans["both"]
    assert ("Sunday", "DAY") in [(one.text, one.label_) for one in group]
    assert len(group) == len(expected(tagger, TEXTS[1])) + 1
    is_ours = np.array([one.label_ != "DAY" for one in group])
    assert (~np.isnan(group.attrs["scores"]) == is_ours).all()


@pytest.mark.parametrize(
    ("alignment", "words"), [("expand", ["aphids;then", "whitefly,too."]), ("contract", []), ("strict", [])]
)
def test_tokens_decide_the_borders_and_it_is_said_once(garden, tagger, alignment, words):
    text = "We fought the aphids;then came the whitefly,too."
    assert {one[0] for one in expected(tagger, text)} == {"aphids", "whitefly"}
    nlp = pipeline(garden, alignment=alignment)
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)  # it splits at white space alone
    with pytest.warns(HandfulWarning, match=r"inside a token.*'aphids'.*alignment='" + alignment):
        doc = nlp(text)
    assert [one.text for one in doc.ents] == words
    component = nlp.get_pipe("handful")
    assert component.n_unaligned == 2
    assert component.n_left_out == (0 if words else 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        nlp(text)
    assert component.n_unaligned == 4


def test_two_mentions_in_one_token_are_one_the_surer(garden, tagger):
    text = "Take the fork,spade and go."
    scores = {one[0]: one[4] for one in expected(tagger, text)}
    assert {"fork", "spade"} <= scores.keys()
    nlp = pipeline(garden)
    nlp.tokenizer = spacy.tokenizer.Tokenizer(nlp.vocab)
    with pytest.warns(HandfulWarning, match="inside a token"):
        (entity,) = nlp(text).ents
    assert (entity.text, entity._.score) == ("fork,spade", max(scores["fork"], scores["spade"]))
    assert nlp.get_pipe("handful").n_left_out == 1


def test_a_folder_and_back_when_the_model_is_gone(garden, tagger, tmp_path):
    copy = tmp_path / "model"
    shutil.copytree(garden, copy)
    pipeline(copy, min_score=0.2).to_disk(tmp_path / "nlp")
    shutil.rmtree(copy)
    assert not [file for file in (tmp_path / "nlp" / "handful").rglob("*") if file.suffix in (".pkl", ".pickle")]
    again = spacy.load(tmp_path / "nlp")
    assert entities(again(TEXTS[0])) == [one for one in expected(tagger, TEXTS[0]) if one[4] >= 0.2]
    again.to_disk(tmp_path / "nlp")  # in the place of the one there
    assert entities(spacy.load(tmp_path / "nlp")(TEXTS[1])) == entities(again(TEXTS[1]))


def test_an_encoder_given_by_its_path_goes_along(garden, tmp_path):
    from handful import Tagger
    from handful.encoders import EMBEDDED

    shutil.copytree(EMBEDDED["handful-en"], tmp_path / "encoder")
    Tagger("pest, tool", encoder=tmp_path / "encoder", cache=False, threads=1).fit().save(tmp_path / "model")
    nlp = pipeline(tmp_path / "model")
    expected = entities(nlp(TEXTS[4]))
    nlp.to_disk(tmp_path / "nlp")
    shutil.rmtree(tmp_path / "encoder")
    shutil.rmtree(tmp_path / "model")
    assert expected
    assert entities(spacy.load(tmp_path / "nlp")(TEXTS[4])) == expected


def test_bytes_leave_the_component_as_it_is(nlp, tagger):
    nlp.from_bytes(nlp.to_bytes())
    assert entities(nlp(TEXTS[0])) == expected(tagger, TEXTS[0])


def test_the_config_and_back(tagger, garden):
    types = {"PEST": "an animal: slugs & others, 100 % of them", "GARDEN TOOL": 'a "tool" = what is held'}
    nlp = spacy.blank("en")
    nlp.add_pipe("handful", config={"types": types, "min_score": {"PEST": 0.5}, "threads": 1})
    text = nlp.config.to_str()
    again = spacy.util.load_model_from_config(spacy.Config().from_str(text), auto_fill=False)
    component = again.get_pipe("handful")
    assert (component.types, component.min_score) == (types, {"PEST": 0.5})
    assert entities(again(TEXTS[4])) == entities(nlp(TEXTS[4]))


def test_scores_of_spacy_equal_ours(nlp):
    gold = [sentence for sentence in read(examples.HELDOUT) if sentence.spans][:60]
    made, ours = [], []
    for sentence in gold:
        sentence = sentence.with_text()
        predicted = nlp.make_doc(sentence.text)
        reference = predicted.copy()
        spans = [reference.char_span(*sentence.characters(span), label=span.type) for span in sentence.spans]
        assert None not in spans
        reference.set_ents(spans)
        made.append(Example(predicted, reference))
        tokens = tuple(token.text for token in predicted)
        ours.append(Sentence(tokens, tuple(OurSpan(one.start, one.end, one.label_) for one in reference.ents)))
    theirs = nlp.evaluate(made)
    found = [[OurSpan(one.start, one.end, one.label_) for one in nlp(example.text).ents] for example in made]
    scores = score(ours, found)
    assert 0.3 < scores.micro.f1 < 1
    assert theirs["ents_f"] == pytest.approx(scores.micro.f1)
    assert theirs["ents_p"] == pytest.approx(scores.micro.precision)
    assert theirs["ents_r"] == pytest.approx(scores.micro.recall)
    assert {name: one["f"] for name, one in theirs["ents_per_type"].items()} == pytest.approx(
        {name: one.f1 for name, one in scores.by_type.items()}
    )


def test_scores_of_spans_equal_those_of_entities(garden, nlp):
    doc = nlp(TEXTS[0])
    reference = nlp.make_doc(TEXTS[0])
    reference.set_ents([reference.char_span(one.start_char, one.end_char, label=one.label_) for one in doc.ents[:1]])
    of_spans = pipeline(garden, spans_key="sc")
    with_spans = reference.copy()
    with_spans.spans["sc"] = list(with_spans.ents)
    entities = nlp.evaluate([Example(nlp.make_doc(TEXTS[0]), reference)])
    spans = of_spans.evaluate([Example(of_spans.make_doc(TEXTS[0]), with_spans)])
    assert 0 < entities["ents_f"] < 1
    assert spans["spans_sc_f"] == entities["ents_f"]
    assert spans["spans_sc_p"] == entities["ents_p"]


def test_docs_of_the_component_are_read_with_their_scores(nlp, tagger, tmp_path):
    DocBin(docs=list(nlp.pipe(TEXTS[:2])), store_user_data=True).to_disk(tmp_path / "docs.spacy")
    with stream(tmp_path / "docs.spacy") as documents:
        found = [
            [(text, span.type, s, e, span.score) for s, e, span in d.mentions() for text in [d.text[s:e]]]
            for d in documents
        ]
    assert found == [expected(tagger, text) for text in TEXTS[:2]]


def test_an_error_goes_to_spacys_handler_with_its_doc_alone(garden, tagger):
    nlp = pipeline(garden)
    component = nlp.get_pipe("handful")
    tag = component.tagger.tag

    def failing(documents, **options):
        documents = list(documents)
        if any("happened" in document.text for document in documents):
            raise RuntimeError("no")
        return tag(documents, **options)

    component.tagger.tag = failing
    seen = []
    nlp.set_error_handler(lambda name, component, docs, error: seen.extend(docs))
    docs = list(nlp.pipe(TEXTS))
    assert [doc.text for doc in docs] == [text for text in TEXTS if "happened" not in text]
    assert [doc.text for doc in seen] == ["Nothing happened today."]
    assert [entities(doc) for doc in docs] == [expected(tagger, doc.text) for doc in docs]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "needs a model"),
        ({"model": "a", "types": "b"}, "not both"),
        ({"types": "pest", "alignment": "loose"}, "expected one of expand"),
        ({"types": "pest", "min_score": 2.0}, "from 0 to 1"),
        ({"types": {"O": "none"}}, "O"),
    ],
)
def test_bad_config_is_said_at_once(config, message):
    with pytest.raises(DataError, match=message):
        spacy.blank("en").add_pipe("handful", config=config)


def test_bad_models_are_said_when_used(tmp_path, garden):
    nlp = pipeline(tmp_path / "nothing")
    with pytest.raises(FileError, match="no such folder"):
        nlp("text")
    with pytest.raises(DataError, match="min_score names PETS"):
        pipeline(garden, min_score={"PETS": 0.5})("text")


def test_a_score_of_another_package_is_not_overwritten():
    before = Span.get_extension("score")
    Span.set_extension("score", getter=lambda span: 1, force=True)
    try:
        with pytest.raises(DataError, match="'score' of spans is taken"):
            SpacyTagger(types="pest")
    finally:
        Span.remove_extension("score")
        Span.set_extension("score", default=before[0])


def test_the_entry_point_is_the_factory():
    """What pyproject.toml declares is what spaCy needs: the very function that is registered."""
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    ((name, value),) = project["entry-points"]["spacy_factories"].items()
    assert EntryPoint(name, value, "spacy_factories").load() is registry.factories.get("handful")


def test_spacy_finds_the_component_by_itself(tmp_path):
    """Install the metadata that the build makes into a folder, and look from a process that imports spaCy alone."""
    root = Path(__file__).parents[2]
    shutil.copy(root / "pyproject.toml", tmp_path)
    for file in ("README.md", "LICENSE", "NOTICE"):
        shutil.copy(root / file, tmp_path)
    package = tmp_path / "src" / "handful"
    package.mkdir(parents=True)
    shutil.copy(root / "src" / "handful" / "__init__.py", package)
    (tmp_path / "meta").mkdir()
    build = "from setuptools.build_meta import prepare_metadata_for_build_wheel as make; make('meta')"
    subprocess.run([sys.executable, "-W", "ignore", "-c", build], cwd=tmp_path, check=True, capture_output=True)
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path / "meta")!r})
import spacy
assert not [name for name in sys.modules if name.startswith("handful")]
component = spacy.blank("en").add_pipe("handful", config={{"types": "pest"}})
print(type(component).__name__)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "SpacyTagger\n", run.stderr


def test_the_example_of_the_docs(capsys):
    page = (Path(__file__).parents[2] / "docs" / "integrations.md").read_text(encoding="utf-8")
    code = page.partition("## spaCy\n\n```python\n")[2].partition("```")[0]
    exec(compile(code, "integrations.md", "exec"), {})
    (found,) = eval(capsys.readouterr().out)
    assert found[:2] == ("whitefly", "PEST")
    assert 0 < found[2] <= 1
