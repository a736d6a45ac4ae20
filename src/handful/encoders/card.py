"""The card of an exported encoder (``encoder.json``), and the files of its training beside it.

``sentences.bin`` says which sentences an encoder was trained on, without any text: it has a hash of 32 bits for each
sentence, little-endian and sorted. With the chance of the number of hashes / 2^32, which is 3 in 100,000 for
handful-en, a sentence that was not seen is taken for one that was.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful._util.options import check_options, option
from handful.errors import DataError, EncoderError
from handful.text import Transitions

from .encoder import Encoder, words_of

FORMAT = 1

#: The file that training leaves in a Hugging Face folder.
TRAINED = "handful.json"

#: The hashes of the sentences of its training, in a Hugging Face folder and in an exported one.
SEEN = "sentences.bin"

_HASH = np.dtype("<u4")

_number = partial(option, least=0, below=1 << 31)


@dataclass(frozen=True, kw_only=True)
class Card:
    """The content of ``encoder.json``, about an exported encoder."""

    format: int = FORMAT
    dim: int = option(MISSING, least=1, below=1 << 31)
    window: int = _number(MISSING)  # the most tokens in a row, special tokens included
    n_layers: int = _number(MISSING)
    precision: str  # "float32" or "int8"
    pad_id: int = _number(MISSING)
    unknown_id: int = _number(MISSING)
    shape_stride: int = _number(0)  # if not 0, token ids carry the shape of their word, see `handful.encoders.shapes`
    origin: str = option(MISSING)
    licence: str = option(MISSING)  # as far as the source states it
    transitions: Transitions | None = None  # of tags, in the text of the training, if that is known
    languages: Sequence[str] = ()  # the codes of those that it knows; none if that is not said
    # whether it has the head that reads names; None, the presence of its file decides
    names: bool | None = option(None)

    @classmethod
    def read(cls, path: Path) -> "Card":
        """Read and check a card."""
        content = _read_json(path)
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            found = content.get("format") if isinstance(content, dict) else content
            raise EncoderError(f"{path}: format {FORMAT} expected, found {found!r}; export the encoder again")
        names = [field.name for field in fields(cls) if field.name not in ("transitions", "names", "languages")]
        if missing := [name for name in names if name not in content]:
            raise EncoderError(f"{path}: no {', '.join(missing)}; export the encoder again")
        check_languages(content.get("languages", ()), str(path))
        values = {name: content[name] for name in (*names, "names", "languages") if name in content}
        try:
            return cls(**values, transitions=_transitions(path, content))
        except DataError as error:
            raise EncoderError(f"{path}: {error.message}; export the encoder again") from None

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def output(self) -> str:
        """The output of the graph that has the vectors."""
        return f"layer_{self.n_layers}"

    def to_json(self) -> str:
        """Return the card as JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def check_languages(languages: Any, where: str) -> None:
    """Refuse what is not a list of codes of languages."""
    is_list = isinstance(languages, list | tuple)
    if not is_list or not all(isinstance(one, str) and re.fullmatch("[a-z]{2,3}", one) for one in languages):
        raise EncoderError(f"{where}: languages must be a list of codes such as en, found {languages!r:.100}")


def trained_transitions(folder: Path) -> Transitions | None:
    """Return the transitions that training noted in a Hugging Face folder; None if there are none."""
    path = folder / TRAINED
    if not path.is_file():
        return None
    content = _read_json(path)
    return _transitions(path, content) if isinstance(content, dict) else None


def _transitions(path: Path, content: dict[str, Any]) -> Transitions | None:
    found = content.get("transitions")
    try:
        return None if found is None else Transitions.from_dict(found)
    except DataError as error:
        raise EncoderError(f"broken encoder: {path}: {error}") from None


def _read_json(path: Path) -> Any:
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EncoderError(f"{path} is not JSON: {error}") from None


def read_text(path: Path) -> str:
    """Read a file that an encoder cannot do without."""
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise EncoderError(f"broken encoder: {path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise EncoderError(f"broken encoder: {path} cannot be read: {error}") from None


def write_seen(path: Path, sentences: Iterable[Any]) -> None:
    """Write the hashes of the sentences that an encoder was trained on."""
    path.write_bytes(np.unique(_hashes(sentences)).tobytes())


def count_seen(encoder: Encoder, sentences: Sequence[Any]) -> int | None:
    """Return how many of the sentences an encoder was trained on, by their words; None if its folder does not say."""
    from .shipped import folder_of

    reference = encoder.reference
    path = None if reference is None else (folder_of(reference) or Path(reference)) / SEEN
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    if len(content) % _HASH.itemsize:
        raise EncoderError(f"broken encoder: {path} is cut off")
    return int(np.isin(_hashes(sentences), np.frombuffer(content, _HASH)).sum())


def _hashes(sentences: Iterable[Any]) -> npt.NDArray[np.uint32]:
    """Return a number for each sentence, which depends on its words alone."""
    texts = ("\x1f".join(words_of(sentence, i)) for i, sentence in enumerate(sentences))
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH.itemsize).digest() for text in texts)
    return np.frombuffer(b"".join(digests), _HASH)
