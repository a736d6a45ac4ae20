"""`Backend`: the machine-learning backend interface of Label Studio.

Label Studio asks ``/health`` and ``/setup`` when a backend is connected, ``/predict`` for predictions of tasks, and
tells ``/webhook`` of annotations. It counts positions in code points, as we do. It waits one second for the answer to a
webhook, so an annotation is stored, and learned from afterwards.
"""

import asyncio
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handful.errors import DataError, HandfulError
from handful.text import Prediction
from handful.web.http import Json, read_json

from ._access import log
from ._annotations import Annotations, Key, check_annotation, check_id, read_labels
from ._batches import Job
from ._label_config import LabelConfig, read_config
from ._projects import Projects, Trained
from ._server import Service

Record = dict[str, Any]

CREATED = ("ANNOTATION_CREATED", "ANNOTATION_UPDATED", "ANNOTATIONS_CREATED")
DELETED = ("ANNOTATION_DELETED", "ANNOTATIONS_DELETED")


class Backend:
    """Models of a service as backends of Label Studio; annotations are kept in the file `store`, or in memory."""

    def __init__(self, service: Service, store: str | Path | None = None, *, is_logging: bool = False) -> None:
        self.service = service
        self.annotations = Annotations(store, service.limits.max_store)
        self.is_logging = is_logging
        self.projects = Projects(service.models, self.annotations, service.limits, self._report)

    def stop(self) -> None:
        self.projects.stop()
        self.annotations.close()

    def routes(self) -> list[Route]:
        """Return the addresses, for the first model and for each by its name."""
        found = []
        for prefix in ("/label-studio", "/models/{name}/label-studio"):
            found += [
                Route(f"{prefix}/health", self.health),
                Route(f"{prefix}/setup", self.setup, methods=["POST"]),
                Route(f"{prefix}/predict", self.predict, methods=["POST"]),
                Route(f"{prefix}/webhook", self.webhook, methods=["POST"]),
            ]
        return found

    async def health(self, request: Request) -> Response:
        self.service.tagger(request)
        return Json({"status": "UP", "model_class": "handful"})

    async def setup(self, request: Request) -> Response:
        """Read the labelling interface of a project; the answer is the version of its model."""
        name, given = await self._read(request)
        key = (name, _project(given.get("project")))
        config = await run_in_threadpool(self._take_config, key, given.get("schema"))
        trained = self.projects.current(key, config)
        if trained is None:  # Label Studio waits three seconds for setup, so the fit comes later
            self.projects.train(key)
            trained = self.projects.base[name]
        return Json({"model_version": trained.version})

    async def predict(self, request: Request) -> Response:
        """Find mentions in the texts of tasks."""
        name, given = await self._read(request)
        key = (name, _project(given.get("project")))
        config = await run_in_threadpool(self._take_config, key, given.get("label_config"))
        tasks = given.get("tasks")
        if not isinstance(tasks, list):
            raise DataError("tasks is not a list of tasks")
        texts = self.service.checked([config.text(task) for task in tasks])
        trained = await self._trained(key, config)
        with self.service.under_way():
            found = await self.service.predict(Job(trained.ready, texts), request)
        return Json({"results": [_result(one, config, trained.version) for one in found]})

    async def webhook(self, request: Request) -> Response:
        """Take note of an annotation, and learn from it afterwards."""
        name, given = await self._read(request)
        action = given.get("action")
        if action not in (*CREATED, *DELETED, "TASKS_DELETED", "START_TRAINING"):
            return Json({"status": "Unknown event"})
        project = given.get("project")
        if not isinstance(project, dict):
            raise DataError("the event has no project")
        key = (name, _project(project.get("id")))
        n_annotations = await run_in_threadpool(self._note, key, project.get("label_config"), str(action), given)
        self.projects.train(key)
        return Json({"result": {"annotations": n_annotations}, "status": "ok"}, 201)

    async def _read(self, request: Request) -> tuple[str, Record]:
        name, _ = self.service.tagger(request)
        with self.service.under_way():
            return name, await read_json(request, self.service.limits)

    def _take_config(self, key: Key, config: Any) -> LabelConfig:
        if not isinstance(config, str):
            raise DataError("the labelling interface is missing")
        found = read_config(config)
        if len(found.types) > (most := self.service.limits.max_types):
            raise DataError(f"the labelling interface has {len(found.types):,} labels, but at most {most:,} are taken")
        if self.annotations.config(key) != found:
            self.annotations.set_config(key, config)
        return found

    async def _trained(self, key: Key, config: LabelConfig) -> Trained:
        trained = self.projects.current(key, config)
        if trained is None:
            done = asyncio.wrap_future(self.projects.train(key))
            await asyncio.wait_for(asyncio.shield(done), self.service.limits.timeout)
            trained = self.projects.current(key, config)
        return trained or self.projects.base[key[0]]

    def _note(self, key: Key, config: Any, action: str, given: Record) -> int:
        """Store what an event says, and return how many annotations there are then."""
        labels = self._take_config(key, config)
        if action in CREATED:
            annotations, tasks = _list(given.get("annotation")), _list(given.get("task"))
            if len(annotations) != len(tasks):
                raise DataError(f"the event has {len(annotations)} annotations of {len(tasks)} tasks")
            for one, task in zip(annotations, tasks, strict=True):
                annotation, text = check_annotation(one), labels.text(task)
                read_labels(text, [annotation])  # what cannot be read is refused, not stored
                self.annotations.put(key, check_id(task.get("id"), "a task"), text, annotation)
        elif action in DELETED:
            self.annotations.remove(key, "id", _ids(given.get("annotations", given.get("annotation"))))
        elif action == "TASKS_DELETED":
            self.annotations.remove(key, "task", _ids(given.get("tasks")))
        return self.annotations.count(key)

    def _report(self, key: Key, trained: Trained | Exception) -> None:
        self.service.metrics.fits.labels("done" if isinstance(trained, Trained) else "refused").inc()
        if isinstance(trained, Trained):
            said: Record = {"labelled": trained.n_labelled, "version": trained.version}
        else:
            said = {"error": f"{type(trained).__name__}: {trained}"}
        if self.is_logging or not isinstance(trained, Trained | HandfulError):
            log("fit", model=key[0], project=key[1], **said)


def _project(given: Any) -> str:
    """Return the number of a project, which may have the time of its making behind it."""
    number = str(given).partition(".")[0]
    if not number.isdecimal() or len(number) > 18:
        raise DataError(f"the project is {given!r:.80}, expected a number")
    return number


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _ids(given: Any) -> list[int]:
    return [check_id(one.get("id") if isinstance(one, dict) else one, "what was deleted") for one in _list(given)]


def _result(found: list[Prediction], config: LabelConfig, version: str) -> Record:
    """Return a prediction as Label Studio has it: mentions of its labels, and the lowest score among them."""
    names = {one.name for one in config.types}
    kept = [one for one in found if one["entity_group"] in names]
    result = [
        {
            "id": f"m{i}",
            "from_name": config.from_name,
            "to_name": config.to_name,
            "type": "labels",
            "value": {"start": one["start"], "end": one["end"], "text": one["word"], "labels": [one["entity_group"]]},
            "score": one["score"],
        }
        for i, one in enumerate(kept)
    ]
    score = {"score": min(one["score"] for one in kept)} if kept else {}
    return {"model_version": version, **score, "result": result}
