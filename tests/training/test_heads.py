import math

import torch

from handful.training._heads import N_O_PROTOTYPES, NamesHead

WORDS = torch.randn(5, 8, generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def test_scores_of_names_follow_the_equations():
    head = NamesHead(3, 8, seed=0)
    generator = torch.Generator().manual_seed(2)
    for parameter in head.parameters():
        parameter.data = torch.randn(parameter.shape, generator=generator)
    means = torch.randn(4, 8, generator=generator)
    corpora = torch.tensor([0, 2, 1, 1, 0])
    for given in (corpora, None):
        of_o, of_types = head(WORDS, means, given)
        for i, x in enumerate(WORDS.double()):
            shift = torch.zeros(8).double() if given is None else head.shifts[given[i]].double()
            o = [row.double() + shift for row in head.o_prototypes]
            wanted = math.log(sum(math.exp((x @ each - each @ each / 2).item()) for each in o))
            assert math.isclose(of_o[i].item(), wanted, rel_tol=1e-4)
            for j, mean in enumerate(means.double()):
                n = head.linear.weight.double() @ mean + head.linear.bias.double()
                wanted = (x @ n - n @ n / 2 + head.beta).item()
                assert math.isclose(of_types[i, j].item(), wanted, rel_tol=1e-4)


def test_heads_start_from_the_seed_and_names_from_the_identity():
    first, same, other = (NamesHead(2, 8, seed=seed) for seed in (5, 5, 6))
    assert torch.equal(first.o_prototypes, same.o_prototypes)
    assert not torch.equal(first.o_prototypes, other.o_prototypes)
    assert first.o_prototypes.shape == (N_O_PROTOTYPES, 8)
    assert torch.equal(first.linear.weight, torch.eye(8))
    assert not any(each.any() for each in (first.linear.bias, first.beta, first.shifts))


def test_what_is_written_gives_the_same_scores():
    from handful.encoders import TypeVectors
    from handful.text import types_of

    head = NamesHead(3, 8, seed=0)
    for parameter in head.parameters():
        parameter.data = torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2))
    means = torch.randn(2, 8, generator=torch.Generator().manual_seed(3))
    vectors = TypeVectors.of(head.trained(), types_of("a, b"), means.double().numpy())
    found = torch.from_numpy(vectors.scores(WORDS.numpy()))
    of_o, of_types = head(WORDS, means)
    torch.testing.assert_close(found, torch.cat((of_o[:, None], of_types), 1).detach(), rtol=1e-4, atol=1e-4)
