"""Names for kinds of arrays."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Float"]

Float = NDArray[np.floating]
