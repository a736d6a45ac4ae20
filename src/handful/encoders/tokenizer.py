"""Words to sub-word ids, one word at a time."""

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from handful.errors import EncoderError

from .gluing import glued
from .shapes import N_SHAPES, word_shape

SPACE = "▁"  # how SentencePiece writes the space before a word
BYTE = "<0x%02X>"  # how it writes a byte of a character that it does not know
_GLUED = " glued 2"  # raised when `handful.encoders.gluing` decides otherwise

_Key = str | tuple[str]  # a word behind a space, or one without

_REMEMBERED = 2**22  # characters, and 16 more for each word: a stranger may send words of any length


class WordTokenizer:
    """Split words into sub-word ids, one word at a time, and remember them.

    `split` returns the sub-word ids of each word of a list, without the special tokens, which are `prefix` and `suffix`
    of a sentence. `unknown_id` stands for a word of which the tokenizer leaves nothing (a control character, an empty
    string), and `space_id` is the sub-word that is nothing but the space before a word, if there is one. `content`
    changes whenever the splitting does, for the fingerprint. With a `shape_stride` that is not 0, ids carry the shape
    of their word, see `handful.encoders.shapes`. `split_glued` splits words that follow another without a space, if
    that makes a difference, see `handful.encoders.gluing`; `fallback_ids` are sub-words that stand for bytes.
    """

    def __init__(
        self,
        split: Callable[[list[str]], list[list[int]]],
        *,
        prefix: Sequence[int],
        suffix: Sequence[int],
        pad_id: int,
        unknown_id: int,
        content: bytes,
        shape_stride: int = 0,
        space_id: int | None = None,
        split_glued: Callable[[list[str]], list[list[int]]] | None = None,
        fallback_ids: Sequence[int] = (),
    ) -> None:
        self.prefix = list(prefix)
        self.suffix = list(suffix)
        self.pad_id = pad_id
        self.unknown_id = unknown_id
        self.content = content if not shape_stride else content + b"\nword shapes 1 %d" % shape_stride
        self.shape_stride = shape_stride
        self._split = split
        self._split_glued = split_glued
        says_nothing = {unknown_id, *fallback_ids} | (set() if space_id is None else {space_id})
        self._says_nothing = {token + shape_stride * shape for token in says_nothing for shape in range(N_SHAPES)}
        self._known: dict[_Key, list[int]] = {}
        self._n_remembered = 0

    @classmethod
    def from_json(cls, text: str, *, pad_id: int, unknown_id: int, shape_stride: int = 0) -> "WordTokenizer":
        """Read the content of a ``tokenizer.json``; its truncation and padding are not used."""
        from tokenizers import Tokenizer

        text = with_leading_space(text)
        lead = " " if _needs_a_space(json.loads(text)) else ""

        def made(text: str) -> Any:
            tokenizer = Tokenizer.from_str(text)
            tokenizer.no_truncation()
            tokenizer.no_padding()
            return tokenizer

        try:
            tokenizer = made(text)
            sample = tokenizer.encode(["a"], is_pretokenized=True, add_special_tokens=True)
        except BaseException as error:  # the library raises bare exceptions, and panics, which are no Exception
            raise _unless_stopped(error, "tokenizer.json cannot be read by the tokenizers library") from None
        special = sample.special_tokens_mask
        start = special.index(0) if 0 in special else len(special)
        end = len(special) - special[::-1].index(0) if 0 in special else len(special)

        def split(words: list[str], by: Any = tokenizer) -> list[list[int]]:
            batch = [[lead + word if word.strip() else word] for word in words]
            try:
                encodings = by.encode_batch(batch, is_pretokenized=True, add_special_tokens=False)
            except BaseException as error:
                raise _unless_stopped(error, "the tokenizer cannot split a word") from None
            return [encoding.ids for encoding in encodings]

        settings = json.loads(text)
        spaces = [step for step in _steps(settings["pre_tokenizer"], "pretokenizers") if step["type"] == "Metaspace"]
        for step in spaces:
            step["prepend_scheme"] = "never"  # as behind no space
        glue = partial(split, by=made(json.dumps(settings, ensure_ascii=False))) if spaces else None
        return cls(
            split,
            prefix=sample.ids[:start],
            suffix=sample.ids[end:],
            pad_id=pad_id,
            unknown_id=unknown_id,
            content=f"{text}\n{pad_id} {unknown_id}{lead}{_GLUED if glue else ''}".encode(),
            shape_stride=shape_stride,
            space_id=tokenizer.token_to_id(SPACE),
            split_glued=glue,
            fallback_ids=[number for byte in range(256) if (number := tokenizer.token_to_id(BYTE % byte)) is not None],
        )

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """Return the sub-word ids of each word of a sentence, at least one per word."""
        keys: list[_Key] = list(words)
        try:
            if self._split_glued is not None:
                keys = [(word,) if is_glued else word for word, is_glued in zip(words, glued(words), strict=True)]
            return [self._known[key] for key in keys]
        except (KeyError, TypeError):  # TypeError: a word that is not a str
            pass
        for word in words:
            if not isinstance(word, str):
                raise EncoderError(f"words are str, found {word!r}")
        # Another thread may replace the dict at any time: this one is used until the answer is complete.
        known = self._known
        if self._n_remembered > _REMEMBERED:
            known = self._known = {}
            self._n_remembered = 0
        new = list(dict.fromkeys(key for key in keys if key not in known))
        apart: list[_Key] = [key for key in new if isinstance(key, str)]
        joined: list[_Key] = [key for key in new if not isinstance(key, str)]
        for split, some in ((self._split, apart), (self._split_glued, joined)):
            if not some or split is None:
                continue
            plain = [key if isinstance(key, str) else key[0] for key in some]
            self._n_remembered += sum(len(word) + 16 for word in plain)
            # A lone surrogate is not text: the tokenizer gets a replacement character instead.
            texts = [word.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for word in plain]
            for key, word, ids in zip(some, plain, split(texts), strict=True):
                shift = self.shape_stride * word_shape(word) if self.shape_stride else 0
                known[key] = [token + shift for token in ids or [self.unknown_id]]
        return [known[key] for key in keys]

    def are_unknown(self, words: Sequence[str]) -> list[bool]:
        """Return for each word whether the vocabulary has none of its sub-words."""
        return [self._says_nothing.issuperset(ids) for ids in self(words)]


def _unless_stopped(error: BaseException, what: str) -> BaseException:
    """Return an error of ours for one of the library; what ends the program stays as it is."""
    if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
        return error
    return EncoderError(f"{what}: {error}")


def with_leading_space(text: str) -> str:
    """Change a ``tokenizer.json`` to split every word as it does inside a sentence: after a space.

    Byte-level BPE and SentencePiece write the space into the sub-word ("Ġword", "▁word"). Some files ask for
    it only between the words of one text, but here words are split one at a time.
    """
    try:
        settings = json.loads(text)
        steps = settings["pre_tokenizer"]
        if not isinstance(settings["model"], dict):
            raise TypeError
        for number, step in enumerate(_steps(steps, "pretokenizers")):
            # After a step that cuts words up, each part would get its own space: see `_needs_a_space`.
            if step["type"] == "ByteLevel" and number == 0:
                step["add_prefix_space"] = True
            elif step["type"] == "Metaspace":
                step["prepend_scheme"] = "always"
                step.pop("add_prefix_space", None)
        _needs_a_space(settings)  # for its errors only
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise EncoderError("tokenizer.json is not JSON of the tokenizers library") from None
    return json.dumps(settings, ensure_ascii=False)


def _steps(setting: Any, name: str) -> list[dict[str, Any]]:
    """Return the steps of a pre-tokenizer or normalizer, which may be none, one, or a sequence."""
    return list(setting.get(name, [setting])) if setting else []


def _needs_a_space(settings: dict[str, Any]) -> bool:
    """Tell whether a word must be given with a space before it, because no step of the file can add it.

    That is so if bytes are taken after another step has cut the word, or if spaces become "▁" but no step puts one
    before a word.
    """
    cuts = [step["type"] for step in _steps(settings.get("pre_tokenizer"), "pretokenizers")]
    changes = _steps(settings.get("normalizer"), "normalizers")
    kinds = {step["type"] for step in changes}
    is_replaced = any(step["type"] == "Replace" and step.get("content") == "▁" for step in changes)
    return "ByteLevel" in cuts[1:] or (is_replaced and "Prepend" not in kinds and "Metaspace" not in cuts)
