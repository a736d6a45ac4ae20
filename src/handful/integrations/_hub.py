"""Taggers on the Hugging Face Hub, over huggingface_hub (extra ``hub``): a repository holds a saved tagger's folder."""

import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handful import __version__
from handful._util.files import PathLike
from handful._util.lazy import check_libraries
from handful.errors import DataError, FileError, HandfulError, ModelError, first_line
from handful.tagger import Tagger
from handful.tagger.saving import ARRAYS, CARD, CONFIG, ENCODER, OPENING, SUPPORT, read_config

N_EXAMPLES = 3  # texts to try on the page of a repository


def from_hub(
    name_or_path: PathLike,
    *,
    revision: str | None = None,
    token: str | bool | None = None,
    cache_dir: PathLike | None = None,
    local_files_only: bool = False,
    **options: Any,
) -> Tagger:
    """Read a tagger from a repository on the Hugging Face Hub (extra ``hub``), or from a folder.

    Parameters
    ----------
    name_or_path : a folder that `Tagger.save` wrote; or, where there is no such folder, the name of a repository that
        `push_to_hub` wrote, as in ``"user/garden"``. A copy in the cache is used where the Hub has nothing newer or
        cannot be reached, and always if the environment says ``HF_HUB_OFFLINE=1``.
    revision, token, cache_dir, local_files_only : as for `huggingface_hub.snapshot_download`
    **options : as for `Tagger.load`
    """
    name = os.fspath(name_or_path)
    is_name = isinstance(name_or_path, str) and name.count("/") == 1 and not name.startswith((".", "/", "~"))
    if Path(name_or_path).exists() or not is_name:
        return Tagger.load(name_or_path, **options)
    check_libraries(f"there is no folder {name!r}, and looking for a repository of this name", "huggingface_hub")
    import huggingface_hub as hub

    wanted: dict[str, Any] = {"cache_dir": cache_dir, "token": token, "local_files_only": local_files_only}
    wanted |= {"library_name": "handful", "library_version": __version__}
    with _errors(f"there is no folder {name!r}, and the repository {name!r} cannot be had"):
        # the rest is fetched only if config.json is that of a tagger
        first = Path(hub.snapshot_download(name, revision=revision, allow_patterns=CONFIG, **wanted))
        if not (first / CONFIG).exists():
            raise ModelError(f"the repository {name!r} is not a model of handful, it has no {CONFIG}")
        read_config(first)
        files = [CONFIG, ARRAYS, SUPPORT, CARD, f"{ENCODER}/*"]
        folder = Path(hub.snapshot_download(name, revision=first.name, allow_patterns=files, **wanted))
    return Tagger.load(folder, **options)


def push_to_hub(
    tagger: Tagger,
    repo_id: str,
    *,
    private: bool | None = None,
    token: str | bool | None = None,
    revision: str | None = None,
    commit_message: str | None = None,
    license: str | None = None,
    language: str | Sequence[str] | None = None,
    examples: Sequence[str] | None = None,
) -> str:
    """Write a fitted tagger to the Hugging Face Hub, in one commit, and return its address (extra ``hub``).

    The labelled sentences go with it, as in `Tagger.save`: think of who gets to see them. The encoder does, too, if it
    was given by its path.

    Parameters
    ----------
    tagger : a fitted one
    repo_id : the name of the repository, as in ``"user/garden"``; it is made where it does not exist
    private, token, revision, commit_message : as for `huggingface_hub.upload_folder` and `huggingface_hub.create_repo`
    license, language : for the card, as the Hub writes them ("apache-2.0", "en")
    examples : texts to try on the page of the repository; the first labelled sentences if not given
    """
    check_libraries("pushing a tagger", "huggingface_hub")
    import huggingface_hub as hub

    if isinstance(examples, str):
        raise DataError("examples is a str, expected a list of texts")
    if examples is None:
        examples = [sentence.with_text().text or "" for sentence in tagger.support_[:N_EXAMPLES]]
    types = [one.name for one in tagger.model_.types]
    about = hub.ModelCardData(
        language=language if language is None or isinstance(language, str) else list(language),
        license=license,
        library_name="handful",
        pipeline_tag="token-classification",
        tags=["handful", "named-entity-recognition", "few-shot", *types],
        widget=[{"text": text} for text in examples] or None,
    )
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "model")
        tagger.save(folder, include_encoder="auto")
        opening = f'from handful.integrations import from_hub\n\ntagger = from_hub("{repo_id}")'
        page = (folder / CARD).read_text(encoding="utf-8").replace(OPENING, opening)
        (folder / CARD).write_text(f"---\n{about.to_yaml()}\n---\n\n{page}", encoding="utf-8")
        with _errors(f"the tagger was not pushed to {repo_id!r}"):
            full = hub.create_repo(repo_id, private=private, token=token, exist_ok=True).repo_id
            if revision is not None:
                hub.create_branch(full, branch=revision, token=token, exist_ok=True)
            commit = hub.upload_folder(
                repo_id=full,
                folder_path=folder,
                token=token,
                revision=revision,
                commit_message=commit_message or f"A tagger for {', '.join(types)}",
                delete_patterns=[f"{ENCODER}/*"],  # of a tagger that was there before, unless it is there again
            )
    return str(commit.commit_url)


@contextmanager
def _errors(what: str) -> Iterator[None]:
    """Turn the errors of huggingface_hub, and of its HTTP library, into our own, with what to do."""
    from huggingface_hub import constants, errors

    # Among the bases are the errors of its HTTP library, which is not the same in all versions.
    http: tuple[Any, ...] = (OSError, errors.EntryNotFoundError, *errors.HfHubHTTPError.__bases__)
    reasons: dict[type[Exception], str] = {
        errors.GatedRepoError: "access to it must be asked for on its page, and a token given (token=)",
        errors.RepositoryNotFoundError: "it does not exist, or it is private and the token (token=) does not open it",
        errors.RevisionNotFoundError: "it has no such revision",
        errors.OfflineModeIsEnabled: "HF_HUB_OFFLINE is set",
    }
    try:
        yield
    except HandfulError:
        raise
    except errors.HFValidationError as error:
        raise DataError(f"{what}: {first_line(error)}") from None
    except http as error:
        reason = next((reason for kind, reason in reasons.items() if isinstance(error, kind)), first_line(error))
        if isinstance(error, errors.LocalEntryNotFoundError):
            reason = "HF_HUB_OFFLINE is set" if constants.HF_HUB_OFFLINE else reason
            reason = f"it is not all in the cache, and nothing was fetched: {reason}"
        raise FileError(f"{what}: {reason}") from None
