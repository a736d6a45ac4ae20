"""CONTaiNER on a tiny encoder: the loss against integrals, nearest words by a loop, training that helps."""

import copy
import math
import random

import numpy as np
import pytest
from scipy.stats import norm

from handful.baselines import Container, Source, make_baseline
from handful.baselines._base import read_support
from handful.encoders import load
from handful.errors import DataError, EncoderError
from handful.evaluate import score
from training.made import make_corpus, make_encoder

from .made import encoder as toy
from .made import sentences, tagged, tags_of

torch = pytest.importorskip("torch")

from handful.baselines import _network as network  # noqa: E402


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoders") / "bert", "bert")


def corpus(seed, n, types):
    made = make_corpus(random.Random(seed), n, types)
    return [tagged([w for w, _ in each], [tag[2:] or "O" for _, tag in each]) for each in made]


@pytest.fixture(scope="module")
def source(folder):
    return Source([corpus(1, 60, ["PER", "LOC"]), corpus(2, 40, ["PER", "LOC"])], folder)


def divergence(mean, variance, other_mean, other_variance):
    """KL of two Gaussians on a line, by its integral."""
    x = mean + np.linspace(-12, 12, 2001) * math.sqrt(variance)
    one, other = norm.logpdf(x, mean, math.sqrt(variance)), norm.logpdf(x, other_mean, math.sqrt(other_variance))
    return np.trapezoid(np.exp(one) * (one - other), x)


def slow_distance(mu, s, p, q, distance):
    if distance == "euclidean":
        return sum((mu[p, j] - mu[q, j]) ** 2 for j in range(mu.shape[1]))
    return sum(
        (divergence(mu[p, j], s[p, j], mu[q, j], s[q, j]) + divergence(mu[q, j], s[q, j], mu[p, j], s[p, j])) / 2
        for j in range(mu.shape[1])
    )


def slow_loss(mu, s, tags, distance):
    losses = []
    for p, tag in enumerate(tags):
        near = {q: math.exp(-slow_distance(mu, s, p, q, distance)) for q in range(len(tags)) if q != p}
        partners = [value for q, value in near.items() if tags[q] == tag]
        if partners:
            losses.append(-math.log(sum(partners) / len(partners) / sum(near.values())))
    return sum(losses) / len(losses)


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
@pytest.mark.parametrize("place", [0, 1e4])
def test_the_loss_is_that_of_integrals_and_loops(distance, place):
    rng = np.random.default_rng(0)
    tags = np.array([0, 0, 1, 2, 1, 0, 2, 3])  # 3 has no partner
    mu, s = rng.normal(size=(8, 2)) * 2, rng.uniform(0.3, 3, size=(8, 2))
    found = network.contrastive(torch.tensor(mu + place), torch.tensor(s), torch.tensor(tags), distance)
    assert float(found) == pytest.approx(slow_loss(mu, s, tags, distance), rel=1e-6)
    assert float(network.contrastive(torch.tensor(mu), torch.tensor(s), torch.arange(8), distance)) == 0


def test_tags_are_those_of_the_nearest_word_of_the_trained_encoder(source, folder):
    support, test = corpus(3, 5, ["GENE", "DRUG"]), corpus(4, 8, ["GENE", "DRUG"])
    model = Container(folder, source=source).fit(support)
    tuned = model._fitted.encoder
    known, known_tags = tuned.encode(support), [tag for sentence in support for tag in tags_of(sentence)]
    expected = []
    for sentence in test:
        rows = tuned.encode([sentence])
        nearest = [min(range(len(known)), key=lambda i: ((known[i] - row) ** 2).sum()) for row in rows]
        expected.append(tagged(sentence.words, [known_tags[i] for i in nearest]))
    assert model.predict_sentences(test) == expected
    before = load(folder).encode(support)
    assert np.abs(before - known).max() > 1e-4  # neither training left the encoder as it was
    again = Container(folder, source=source).fit(support)
    np.testing.assert_array_equal(again._fitted.encoder.encode(support), known)  # nor did the first fit the source


def test_training_on_the_source_helps_on_other_types(folder, monkeypatch):
    monkeypatch.setattr(network, "EPOCHS", 4)
    monkeypatch.setattr(network, "RATE", 2e-3)
    source = Source([corpus(seed, 150, ["PER", "LOC", "DRUG"]) for seed in (1, 2)], folder)
    support, test = corpus(3, 6, ["GENE", "DRUG"]), corpus(4, 60, ["GENE", "DRUG"])
    before = make_baseline("nnshot", folder).fit(support).predict_sentences(test)
    after = make_baseline("container", folder, source=source).fit(support).predict_sentences(test)
    path = make_baseline("container-viterbi", folder, source=source).fit(support).predict_sentences(test)
    assert score(test, after).micro.f1 > score(test, before).micro.f1 + 0.05
    assert score(test, path).micro.f1 > score(test, before).micro.f1 + 0.05


def test_tuning_stops_where_the_loss_no_longer_falls(source, folder, monkeypatch):
    support = read_support(corpus(3, 5, ["GENE", "DRUG"]))
    trained = source.network
    plain = network.as_encoder(network.TorchNetwork(trained.network.encoder.eval()), trained.tokenizer).encode(
        support.sentences
    )
    rounds = []
    monkeypatch.setattr(network, "_step", lambda *given: rounds.append(1) or [3.0, 2.0, 2.0, 1.0][len(rounds) - 1])
    tuned = network.tune(trained, support, "kl").encode(support.sentences)
    assert len(rounds) == 3
    np.testing.assert_array_equal(tuned, plain)


def test_words_whose_tag_is_open_are_not_used(source, folder):
    open_ones = ["the [katoase](GENE) sees [mireol](DRUG)", "[lavicin](DRUG|GENE) walks [supool](_) by [notoine](GENE)"]
    support = read_support(open_ones)
    assert support.tags().tolist() == [0, 2, 0, 1, -1, 0, -1, 0, 2]
    model = copy.deepcopy(source.network.network).to("cpu", torch.float32).eval()
    rows = network._rows(support.sentences, support.tags(), model.encoder, source.network.tokenizer, "it")
    (batch,) = network.prefetch([rows], [(0, np.arange(2))], torch.device("cpu"))
    with torch.no_grad():
        vectors = network.word_vectors(model.encoder, batch)[torch.tensor([0, 1, 2, 3, 5, 7, 8])].relu()
        mu, s = model.means(vectors), torch.nn.functional.elu(model.variances(vectors)) + 1
        expected = slow_loss(mu.numpy(), s.numpy(), [0, 2, 0, 1, 0, 0, 2], "kl")
        assert float(model.loss(batch, "kl")) == pytest.approx(expected, rel=1e-4)


def test_one_mention_a_type_takes_the_distance_of_means(source, folder):
    test = corpus(4, 8, ["GENE", "DRUG"])

    def scores(support, distance):
        found = Container(folder, source=source, distance=distance).fit(support).predict(test)
        return [each["score"] for mentions in found for each in mentions]

    one_shot = ["the [katoase](GENE) sees [mireol](DRUG)"]
    assert scores(one_shot, "auto") == scores(one_shot, "euclidean") != scores(one_shot, "kl")
    more = [*one_shot, "then [notoine](GENE) left [lavicin](DRUG)"]
    assert scores(more, "auto") == scores(more, "kl") != scores(more, "euclidean")


def test_viterbi_uses_the_transitions_of_the_source(source, folder):
    support, test = corpus(3, 5, ["GENE", "DRUG"]), corpus(4, 30, ["GENE", "DRUG"])
    plain = Container(folder, source=source).fit(support).predict_sentences(test)
    path, still = (
        Container(folder, source=source, viterbi=True, temperature=temperature).fit(support).predict_sentences(test)
        for temperature in (30.0, 0)
    )
    assert path != plain
    assert still == plain


def test_bad_input_is_refused(source, folder):
    support = corpus(3, 5, ["GENE", "DRUG"])
    with pytest.raises(EncoderError, match=r"cannot train ToyEncoder.*Hugging Face folder"):
        make_baseline("container", toy(), source=[sentences(1, 9)]).fit(sentences(2, 9))
    with pytest.raises(EncoderError, match="handful-en is an exported encoder, which cannot be trained"):
        make_baseline("container", "handful-en", source=[sentences(1, 9)]).fit(sentences(2, 9))
    with pytest.raises(EncoderError, match="another encoder"):
        Container(folder + "/.", source=source).fit(support)
    with pytest.raises(DataError, match="distance is auto"):
        Container(folder, source=source, distance="cosine").fit(support)
    with pytest.raises(DataError, match="temperature is a number"):
        Container(folder, source=source, viterbi=True, temperature=-1).fit(support)
    with pytest.raises(DataError, match="give source="):
        make_baseline("container-viterbi", folder)
