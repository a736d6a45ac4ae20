"""`Settings`: how much a server takes, and how long it waits."""

from dataclasses import dataclass

from handful.errors import DataError

__all__ = ["Settings"]


@dataclass(frozen=True)
class Settings:
    """How much a server takes at once, and how long things may take.

    Parameters
    ----------
    wait : float
        Seconds that a request waits for others to share its batch, where several came the last time.
    batch_words : int
        About how many words are encoded at once. What is left of a larger request waits for its next turn.
    max_requests : int
        How many requests may be under way at once, waiting ones included. Others are told to come back (429).
    max_bytes : int
        The most bytes in the body of a request.
    max_texts : int
        The most texts in a request.
    timeout : float
        Seconds after which a request is given up (503).
    body_timeout : float
        Seconds in which the body of a request must have come (408).
    grace : float
        Seconds that a server that is told to stop has for what it has accepted.
    """

    wait: float = 0.002
    batch_words: int = 2048
    max_requests: int = 256
    max_bytes: int = 1 << 20
    max_texts: int = 1000
    timeout: float = 30.0
    body_timeout: float = 10.0
    grace: float = 30.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = 0 if name == "wait" else 1 if isinstance(value, int) else 0.001
            if not value >= least:
                raise DataError(f"{name} is {value!r}, expected a number of at least {least}")
