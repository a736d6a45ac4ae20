"""Pages for people, and what the servers share.

A page is HTML with its style and script as static files. `server`, `guard`, `http` and `connection` need the extra
`web`. The limits of servers are here, because they are needed before a server is.
"""

from handful._util.html import hue

from ._limits import LOOPBACK, Limits
from ._page import CLOSING, marked, opening

__all__ = ["CLOSING", "LOOPBACK", "Limits", "hue", "marked", "opening"]
