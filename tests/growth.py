"""How the time of a function grows with its input: a fault that lets a stranger freeze a server shows here.

No test says how many seconds something may take: that depends on the machine.
"""

import math
import time

FACTOR = 16
LEAST = 1e-4  # seconds; below that all is well
FEW = FACTOR**1.5  # times as long as the small input: a large one that takes no more, in one run, is not measured again


def grows_as(run, make, n):
    """Return the power of the size with which the time of ``run(make(n))`` grows, or more where that is below 1.5.

    1 is linear, 2 quadratic.
    """
    small, large = LEAST, best(run, make(FACTOR * n), n=1)
    if large > FEW * small:
        small = max(small, best(run, make(n)))
    if large > FEW * small:
        large = best(run, make(FACTOR * n))
    return math.log(max(large, 1e-9) / small, FACTOR)


def best(run, given, n=5):
    """Return the least processor time of some runs, or that of one run that takes long."""
    seconds = []
    for _ in range(n):
        start = time.process_time()
        run(given)
        seconds.append(time.process_time() - start)
        if sum(seconds) > 1:
            break
    return min(seconds)
