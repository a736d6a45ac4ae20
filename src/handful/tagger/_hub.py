"""Taggers on the Hugging Face Hub, over huggingface_hub (extra ``hub``): a repository holds a saved tagger's folder."""

import os
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from handful import __version__
from handful._util.files import PathLike
from handful.encoders.opened import AnyEncoder
from handful.errors import DataError, FileError, HandfulError, MissingExtraError, ModelError
from handful.evaluate import Evaluation

from ._card import cell, model_card
from .saving import ARRAYS, CARD, CONFIG, ENCODER, SUPPORT, Saved, read_config, write_folder

__all__ = ["OnHub"]

N_EXAMPLES = 3  # texts to try on the page of a repository

Evaluations = Evaluation | Mapping[str, Evaluation]
"""How good a tagger is: on one corpus, or by the names of several."""


class OnHub(ABC):
    """What can be kept on the Hub, as it can be in a folder."""

    @abstractmethod
    def _to_save(self, include_encoder: bool | str) -> tuple[Saved, Path | None]:
        """Return what is written to a folder, and the folder of the encoder if that is to be inside."""

    @classmethod
    @abstractmethod
    def load(
        cls, path: PathLike, *, encoder: AnyEncoder | None = None, threads: int | None = None, cache: bool | str = True
    ) -> Self:
        """Read it from a folder."""

    @classmethod
    def from_pretrained(
        cls,
        name_or_path: PathLike,
        *,
        revision: str | None = None,
        token: str | bool | None = None,
        cache_dir: PathLike | None = None,
        local_files_only: bool = False,
        encoder: AnyEncoder | None = None,
        threads: int | None = None,
        cache: bool | str = True,
    ) -> Self:
        """Read a tagger from a folder, or from a repository on the Hugging Face Hub (extra ``hub``).

        Parameters
        ----------
        name_or_path
            A folder that `save` wrote; or, where there is no such folder, the name of a repository that `push_to_hub`
            wrote, as in ``"user/garden"``. A copy in the cache is used where the Hub has nothing newer or cannot be
            reached, and always if the environment says ``HF_HUB_OFFLINE=1``.
        revision, token, cache_dir, local_files_only
            As for `huggingface_hub.snapshot_download`.
        encoder, threads, cache
            As for `load`.
        """
        folder = find(
            name_or_path, revision=revision, token=token, cache_dir=cache_dir, local_files_only=local_files_only
        )
        return cls.load(folder, encoder=encoder, threads=threads, cache=cache)

    def push_to_hub(
        self,
        repo_id: str,
        *,
        private: bool | None = None,
        token: str | bool | None = None,
        revision: str | None = None,
        commit_message: str | None = None,
        evaluation: Evaluations | None = None,
        **card: Any,
    ) -> str:
        """Write the fitted tagger to a repository on the Hugging Face Hub, in one commit (extra ``hub``).

        The labelled sentences go with it, as in `save`: think of who gets to see them. The encoder does, too, if it was
        given by its path.

        Parameters
        ----------
        repo_id
            The name of the repository, as in ``"user/garden"``; it is made where it does not exist.
        private, token, revision, commit_message
            As for `huggingface_hub.upload_folder` and `huggingface_hub.create_repo`.
        evaluation
            What `evaluate` returned, or such by the names of corpora: the card shows the figures.
        **card
            More for the card: ``license`` and ``language`` as the Hub writes them ("apache-2.0", "en"), and
            ``examples``, texts to try on the page. They are the first labelled sentences if not given.

        Returns
        -------
        str
            The address of the commit.
        """
        saved, encoder = self._to_save("auto")
        return push(
            saved,
            encoder,
            repo_id,
            hub_card(saved, repo_id, evaluation, **card),
            private=private,
            token=token,
            revision=revision,
            commit_message=commit_message or f"A tagger for {', '.join(map(str, saved.model.types))}",
        )


def find(
    name_or_path: PathLike,
    *,
    revision: str | None,
    token: str | bool | None,
    cache_dir: PathLike | None,
    local_files_only: bool,
) -> Path:
    """Return the folder of a saved tagger: a folder that is there, or the copy of a repository in the cache.

    What is not in the cache yet is fetched: first its config.json, and the rest only if that is one of a tagger.
    """
    path = Path(name_or_path)
    name = os.fspath(name_or_path)
    is_name = isinstance(name_or_path, str) and name.count("/") == 1 and not name.startswith((".", "/", "~"))
    if path.exists() or not is_name:
        return path
    hub = _hub(f"there is no folder {name!r}, and to look for a repository of this name")
    wanted = {"cache_dir": cache_dir, "token": token, "local_files_only": local_files_only}
    wanted |= {"library_name": "handful", "library_version": __version__}
    with _errors(f"there is no folder {name!r}, and the repository {name!r} cannot be had"):
        first = Path(hub.snapshot_download(name, revision=revision, allow_patterns=CONFIG, **wanted))
        if not (first / CONFIG).exists():
            raise ModelError(f"the repository {name!r} is not a model of handful, it has no {CONFIG}")
        read_config(first)
        files = [CONFIG, ARRAYS, SUPPORT, CARD, f"{ENCODER}/*"]
        return Path(hub.snapshot_download(name, revision=first.name, allow_patterns=files, **wanted))


def push(
    saved: Saved,
    encoder: Path | None,
    repo_id: str,
    card: str,
    *,
    private: bool | None,
    token: str | bool | None,
    revision: str | None,
    commit_message: str,
) -> str:
    """Write a tagger to a repository in one commit, with this card; return the address of the commit."""
    hub = _hub("to push a tagger")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "model")
        write_folder(folder, saved, encoder)
        (folder / CARD).write_text(card, encoding="utf-8")
        with _errors(f"the tagger was not pushed to {repo_id!r}"):
            full = hub.create_repo(repo_id, private=private, token=token, exist_ok=True).repo_id
            if revision is not None:
                hub.create_branch(full, branch=revision, token=token, exist_ok=True)
            commit = hub.upload_folder(
                repo_id=full,
                folder_path=folder,
                token=token,
                revision=revision,
                commit_message=commit_message,
                delete_patterns=[f"{ENCODER}/*"],  # of a tagger that was there before, unless it is there again
            )
    return str(commit.commit_url)


def hub_card(
    saved: Saved,
    repo_id: str,
    evaluation: Evaluations | None = None,
    *,
    license: str | None = None,
    language: str | Sequence[str] | None = None,
    examples: Sequence[str] | None = None,
) -> str:
    """Return the card of a repository: what the Hub reads of it, then what people read, with figures.

    Parameters
    ----------
    saved
        The tagger.
    repo_id
        The name of the repository.
    evaluation
        How good it is, by the names of corpora.
    license, language, examples
        As for `Tagger.push_to_hub`.
    """
    hub = _hub("to write a card")
    figures = {"test": evaluation} if isinstance(evaluation, Evaluation) else dict(evaluation or {})
    for name, one in figures.items():
        if not isinstance(one, Evaluation):
            raise DataError(f"evaluation of {name!r} is {type(one).__name__}, expected what Tagger.evaluate returns")
    if isinstance(examples, str):
        raise DataError("examples is a str, expected a list of texts")
    if examples is None:
        examples = [sentence.with_text().text or "" for sentence in saved.examples.sentences[:N_EXAMPLES]]
    about = hub.ModelCardData(
        language=language if language is None or isinstance(language, str) else list(language),
        license=license,
        library_name="handful",
        pipeline_tag="token-classification",
        tags=["handful", "named-entity-recognition", "few-shot", *(one.name for one in saved.model.types)],
        widget=[{"text": text} for text in examples] or None,
        model_name=repo_id.rpartition("/")[2] if figures else None,
        eval_results=[
            hub.EvalResult(
                task_type="token-classification",
                task_name="Named-entity recognition",
                dataset_type=name,
                dataset_name=name,
                metric_type=metric,
                metric_name=f"{metric} (strict spans)",
                metric_value=round(value, 4),
            )
            for name, one in figures.items()
            for metric, value in (
                ("f1", one.strict.micro.f1),
                ("precision", one.strict.micro.precision),
                ("recall", one.strict.micro.recall),
            )
        ]
        or None,
    )
    page = model_card(saved, f'Tagger.from_pretrained("{repo_id}")')
    return "\n".join([f"---\n{about.to_yaml()}\n---\n", page, *(_table(name, one) for name, one in figures.items())])


def _table(name: str, evaluation: Evaluation) -> str:
    """Return the figures of an evaluation, for people."""
    rows = {"all": evaluation.strict.micro, **evaluation.strict.by_type}
    lines = [
        f"| {cell(name)}, {evaluation.n_sentences:,} sentences | precision | recall | F1 | mentions |",
        "|---|---|---|---|---|",
        *(
            f"| {cell(kind)} | {100 * one.precision:.1f} | {100 * one.recall:.1f} | {100 * one.f1:.1f} | "
            f"{one.n_gold:,} |"
            for kind, one in rows.items()
        ),
        "",
        "A mention counts as right if its words and its type are.",
        *(f"\n{note[0].upper()}{note[1:]}." for note in evaluation.notes),
        "",
    ]
    return "\n".join(lines)


def _hub(what: str) -> Any:
    try:
        import huggingface_hub
    except ImportError as error:
        raise MissingExtraError(f"{what}, huggingface_hub is needed ({error}): pip install 'handful[hub]'") from None
    return huggingface_hub


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Turn what huggingface_hub and what it speaks HTTP with raise into our own errors, with what to do."""
    from huggingface_hub import constants, errors

    # Among the bases are the errors of what speaks HTTP, which is not the same in all versions.
    http: tuple[Any, ...] = (OSError, errors.EntryNotFoundError, *errors.HfHubHTTPError.__bases__)
    try:
        yield
    except HandfulError:
        raise
    except errors.GatedRepoError:
        raise FileError(f"{what}: access to it must be asked for on its page, and a token given (token=)") from None
    except errors.RepositoryNotFoundError:
        raise FileError(
            f"{what}: it does not exist, or it is private and the token (token=) does not open it"
        ) from None
    except errors.RevisionNotFoundError:
        raise FileError(f"{what}: it has no such revision") from None
    except errors.OfflineModeIsEnabled:
        raise FileError(f"{what}: HF_HUB_OFFLINE is set") from None
    except errors.LocalEntryNotFoundError as error:
        why = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else _first_line(error)
        raise FileError(f"{what}: it is not all in the cache, and nothing was fetched: {why}") from None
    except errors.HFValidationError as error:
        raise DataError(f"{what}: {_first_line(error)}") from None
    except http as error:
        raise FileError(f"{what}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
