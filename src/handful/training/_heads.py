"""The head that turns the vector x of a word into scores of O and of types, which it reads.

With h_1..h_m the vectors of the sub-words of a type's text, and delta_c a shift of O for each corpus, which is thrown
away after training::

    n_t    = W mean_i(h_i) + b
    s_t(x) = <x, n_t> - 1/2 ||n_t||^2 + beta
    s_O(x) = log sum_j exp(<x, o_j + delta_c> - 1/2 ||o_j + delta_c||^2)

The exclusions of descriptions change s_t, and a border between two mentions of one type has a score, see
`handful.encoders.names`.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from handful.encoders.names import NameHead

N_O_PROTOTYPES = 8
NEVER = -1e9  # instead of minus infinity, whose gradients are not numbers
_START_SCALE = 0.02  # the scale of the weights of a new layer in the encoders themselves


class NamesHead(nn.Module):
    """Reads types, and has prototypes of O that all corpora share."""

    def __init__(
        self, n_corpora: int, dim: int, *, seed: int, has_parts: bool = False, has_borders: bool = False
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.exclusion = nn.Parameter(torch.zeros(())) if has_parts else None
        self.border = nn.Parameter(torch.zeros(2 * dim + 1)) if has_borders else None
        # Without its own first values, which would be drawn from the random numbers of the caller.
        self.linear: nn.Linear = nn.utils.skip_init(nn.Linear, dim, dim)  # type: ignore[no-untyped-call]
        with torch.no_grad():
            self.linear.weight.copy_(torch.eye(dim))
            self.linear.bias.zero_()
        self.beta = nn.Parameter(torch.zeros(()))
        self.o_prototypes = nn.Parameter(torch.randn(N_O_PROTOTYPES, dim, generator=generator) * _START_SCALE)
        self.shifts = nn.Parameter(torch.zeros(n_corpora, dim))

    def forward(
        self,
        x: Tensor,
        means: Tensor,
        corpora: Tensor | None = None,
        owners: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the scores of O (n_words,) and of types (n_words, n_columns) for words x (n_words, dim).

        `means` (n_columns, dim) has the mean over the sub-words of each type's text, `corpora` (n_words,) the corpus of
        each word, for the shift of its O; None for no shift, as in use. Where the texts that types exclude come
        after those of the types, `owners` are their columns.
        """
        vectors = self.linear(means)
        of_types = x @ vectors.T - 0.5 * vectors.square().sum(1) + self.beta
        if self.exclusion is not None and owners is not None:
            n = len(means) - len(owners)
            of_types = _excluding(of_types[:, :n], of_types[:, n:] + self.exclusion, owners)
        o, norms = self.o_prototypes, self.o_prototypes.square().sum(1)
        inner = x @ o.T - 0.5 * norms
        if corpora is not None:
            shift = self.shifts.index_select(0, corpora)
            inner = inner - shift @ o.T + (x * shift).sum(1, keepdim=True) - 0.5 * shift.square().sum(1, keepdim=True)
        return inner.logsumexp(1), of_types

    def of_borders(self, before: Tensor, x: Tensor) -> Tensor:
        """Return for neighbours of one type, (n, dim) each, the logits (n,) that a mention begins at the second."""
        assert self.border is not None
        return torch.cat((before, x), 1) @ self.border[:-1] + self.border[-1]

    def trained(self) -> NameHead:
        """Return what is written into the encoder's folder."""
        tensors = self.linear.weight, self.linear.bias, self.o_prototypes
        weight, bias, o_prototypes = (tensor.detach().float().cpu().numpy() for tensor in tensors)
        exclusion = None if self.exclusion is None else float(self.exclusion.detach())
        border = None if self.border is None else self.border.detach().float().cpu().numpy()
        return NameHead(weight, bias, o_prototypes, float(self.beta.detach()), exclusion, border)


def _excluding(scores: Tensor, of_excluded: Tensor, owners: Tensor) -> Tensor:
    """Return the scores of types (n_words, n_columns), given those of what they exclude (n_words, n_excluded)."""
    where = owners.expand_as(of_excluded)
    highest = torch.full_like(scores, NEVER).scatter_reduce(1, where, of_excluded.detach(), "amax")
    total = torch.zeros_like(scores).scatter_add(1, where, (of_excluded - highest.gather(1, where)).exp())
    return scores - functional.softplus(highest + total.clamp(min=1e-30).log() - scores)
