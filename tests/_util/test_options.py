"""Settings whose meaning and limits stand beside the fields of a dataclass, and files of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from handful._util.files import PathLike
from handful._util.options import check_options, option, read_settings
from handful.bench import Settings
from handful.errors import DataError, FileError, FormatError
from handful.training import Recipe, TuneRecipe


@dataclass(frozen=True, kw_only=True)
class Tea:
    """How to make tea."""

    minutes: float = option(3.0, least=0, below=10, help="How long it stands.")
    kind: str = option("black", choices=("black", "green"), help="Which leaves.")
    milk: bool = option(False, help="Whether there is milk in it.")
    spoons: Mapping[str, float] = option({"sugar": 0.5}, least=0, help="Spoons of other things.")
    guests: Sequence[str] = option((), help="Who comes.")
    book: PathLike | None = option(None, help="Where the recipe is.")  # noqa: RUF009
    cups: int = option(2, least=1, help="How many cups.")
    note: str = field(default="")

    def __post_init__(self):
        check_options(self)


def read(tmp_path, text, **given):
    (tmp_path / "tea.toml").write_text(text)
    return read_settings(Tea(), tmp_path / "tea.toml", **given)


def test_a_file_sets_fields_and_what_is_given_goes_before_it(tmp_path):
    text = 'minutes = 4\nkind = "green"\nmilk = true\nspoons = {honey = 1}\nguests = ["Ann", "Bob"]\nbook = "b"\n'
    wanted = {"kind": "green", "milk": True, "spoons": {"honey": 1}, "guests": ["Ann", "Bob"], "book": "b"}
    assert read(tmp_path, text) == Tea(minutes=4, **wanted)
    assert read(tmp_path, text, minutes=5, cups=None) == Tea(minutes=5, **wanted)
    assert read(tmp_path, "") == Tea()
    assert read_settings(Tea(cups=4), None) == Tea(cups=4)
    assert read_settings(Tea(cups=4), None, cups=5) == Tea(cups=5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("minute = 3", "tea.toml: there is no setting 'minute'; did you mean 'minutes'?"),
        ("x = 3", "tea.toml: there is no setting 'x'; the settings are minutes, kind, milk"),
        ('note = "x"', "tea.toml: there is no setting 'note'"),
        ("[how]\nminutes = 3", "tea.toml: there is no setting 'how'"),
        ("minutes = 10", "tea.toml: minutes is 10, expected a number of at least 0 and below 10"),
        ('minutes = "3"', "tea.toml: minutes is '3', expected a number"),
        ("minutes = inf", "tea.toml: minutes is inf, expected a number"),
    ],
)
def test_settings_that_are_wrong_are_named_with_their_file(tmp_path, text, message):
    with pytest.raises(DataError, match=message.replace("?", r"\?")):
        read(tmp_path, text)


def test_files_that_cannot_be_read_are_said_to_be(tmp_path):
    with pytest.raises(FormatError, match=r"tea.toml: is not a TOML file: .*line 1"):
        read(tmp_path, "minutes: 3")
    for strange in (b"\xff\xfe", b"a = " + b"[" * 5000, b"a = " + b"9" * 5000):
        (tmp_path / "odd.toml").write_bytes(strange)
        with pytest.raises(FormatError, match=r"odd.toml: is not a TOML file"):
            read_settings(Tea(), tmp_path / "odd.toml")
    with pytest.raises(FileError, match=r"none.toml: cannot be read"):
        read_settings(Tea(), tmp_path / "none.toml")


def test_every_field_of_recipes_and_settings_can_be_in_a_file(tmp_path):
    (tmp_path / "r.toml").write_text(
        "layers = 1\nshapes = true\nepochs = 2\nbatch_tokens = 64\nlr = 1e-4\nhead_lr = 2e-3\n"
        "warmup = 0.1\nname_only = 0.1\ndescription_only = 0.2\nnegatives = 0.3\ncontrast = 0.4\n"
        "weights = {a = 0.5, b = 2}\no_weights = {a = 0.3}\nhold_out = 0.1\n"
        'parts = false\nseed = 3\nrename = {PER = "who"}\n'
    )
    found = read_settings(Recipe(), tmp_path / "r.toml")
    assert found == Recipe(
        layers=1, shapes=True, epochs=2, batch_tokens=64, lr=1e-4, head_lr=2e-3, warmup=0.1,
        name_only=0.1, description_only=0.2, negatives=0.3, contrast=0.4, parts=False,
        weights={"a": 0.5, "b": 2}, o_weights={"a": 0.3}, hold_out=0.1, seed=3,
        rename={"PER": "who"},
    )  # fmt: skip
    assert all(getattr(found, name) != value for name, value in vars(Recipe()).items())
    (tmp_path / "t.toml").write_text("rank = 8\nlr = 5e-4\nfolds = 3\n")
    assert read_settings(TuneRecipe(), tmp_path / "t.toml", seed=4) == TuneRecipe(rank=8, lr=5e-4, folds=3, seed=4)
    (tmp_path / "b.toml").write_text('texts = ["all", "none"]\nfewer = true\nmost_words = 5\n')
    assert read_settings(Settings(), tmp_path / "b.toml", shots=(1, 3)) == Settings(
        texts=["all", "none"], fewer=True, most_words=5, shots=(1, 3)
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"milk": 1}, "milk is 1, expected True or False"),
        ({"minutes": True}, "minutes is True, expected a number"),
        ({"minutes": "3"}, "minutes is '3', expected a number"),
        ({"cups": 1.0}, "cups is 1.0, expected a whole number of at least 1"),
        ({"guests": "Ann"}, "guests is 'Ann', expected a list, each entry a string"),
        ({"spoons": {"sugar": -1}}, "expected a number of at least 0 for each name"),
        ({"book": 3}, "book is 3, expected a path"),
        ({"kind": None}, "kind is None, expected one of black, green"),
    ],
)
def test_instances_are_checked(wrong, message):
    with pytest.raises(DataError, match=message):
        Tea(**wrong)


def test_a_whole_number_is_a_number():
    assert Tea(minutes=4).minutes == 4
