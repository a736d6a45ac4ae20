"""Steps of several corpora: what they hold, and the loss against one that is computed word by word."""

import math
import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
import torch
from made import make_corpus, make_encoder, write_conll

from handful.encoders.hugging_face import window_of, word_tokenizer
from handful.text import EntityType, to_sentence
from handful.training import Recipe
from handful.training._steps import PlannedStep, StepBuilder, layout_of, plan_steps
from handful.training._texts import forms_of, lay_out_types
from handful.training.batches import on_device
from handful.training.corpora import io_tags, read_corpora
from handful.training.model import _hidden, read_base
from handful.training.prepare import find_twins, prepare

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def corpora(tmp_path_factory):
    folder = tmp_path_factory.mktemp("corpora")
    people = make_corpus(random.Random(1), 40, ["PER", "LOC"])
    people[3] = [pair for sentence in people[10:30] for pair in sentence]  # longer than the window
    things = make_corpus(random.Random(2), 30, ["GENE", "DRUG", "LOC"])
    files = [write_conll(folder / "people.txt", people), write_conll(folder / "things.txt", things)]
    descriptions = (
        "[people]\nPER: who walks today\nLOC: where\n[things]\nGENE = the gene: which\nLOC: near the person\n"
    )
    (folder / "types.ini").write_text(descriptions)
    return read_corpora(files, types=folder / "types.ini")


def prepared(encoder, corpora, **settings):
    """Return the training of a recipe, whose network has random weights in its head."""
    recipe = Recipe(**{"negatives": 0, "contrast": 0, **settings})
    training = prepare(corpora, encoder, recipe, "cpu").training
    generator = torch.Generator().manual_seed(1)
    for parameter in training.network.head.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=generator)
    training.network.eval()
    return training


def build(training, chunks, number=0):
    return on_device(training._builder.build(PlannedStep(0, number, chunks)), CPU)


CHUNKS = [(0, np.array([3, 7, 1])), (1, np.array([2, 5])), (0, np.array([8])), (1, np.array([0, 2]))]


def alone(model, tokenizer, words):
    """Return the vectors of all sub-words of a short text, and how many each word has."""
    subwords = word_tokenizer(tokenizer)(words)
    ids = torch.tensor([[0, *(token for word in subwords for token in word), 2]])
    hidden = model(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state[0, 1:-1]
    return hidden, [len(word) for word in subwords]


def slow_loss(network, tokenizer, corpora, chunks, *, forms=None, o_weights=(1.0, 1.0), is_wrong=None, contrast=0.0):
    """The loss, word by word. `forms` says which text a type is read by; `is_wrong(number, type, word, other)`."""
    head, losses, vectors = network.head, [], []
    asked = [(c, one) for c in dict.fromkeys(c for c, _ in chunks) for one in corpora[c].types]
    columns = []
    for c, one in asked:
        text = forms_of(one, corpora[c].called.get(one.name, ""))[(forms or {}).get((c, one.name), 0)]
        mean = alone(network.encoder, tokenizer, to_sentence(text).words)[0].mean(0)
        n = head.linear(mean)
        columns.append((n, head.beta - n @ n / 2))
    for c, sentences in chunks:
        for i in sentences:
            sentence = corpora[c].train[i]
            hidden, sizes = alone(network.encoder, tokenizer, sentence.words)
            tags = io_tags([sentence], corpora[c].type_names)
            at = 0
            for word, size, tag in zip(sentence.words, sizes, tags, strict=True):
                x = 0.5 * (hidden[at] + hidden[at + size - 1])
                at += size
                o = [x @ p - p @ p / 2 for p in (row + head.shifts[c] for row in head.o_prototypes)]
                scores = [torch.stack(o).logsumexp(0)]
                right = scores[0] if tag == 0 else None
                for (other, one), (n, bias) in zip(asked, columns, strict=True):
                    is_own = other == c
                    if is_own or (is_wrong is not None and is_wrong(c, tag, word, other, one)):
                        scores.append(x @ n + bias)
                    if is_own and tag and corpora[c].types[tag - 1] == one:
                        right = scores[-1]
                loss = torch.stack(scores).logsumexp(0) - right
                losses.append(loss * (o_weights[c] if tag == 0 else 1.0))
                vectors.append((x, c, int(i), tag))
    total = torch.stack(losses).mean()
    if contrast:
        total = total + contrast * slow_contrast(vectors, network.log_scale.exp())
    return total


def slow_contrast(vectors, scale):
    found = []
    for i, (x, c, s, tag) in enumerate(vectors):
        others = [
            (-scale * (x - y).square().sum() / 2, other)
            for j, (y, d, r, other) in enumerate(vectors)
            if j != i and d == c and r != s
        ]
        partners = [near for near, other in others if other == tag]
        if partners:
            every = torch.stack([near for near, _ in others])
            found.append(every.logsumexp(0) - torch.stack(partners).logsumexp(0))
    return torch.stack(found).mean()


SHORT = [(0, np.array([7, 1])), (1, np.array([2, 5])), (0, np.array([8]))]


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_the_loss_is_that_of_words_one_by_one(kind, corpora, tmp_path):
    folder = make_encoder(tmp_path / kind, kind)
    settings = {"name_only": 0, "description_only": 0, "contrast": 0.5, "o_weights": {"things": 0.3}}
    training = prepared(folder, corpora, **settings)
    tokenizer = read_base(folder)[1]
    with torch.inference_mode():
        found = training.network.loss(build(training, SHORT))
        wanted = slow_loss(training.network, tokenizer, corpora, SHORT, o_weights=(1.0, 0.3), contrast=0.5)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_types_of_other_corpora_are_wrong_answers_where_they_are_different(corpora, encoder, monkeypatch):
    monkeypatch.setattr("handful.training.prepare._LEAST_COUNT", 5)
    monkeypatch.setattr("handful.training.prepare._LARGEST_SHARE", 0.0)
    training = prepared(encoder, corpora, name_only=0, description_only=0, negatives=0.5)
    training.network.head.linear.weight.data *= 0.1  # so that no type is far more probable than the others
    different = training.network.different
    n_pairs = int(different.triu(1).sum())
    assert n_pairs == 5  # half of the pairs of five types
    assert torch.equal(different, different.T)
    assert not different.diagonal().any()
    first = [0, 2]
    names = [[one.name for one in corpus.types] for corpus in corpora]
    counts = Counter(word for corpus in corpora for sentence in corpus.train for word in sentence.words)
    plain = {word for word, n in counts.items() if n >= 5 and not word.endswith(("son", "sen", "burg", "ville"))}

    def is_wrong(c, tag, word, other, one):
        if tag == 0:
            return word in plain
        return bool(different[first[c] + tag - 1, first[other] + names[other].index(one.name)])

    tokenizer = read_base(encoder)[1]
    with torch.inference_mode():
        found = training.network.loss(build(training, SHORT))
        wanted = slow_loss(training.network, tokenizer, corpora, SHORT, is_wrong=is_wrong)
        without = slow_loss(training.network, tokenizer, corpora, SHORT)
    assert abs(wanted - without) > 1e-3
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_another_corpus_in_the_step_changes_no_words_loss(corpora, encoder):
    training = prepared(encoder, corpora, name_only=0, description_only=0)
    first, second = [(0, np.array([3, 7, 1]))], [(1, np.array([2, 5]))]
    with torch.inference_mode():
        parts = [build(training, chunks) for chunks in (first, second, first + second)]
        losses = [training.network.loss(part).item() * part.n_words for part in parts]
    assert math.isclose(losses[0] + losses[1], losses[2], rel_tol=1e-5)
    assert min(losses) > 0


@pytest.mark.parametrize("kind", ["bert", "roberta", "mpnet", "distilbert"])
def test_packed_rows_give_the_vectors_of_rows_of_one_sentence(kind, corpora, tmp_path):
    folder = make_encoder(tmp_path / kind, kind)
    training = prepared(folder, corpora, name_only=0, description_only=0, contrast=0.1)
    data = training.data
    assert data.layout.is_packed
    builders = [
        StepBuilder(data.sources, data.texts, layout, contrast=True, seed=0)
        for layout in (data.layout, replace(data.layout, is_packed=False))
    ]
    packed, padded = (builder.build(PlannedStep(0, 0, CHUNKS)) for builder in builders)
    assert packed.ids.size < 0.6 * padded.ids.size
    with torch.inference_mode():
        losses = [training.network.loss(on_device(step, CPU)).item() for step in (packed, padded)]
    assert math.isclose(*losses, rel_tol=1e-5)


def test_an_encoder_that_reads_its_neighbours_is_not_packed(encoder):
    model, tokenizer, _ = read_base(encoder)
    window = window_of(model, tokenizer)
    assert layout_of(model, window).is_packed
    forward = model.forward

    def shifted(**inputs):
        output = forward(**inputs)
        output.last_hidden_state = output.last_hidden_state + output.last_hidden_state.roll(1, 1)
        return output

    model.forward = shifted
    assert not layout_of(model, window).is_packed
    model.forward = lambda input_ids, attention_mask: forward(input_ids=input_ids, attention_mask=attention_mask)
    assert not layout_of(model, window).is_packed  # it takes no positions


def test_a_step_holds_its_words_tags_and_texts(corpora, encoder):
    training = prepared(encoder, corpora, contrast=0.1)
    step = training._builder.build(PlannedStep(0, 0, CHUNKS))
    sentences = [(c, int(i)) for c, numbers in CHUNKS for i in numbers]
    n_words = [len(corpora[c].train[i].words) for c, i in sentences]
    assert step.n_words == sum(n_words) == len(step.tags) == len(step.first) == len(step.weights)
    assert step.types.tolist() == [0, 1, 2, 3, 4]
    assert step.type_corpora.tolist() == [0, 0, 1, 1, 1]
    wanted = []
    for c, i in sentences:
        own = io_tags([corpora[c].train[i]], corpora[c].type_names)
        wanted += [tag + 2 if tag and c else tag for tag in own]
    assert step.tags.tolist() == wanted
    assert step.corpora.tolist() == np.repeat([c for c, _ in sentences], n_words).tolist()
    assert step.sentences.tolist() == np.repeat([i for _, i in sentences], n_words).tolist()
    assert len(step.text_starts) == 5
    assert (step.ids[step.sequences < 0] == 1).all()
    assert len(set(step.contrast.tolist())) == len(step.contrast) == step.n_words


def test_borders_between_mentions_of_one_type_are_learned(tmp_path, encoder):
    lines = ["[flour](FOOD) [brown sugar](FOOD) was there", "so was [sea salt](FOOD)", "[old bread](FOOD) [tea](FOOD)"]
    (tmp_path / "food.txt").write_text("# FOOD: what is eaten\n\n" + "\n".join(lines) + "\n")
    corpora = read_corpora([tmp_path / "food.txt"])
    training = prepared(encoder, corpora)
    step = build(training, [(0, np.array([0, 1, 2]))])
    assert step.tags.tolist() == [1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    assert step.follows.tolist() == [1, 2, 8, 10, 11]
    assert step.begins.tolist() == [1, 0, 0, 0, 1]
    network, head = training.network, training.network.head
    with torch.inference_mode():
        x = 0.5 * (_hidden(network.encoder, step)[step.first] + _hidden(network.encoder, step)[step.last])
        u, v, b = head.border.split([x.shape[1]] * 2 + [1])
        wanted = 0.0
        for i, begins in zip((1, 2, 8, 10, 11), (1, 0, 0, 0, 1), strict=True):
            logit = (u @ x[i - 1] + v @ x[i] + b).item()
            wanted += math.log1p(math.exp(-logit if begins else logit)) / step.n_words
        with_borders, border, head.border = network.loss(step).item(), head.border, None
        assert math.isclose(with_borders - network.loss(step).item(), wanted, rel_tol=1e-3)
        head.border = border
    assert np.allclose(head.trained().border, border.detach().numpy())
    without = write_conll(tmp_path / "a.txt", [[("a", "B-A"), ("b", "I-A")]])
    assert prepared(encoder, read_corpora([without])).network.head.border is None


def test_texts_follow_the_seed_and_their_shares(corpora, encoder):
    tokenizer = read_base(encoder)[1]
    texts = lay_out_types(
        corpora, word_tokenizer(tokenizer), 64, Recipe(name_only=0.2, description_only=0.5, parts=False)
    )
    types = np.arange(5)
    first, same, other = (
        [texts.choose(types, np.random.default_rng(seed)).texts.tolist() for seed in seeds]
        for seeds in (range(300), range(300), range(300, 600))
    )
    assert first == same != other
    forms = np.array(first) % 3
    assert (np.array(first) // 3 == types).all()
    shares = [np.mean(forms == form) for form in range(3)]
    np.testing.assert_allclose(shares, [0.3, 0.2, 0.5], atol=0.04)
    training = [prepared(encoder, corpora, seed=seed) for seed in (0, 0, 1)]
    steps = [[build(each, CHUNKS, number).ids.tolist() for number in range(5)] for each in training]
    assert steps[0] == steps[1] != steps[2]
    assert len({str(ids) for ids in steps[0]}) > 1  # another step, other texts


def test_texts_of_types():
    assert forms_of(EntityType("creative-work", "books and films")) == (
        "creative work: books and films",
        "creative work",
        "books and films",
    )
    assert forms_of(EntityType("ORG")) == ("organization",) * 3
    assert forms_of(EntityType("ORG", "firms"), "company")[0] == "company: firms"


@pytest.mark.parametrize("batch_tokens", [1, 100, 400, 10_000])
def test_an_epoch_takes_every_sentence_in_steps_of_limited_size(corpora, encoder, batch_tokens):
    training = prepared(encoder, corpora, weights={"people": 2.0, "things": 0.5})
    sources, text_tokens = training.data.sources, [10, 20]
    plans = [
        plan_steps(sources, text_tokens, batch_tokens=batch_tokens, seed=seed, epoch=epoch)
        for seed, epoch in ((0, 0), (0, 0), (0, 1), (1, 0))
    ]
    shown = [str(plan) for plan in plans]
    assert shown[0] == shown[1]
    assert len({text.replace("epoch=1", "epoch=0") for text in shown}) == 3
    for plan in plans:
        seen = Counter((c, int(i)) for step in plan for c, part in step.chunks for i in part)
        assert Counter(c for c, _ in seen.elements()) == {0: 80, 1: 15}
        assert {n for (c, _), n in seen.items() if c == 0} == {2}
        assert [step.number for step in plan] == list(range(len(plan)))
        for step in plan:
            n_tokens = sum(np.diff(sources[c].rows.tokens)[part].sum() for c, part in step.chunks)
            n_tokens += sum(text_tokens[c] for c in {c for c, _ in step.chunks})
            assert n_tokens <= batch_tokens or len(step.chunks) == 1
    assert len(plans[0]) == 1 or batch_tokens < 10_000


@pytest.mark.parametrize("contrast", [0, 0.1])
def test_the_scale_of_the_second_loss_is_learned_where_there_is_one(contrast, encoder, corpora):
    network = prepared(encoder, corpora, contrast=contrast).network
    learned = [name for name, one in network.named_parameters() if one.requires_grad]
    assert ("log_scale" in learned) is bool(contrast)


@pytest.fixture(scope="module")
def twins(tmp_path_factory):
    """Two corpora with the same sentences, under two guidelines, and one of its own."""
    folder = tmp_path_factory.mktemp("twins")
    sentences = ["[Lima](LOC) walks", "near [Ann](PER) today", "[Dr Bo](PER) of [Lima](LOC)"] * 6
    heads = {
        "one": "# LOC: town\n# PER: person, with title\n",
        "two": "# LOC: town, not a country\n# PER: person, with title\n",
        "three": "# PER: person\n",
    }
    for name, head in heads.items():
        own = sentences if name != "three" else ["[Eve](PER) sat", "a dog"] * 4
        (folder / f"{name}.txt").write_text(head + "\n" + "\n".join(own) + "\n")
    return read_corpora([folder / "one.txt", folder / "two.txt", folder / "three.txt"])


def test_twins_come_in_one_step(encoder, twins):
    assert find_twins(twins) == {1: 0}
    training = prepared(encoder, twins, batch_tokens=64, weights={"one": 2, "two": 1})
    n_beside = 0
    for epoch in range(3):
        for step in training._plan(epoch):
            chunks = [(number, sentences.tolist()) for number, sentences in step.chunks]
            ones, twos = ([sentences for number, sentences in chunks if number == which] for which in (0, 1))
            assert all(sentences in ones for sentences in twos)  # never a twin without the same sentences of its file
            n_beside += sum(map(len, twos))
    n_one = sum(
        len(sentences) for epoch in range(3) for step in training._plan(epoch) for n, sentences in step.chunks if n == 0
    )
    assert n_one == 3 * 2 * 18
    assert 0.3 < n_beside / n_one < 0.7  # half as often as its file


def test_a_twin_has_no_name_alone_where_its_guideline_differs(encoder, twins):
    tokenizer = word_tokenizer(read_base(encoder)[1])
    texts = lay_out_types(twins, tokenizer, 64, Recipe(name_only=1.0, description_only=0.0), {1: 0})
    chosen = texts.choose(np.arange(5), np.random.default_rng(0))
    # LOC and PER of the first, LOC and PER of its twin, PER of the third: by name, but for LOC of the twin
    assert (chosen.texts[:5] % 3).tolist() == [1, 1, 0, 1, 1]
    assert chosen.owners.tolist() == [2]  # and that excludes something
    assert texts.full(np.arange(5)).owners.tolist() == [2]


def test_what_is_excluded_changes_the_loss_as_the_equation_says(encoder, twins):
    training = prepared(encoder, twins, name_only=0, description_only=0)
    head, network = training.network.head, training.network
    step = build(training, [(1, np.array([0, 2, 4])), (2, np.array([0]))])
    assert step.owners.tolist() == [0]
    with torch.inference_mode():
        hidden = _hidden(network.encoder, step)
        x = 0.5 * (hidden[step.first] + hidden[step.last])
        logits = network.logits(x, hidden, step)
        ends = [*step.text_starts[1:].tolist(), len(step.text_at)]
        means = [hidden[step.text_at[a:b]].mean(0) for a, b in zip(step.text_starts.tolist(), ends, strict=True)]
    n = head.trained()
    vectors = [n.weight @ mean.numpy() + n.bias for mean in means]
    scores = [x.numpy() @ vector - 0.5 * vector @ vector + n.beta for vector in vectors]
    loc = scores[0] - np.log1p(np.exp(scores[3] + n.exclusion - scores[0]))
    own = step.corpora.numpy() == 1
    np.testing.assert_allclose(logits[own, 1], loc[own], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(logits[own, 2], scores[1][own], rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(logits[~own, 3], scores[2][~own], rtol=1e-4, atol=1e-4)


def test_a_recipe_can_read_descriptions_as_they_are(encoder, twins):
    training = prepared(encoder, twins, parts=False)
    assert training.network.head.exclusion is None
    assert training.network.head.trained().exclusion is None
    assert len(training._builder.build(training._plan(0)[0]).owners) == 0
