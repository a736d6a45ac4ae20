"""Korean particles: which endings of a word are words of their own."""

# The longest first; with the sound before them: a vowel, a consonant, a vowel or l, or any.
PARTICLES = (
    *((one, "") for one in str.split("에서부터 으로부터 에서는 에서도 에게서 까지는 에서 에게 한테 까지 부터 처럼")),
    *((one, "") for one in str.split("보다 마다 에는 에도 께서")),
    *(("으로", "c"), ("로", "l"), ("은", "c"), ("는", "v"), ("이", "c"), ("가", "v"), ("을", "c"), ("를", "v")),
    *(("과", "c"), ("와", "v"), ("의", ""), ("에", ""), ("도", ""), ("만", "")),
)
_SOUNDS = dict(PARTICLES)
_CLOSING = frozenset(')"”’%')  # 홍길동(34)은


def is_particle(word: str, before: str) -> bool:
    """Tell whether a word, composed (NFC), is a particle that can follow the one before without a space.

    >>> is_particle("에서", "서울"), is_particle("는", "서울"), is_particle("은", "서울")
    (True, False, True)
    """
    sound = _SOUNDS.get(word)
    return sound is not None and (before in _CLOSING or fits(before, sound, len(word)))


def fits(before: str, sound: str, n: int) -> bool:
    """Tell whether a particle of n syllables can follow; one of a syllable needs two before it, or a Latin letter."""
    last = before[-1:]
    if not "\uac00" <= last <= "\ud7a3":
        return last.isalpha() or (last.isdigit() and n > 1)
    if n == 1 and not before[-2:-1].isalnum():
        return False
    final = (ord(last) - 0xAC00) % 28  # the consonant that closes the syllable: 0, none; 8, l
    return {"": True, "v": final == 0, "c": final != 0, "l": final in (0, 8)}[sound]
