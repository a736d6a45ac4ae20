"""The machine-learning backend of Label Studio, by payloads of the form that it sends."""

import contextlib
import sqlite3
import time

import pytest

from growth import grows_as
from handful.errors import DataError, FileError, HandfulError
from handful.serve import Limits
from handful.serve._annotations import Annotations
from handful.serve._label_config import read_config
from tagger.toy import ToyEncoder

from .conftest import TOKEN, serving
from .made import fitted

CONFIG = """
<View>
  <!-- what is looked for -->
  <Header value="Mark names"/>
  <Labels name="kind" toName="body"><Label value="PER" background="red"/><Label value="LOC"/></Labels>
  <Text name="body" value="$article" granularity="word"/>
</View>
"""
GODS = CONFIG.replace('<Label value="LOC"/>', '<Label value="A god" alias="GOD" hint="G gods"/>')
TEXT = "😀 so Pia met Gaia near Leeds ."
PROJECT = "7.1700000000"


def task(id=1, text=TEXT):
    return {"id": id, "data": {"article": text, "row": 3}, "project": 7, "annotations": [], "predictions": []}


def region(text, word, label, start=None):
    start = text.index(word) if start is None else start
    value = {"start": start, "end": start + len(word), "text": word, "labels": [label]}
    return {"id": "x", "from_name": "kind", "to_name": "body", "type": "labels", "origin": "manual", "value": value}


def event(action, *, config=CONFIG, **more):
    project = {"id": 7, "title": "names", "label_config": config, "created_at": "2026-11-16T06:30:00.1Z"}
    return {"action": action, "project": project, **more}


def annotated(id, text, *regions, annotation=None, action="ANNOTATION_CREATED", **more):
    record = {
        "id": annotation or 10 * id,
        "result": list(regions),
        "was_cancelled": False,
        "completed_by": 1,
        "task": id,
    }
    return event(action, annotation=record | more, task=task(id, text))


@pytest.fixture
def studio():
    with serving({"people": fitted()}, label_studio=True) as served:
        yield Studio(served)


class Studio:
    """What Label Studio does."""

    def __init__(self, served, prefix="/label-studio"):
        self.served, self.prefix = served, prefix

    def post(self, path, record):
        return self.served.client.post(f"{self.prefix}/{path}", json=record)

    def setup(self, config=CONFIG):
        record = {"project": PROJECT, "schema": config, "hostname": "http://localhost:8080", "access_token": "secret"}
        return self.post("setup", record | {"extra_params": None})

    def predict(self, *tasks, config=CONFIG):
        params = {"login": None, "password": None, "context": None}
        record = {"tasks": list(tasks), "project": PROJECT, "label_config": config, "params": params}
        answer = self.post("predict", record)
        assert answer.status_code == 200, answer.text
        return answer.json()["results"]

    def tell(self, record):
        """Send an event, and wait until what it says was learned."""
        before = self.n_fits()
        answer = self.post("webhook", record)
        end = time.monotonic() + 20
        while answer.status_code == 201 and self.n_fits() == before:
            assert time.monotonic() < end
            time.sleep(0.005)
        return answer

    def n_fits(self):
        count = self.served.service.metrics.registry.get_sample_value
        return sum(count("handful_fits_total", {"result": result}) or 0 for result in ("done", "refused"))

    def found(self, text=TEXT, **more):
        (one,) = self.predict(task(1, text), **more)
        return [(item["value"]["text"], item["value"]["labels"][0]) for item in one["result"]]


def test_a_backend_is_connected(studio):
    health = studio.served.client.get("/label-studio/health")
    assert (health.status_code, health.json()["status"]) == (200, "UP")
    answer = studio.setup()
    assert answer.status_code == 200
    version = answer.json()["model_version"]
    assert version.startswith("people-")
    assert studio.setup().json()["model_version"] == version


def test_predictions_are_as_label_studio_reads_them(studio):
    version = studio.setup().json()["model_version"]
    first, second, third = studio.predict(task(1), task(2, "nothing here"), task(3, ""))
    assert second == {"model_version": version, "result": []}
    assert third["result"] == []
    assert first["model_version"] == version
    assert first["score"] == min(one["score"] for one in first["result"])
    pia, leeds = first["result"]
    assert (pia["from_name"], pia["to_name"], pia["type"]) == ("kind", "body", "labels")
    assert pia["value"] == {"start": 5, "end": 8, "text": "Pia", "labels": ["PER"]}  # the emoji counts one
    assert TEXT[leeds["value"]["start"] : leeds["value"]["end"]] == "Leeds"
    assert 0 < leeds["score"] <= 1
    assert studio.predict() == []


def test_an_annotation_is_learned_from(studio):
    before = studio.setup().json()["model_version"]
    assert ("Gaia", "PER") not in studio.found()
    answer = studio.tell(
        annotated(1, TEXT, region(TEXT, "Pia", "PER"), region(TEXT, "Gaia", "PER"), region(TEXT, "Leeds", "LOC"))
    )
    assert (answer.status_code, answer.json()) == (201, {"result": {"annotations": 1}, "status": "ok"})
    assert ("Gaia", "PER") in studio.found()
    (prediction,) = studio.predict(task())
    assert prediction["model_version"] != before
    assert studio.setup().json()["model_version"] == prediction["model_version"]
    # an update, with another label
    studio.tell(annotated(1, TEXT, region(TEXT, "Gaia", "LOC"), action="ANNOTATION_UPDATED"))
    assert ("Gaia", "LOC") in studio.found()
    assert studio.served.backend.annotations.count(("people", "7")) == 1
    # and gone again: what was learned is gone, too
    answer = studio.tell(event("ANNOTATIONS_DELETED", annotations=[{"id": 10}]))
    assert answer.json()["result"] == {"annotations": 0}
    assert "Gaia" not in dict(studio.found())


def test_events_in_their_other_forms(studio):
    one, two = TEXT, "so Gog slept near Lima ."
    records = [annotated(i, text, region(text, word, "PER")) for i, text, word in ((1, one, "Gaia"), (2, two, "Gog"))]
    several = event(
        "ANNOTATIONS_CREATED",
        annotation=[record["annotation"] for record in records],
        task=[record["task"] for record in records],
    )
    assert studio.tell(several).json()["result"] == {"annotations": 2}
    assert ("Gog", "PER") in studio.found(two)
    assert studio.tell(event("ANNOTATION_DELETED", annotation={"id": 20})).json()["result"] == {"annotations": 1}
    assert studio.tell(event("START_TRAINING")).status_code == 201
    assert studio.tell(event("TASKS_DELETED", tasks=[{"id": 1}])).json()["result"] == {"annotations": 0}
    answer = studio.tell(event("PROJECT_UPDATED"))
    assert (answer.status_code, answer.json()) == (200, {"status": "Unknown event"})


def test_positions_in_utf_16_are_understood_where_the_text_is_quoted(studio):
    word = region(TEXT, "Gaia", "PER", start=TEXT.index("Gaia") + 1)  # as old versions counted
    assert studio.tell(annotated(1, TEXT, word)).status_code == 201
    (sentence,) = studio.served.backend.annotations.sentences(("people", "7"))
    assert [sentence.span_text(span) for span in sentence.spans] == ["Gaia"]


def test_several_annotations_of_a_task_become_partial_labels(studio):
    studio.tell(annotated(1, TEXT, region(TEXT, "Pia", "PER"), region(TEXT, "Gaia", "PER"), annotation=10))
    studio.tell(
        annotated(1, TEXT, region(TEXT, "Pia", "PER"), region(TEXT, "Gaia", "LOC"), annotation=11, completed_by=2)
    )
    studio.tell(annotated(2, TEXT, region(TEXT, "Leeds", "PER"), annotation=12, was_cancelled=True))
    store = studio.served.backend.annotations
    assert store.count(("people", "7")) == 3
    (sentence,) = store.sentences(("people", "7"))
    assert [(sentence.span_text(one), one.type) for one in sentence.spans] == [("Pia", "PER")]
    assert str(sentence.allowed[sentence.words.index("Gaia")]) == "LOC|PER"


def test_labels_that_the_model_does_not_know_are_found_by_their_hints(studio):
    text = "so Gaia and Pia met near Leeds"
    assert studio.setup(GODS).status_code == 200
    assert studio.found(text, config=GODS) == [("Gaia", "GOD"), ("Pia", "PER")]
    assert studio.found(text) == [("Pia", "PER"), ("Leeds", "LOC")]  # the other interface, again


def test_words_of_the_model_s_labels_may_be_of_new_types():
    model = fitted(support=["[Pia](PER) and Gaia went to [Leeds](LOC)", "so [Paul](PER) saw [Lima](LOC) with Gog"])
    with serving({"people": model}, label_studio=True) as served:
        assert Studio(served).found("so Gaia and Pia met near Leeds", config=GODS) == [("Gaia", "GOD"), ("Pia", "PER")]


def test_labels_that_nothing_says_anything_of_are_learned_from_annotations():
    encoder = ToyEncoder()  # it reads no names
    model = fitted(None, ["[Pia](PER) went to [Leeds](LOC)", "so [Paul](PER) saw [Lima](LOC)"], encoder)
    with serving({"people": model}, label_studio=True) as served:
        studio = Studio(served)
        text = "so Gaia and Pia met near Leeds"
        assert studio.setup(GODS).status_code == 200
        assert ("Gaia", "GOD") not in studio.found(text, config=GODS)
        regions = [region(text, "Gaia", "GOD"), region(text, "Pia", "PER")]
        record = annotated(1, text, *regions)
        record["project"]["label_config"] = GODS
        assert studio.tell(record).status_code == 201
        assert ("Gog", "GOD") in studio.found("so Gog slept", config=GODS)


def test_annotations_are_there_after_a_restart(tmp_path):
    text = "so Gog slept"
    with serving({"people": fitted()}, label_studio=True, store=tmp_path / "a.db") as served:
        studio = Studio(served)
        studio.tell(annotated(1, text, region(text, "Gog", "PER")))
        learned = studio.predict(task(1, text))
        assert learned[0]["result"]
    with serving({"people": fitted()}, label_studio=True, store=tmp_path / "a.db") as served:
        assert Studio(served).predict(task(1, text)) == learned
    (tmp_path / "other").write_text("no store " * 200, encoding="utf-8")
    with pytest.raises(FileError, match="cannot be opened as a store"):
        Annotations(tmp_path / "other")
    sqlite3.connect(tmp_path / "db").executescript("CREATE TABLE x (y)").connection.close()
    with pytest.raises(FileError, match="is not a store"):
        Annotations(tmp_path / "db")


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE annotations SET body = '{'",
        "UPDATE annotations SET body = '[]'",
        "UPDATE annotations SET body = x'ff'",
        "UPDATE annotations SET body = 3",
    ],
)
def test_a_damaged_store_is_an_error(tmp_path, damage):
    key = ("people", "7")
    store = Annotations(tmp_path / "a.db")
    store.put(key, 1, "so Gog slept", {"id": 1, "result": []})
    assert store.sentences(key)
    store.close()
    sqlite3.connect(tmp_path / "a.db").executescript(damage).connection.close()
    store = Annotations(tmp_path / "a.db")
    with pytest.raises(FileError, match=r"a\.db: (cannot be used|an annotation of task 1 is damaged)"):
        store.sentences(key)
    store.close()


def test_each_model_and_each_project_has_its_own(studio):
    with serving({"people": fitted(), "more": fitted()}, label_studio=True) as served:
        first, second = Studio(served), Studio(served, "/models/more/label-studio")
        text = "so Gog slept"
        first.tell(annotated(1, text, region(text, "Gog", "PER")))
        assert first.found(text) == [("Gog", "PER")]
        assert second.found(text) == []
        assert served.client.get("/models/nobody/label-studio/health").status_code == 404


def test_the_token_may_be_a_password_of_the_address():
    with serving({"people": fitted()}, token=TOKEN, hosts=None, label_studio=True) as served:
        url = served.url.replace("http://", f"http://handful:{TOKEN}@")
        assert served.client.get("/label-studio/health").status_code == 401
        assert served.client.get(f"{url}/label-studio/health").status_code == 200
        assert served.client.post(f"{url}/label-studio/webhook", json=event("START_TRAINING")).status_code == 201


@pytest.mark.parametrize(
    ("path", "record", "what"),
    [
        ("setup", [], "not a JSON object"),
        ("setup", {"project": "7.1", "schema": "<View>"}, "not XML"),
        ("setup", {"project": "7.1", "schema": "<View></View>"}, "no <Labels>"),
        ("setup", {"project": "x", "schema": CONFIG}, "the project is 'x'"),
        ("setup", {"project": "7.1"}, "interface is missing"),
        ("setup", {"project": "7.1", "schema": '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'}, "defines entities"),
        ("setup", {"project": "7.1", "schema": CONFIG.replace("$article", "$a $b")}, "expected one field"),
        (
            "setup",
            {"project": "7.1", "schema": CONFIG.replace("granularity", "valueType='url' x")},
            "in the task itself",
        ),
        ("predict", {"project": "7.1", "label_config": CONFIG, "tasks": {}}, "tasks is not a list"),
        ("predict", {"project": "7.1", "label_config": CONFIG, "tasks": [{"id": 4, "data": {}}]}, "task 4"),
        ("webhook", {"action": "START_TRAINING"}, "no project"),
        ("webhook", event("ANNOTATION_CREATED"), "no result"),
        ("webhook", event("ANNOTATION_CREATED", annotation={"id": 1 << 70, "result": []}, task=task()), "no number"),
        ("webhook", event("ANNOTATIONS_DELETED", annotations=["x"]), "no number"),
        ("webhook", annotated(1, TEXT, region(TEXT, "Pia", "PER", start=3)), "but says 'Pia'"),
    ],
)
def test_what_cannot_be_understood_is_said_and_nothing_is_stored(studio, path, record, what):
    answer = studio.post(path, record)
    assert answer.status_code == 422
    assert what in answer.json()["error"]["what"]
    assert studio.served.backend.annotations.count(("people", "7")) == 0
    assert "secret" not in answer.text


def test_the_interface_is_read():
    config = read_config(GODS)
    assert (config.from_name, config.to_name, config.field) == ("kind", "body", "article")
    assert [(one.name, one.description) for one in config.types] == [("PER", ""), ("GOD", "G gods")]
    assert config.text({"id": 1, "data": {"$undefined$": "a"}}) == "a"
    with pytest.raises(DataError, match="not XML"):
        read_config(GODS.replace("Mark", "\ud800"))


def test_a_store_with_tables_that_are_not_ours_is_refused(tmp_path):
    Annotations(tmp_path / "a.db").close()
    change = "DROP TABLE annotations; CREATE VIEW annotations AS SELECT 1 AS model"
    sqlite3.connect(tmp_path / "a.db").executescript(change).connection.close()
    with pytest.raises(FileError, match="damaged: it has a view 'annotations', which handful did not make"):
        Annotations(tmp_path / "a.db")


@pytest.mark.parametrize("piece", ["<!--", "<!-- -->", "<a>", "<a ", "<![CDATA[", "&#", "<?a", "-->", "$", '"'])
@pytest.mark.parametrize(
    "config", ["{}", "<View>{}</View>", '<Labels name="a" toName="b"/><Text name="b" value="{}"/>']
)
def test_an_interface_is_read_in_linear_time(piece, config):
    def run(given):
        with contextlib.suppress(DataError):
            read_config.__wrapped__(given)

    assert grows_as(run, lambda n: config.format(piece * n), 1200) < 1.5


def test_tasks_have_a_limit():
    with serving({"people": fitted()}, label_studio=True, limits=Limits(max_texts=3)) as served:
        studio = Studio(served)
        assert len(studio.predict(*[task(i) for i in range(3)])) == 3
        record = {"tasks": [task(i) for i in range(4)], "project": PROJECT, "label_config": CONFIG}
        answer = studio.post("predict", record)
        assert (answer.status_code, answer.json()["error"]["what"]) == (
            422,
            "there are 4 texts, but at most 3 can be sent at once",
        )


def test_labels_have_a_limit():
    with serving({"people": fitted()}, label_studio=True, limits=Limits(max_types=3)) as served:
        for n, status in ((3, 200), (4, 422)):
            labels = "".join(f'<Label value="T{i}"/>' for i in range(n))
            config = f'<View><Labels name="a" toName="b">{labels}</Labels><Text name="b" value="$text"/></View>'
            answer = Studio(served).post("setup", {"project": PROJECT, "schema": config})
            assert answer.status_code == status
        assert answer.json()["error"]["what"] == "the labelling interface has 4 labels, but at most 3 are taken"


@pytest.mark.parametrize("overlap", [True, False])
def test_annotations_are_read_in_linear_time(overlap):
    from handful.serve._annotations import read_labels

    def make(n):
        text = "Gog slept " * n
        starts = [0 if overlap else 10 * i for i in range(n)]
        value = [{"start": start, "end": start + 3, "labels": ["PER"]} for start in starts]
        result = [{"type": "labels", "from_name": "a", "to_name": "t", "value": one} for one in value]
        return text, [{"id": 1, "result": result}]

    def run(given):
        with contextlib.suppress(HandfulError):
            read_labels(*given)

    assert grows_as(run, make, 100) < 1.5


def test_annotations_that_are_kept_have_a_limit():
    with serving({"people": fitted()}, label_studio=True, limits=Limits(max_store=1 << 18)) as served:
        studio, statuses = Studio(served), set()
        for number in range(20):
            answer = studio.post("webhook", annotated(number, f"Gog {number} " + "slept " * 5000))
            statuses.add(answer.status_code)
        assert statuses == {201, 422}
        assert "database or disk is full" in answer.json()["error"]["what"]
        assert studio.predict(task(1))


def test_few_projects_are_in_memory_and_the_others_are_fitted_again():
    text = "so Gog slept"
    with serving({"people": fitted()}, label_studio=True, limits=Limits(max_projects=2)) as served:
        studio, found = Studio(served), []
        for number in range(5):
            record = annotated(1, text, region(text, "Gog", "PER" if number % 2 else "LOC"))
            record["project"]["id"] = number
            studio.tell(record)
            assert len(served.backend.projects._now) <= 2
        for number in range(5):
            record = {"tasks": [task(1, text)], "project": str(number), "label_config": CONFIG}
            found.append(studio.post("predict", record).json()["results"][0]["result"][0]["value"]["labels"])
        assert found == [["LOC"], ["PER"], ["LOC"], ["PER"], ["LOC"]]
        assert len(served.backend.projects._now) == 2
