"""`RegressionBaseline`: a linear classifier on the labelled words."""

import warnings

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.progress import Progress
from handful.errors import HandfulWarning

from ._base import Baseline, FittedBaseline, LabelledSupport

_MOST_ROUNDS = 10_000


class RegressionBaseline(Baseline):
    """Multinomial logistic regression on the features of the labelled words.

    ``P(t | x) = softmax_t(<w_t, x> + b_t)``, with w and b that minimise
    ``sum_i -log P(t_i | x_i) + 1/2 sum_t ||w_t||^2`` over the labelled words. The biases are free, so features may be
    centred, and are: it changes nothing but how fast the optimiser arrives. With a single type it is the usual binary
    regression, with one w for the type.
    """

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.linear_model import LogisticRegression

        encoder = self._open()
        features, tags = support.words(encoder, progress)
        middle = features.mean(axis=0, dtype=np.float64)
        model = LogisticRegression(max_iter=_MOST_ROUNDS, tol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(features - middle, tags)
        if int(np.max(model.n_iter_)) >= _MOST_ROUNDS:
            warnings.warn(
                f"the regression was not done after {_MOST_ROUNDS} rounds; its scores are only about right",
                HandfulWarning,
                stacklevel=3,
            )

        def log_scores(features: Float) -> NDArray[np.float64]:
            if len(features) == 0:
                return np.empty((0, support.n_tags))
            return np.asarray(model.predict_log_proba(features - middle), np.float64)

        return FittedBaseline(encoder, support.types, log_scores)
