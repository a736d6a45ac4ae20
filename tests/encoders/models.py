"""Small encoders of every family, with random weights and tokenizers trained on a few lines.

`FAMILIES` maps a name to a function that saves such an encoder to a folder in the Hugging Face layout.
"""

import warnings

import torch
import transformers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

with warnings.catch_warnings():  # transformers loads the module when it is first asked for, in each process
    warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
    _ = transformers.DebertaV2Model

TEXT = [
    "the quick brown fox jumps over the lazy dog in Baghdad and Paris",
    "Ekeus heads for Baghdad , says the U.N. official on Thursday .",
    "internationalization of unbelievable misunderstandings costs 1,234.50 dollars",
    "naïve café owners in São Paulo and Zürich don't like the rain",
]
SIZES = {"num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


def _train(model, trainer, *, normalizer=None, pre_tokenizer, decoder=None):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.train_from_iterator(TEXT, trainer)
    return tokenizer


def _wordpiece(special, *, lowercase):
    unknown = special[-1]
    tokenizer = _train(
        models.WordPiece(unk_token=unknown),
        trainers.WordPieceTrainer(vocab_size=140, special_tokens=special, show_progress=False),
        normalizer=normalizers.BertNormalizer(lowercase=lowercase),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
    )
    return tokenizer


def _surround(tokenizer, before, after):
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{before} $A {after}",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (before, after)],
    )


def _save(folder, model, tokenizer, **names):
    torch.manual_seed(0)
    for (
        name,
        parameter,
    ) in model.named_parameters():  # the library's own start is too flat to tell faults apart
        is_norm = name.lower().endswith(("layernorm.weight", "layer_norm.weight"))
        torch.nn.init.normal_(parameter, mean=float(is_norm), std=0.3)
    model.save_pretrained(folder)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)
    fast.save_pretrained(folder)


def bert(folder):
    special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"]
    tokenizer = _wordpiece(special, lowercase=False)
    _surround(tokenizer, "[CLS]", "[SEP]")
    # Files on the hub often ask for this; it must not cut or pad words.
    tokenizer.enable_truncation(4)
    tokenizer.enable_padding(length=4)
    config = transformers.BertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        max_position_embeddings=64,
        pad_token_id=0,
        **SIZES,
    )
    model = transformers.BertModel(config)
    _save(folder, model, tokenizer, pad_token="[PAD]", unk_token="[UNK]", cls_token="[CLS]", sep_token="[SEP]")


def distilbert(folder):
    special = ["[PAD]", "[CLS]", "[SEP]", "[MASK]", "[UNK]"]
    tokenizer = _wordpiece(special, lowercase=True)
    _surround(tokenizer, "[CLS]", "[SEP]")
    config = transformers.DistilBertConfig(
        vocab_size=tokenizer.get_vocab_size(),
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=48,
        max_position_embeddings=64,
        pad_token_id=0,
    )
    _save(folder, transformers.DistilBertModel(config), tokenizer, pad_token="[PAD]", unk_token="[UNK]")


def mpnet(folder):
    tokenizer = _wordpiece(["<s>", "<pad>", "</s>", "<mask>", "[UNK]"], lowercase=True)
    _surround(tokenizer, "<s>", "</s>")
    config = transformers.MPNetConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        max_position_embeddings=66,
        pad_token_id=1,
        **SIZES,
    )
    _save(folder, transformers.MPNetModel(config), tokenizer, pad_token="<pad>", unk_token="[UNK]")


def roberta(folder):
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer = _train(
        models.BPE(),
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=special,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
    )
    tokenizer.decoder = decoders.ByteLevel()
    _surround(tokenizer, "<s>", "</s>")
    config = transformers.RobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        max_position_embeddings=66,
        pad_token_id=1,
        **SIZES,
    )
    _save(folder, transformers.RobertaModel(config), tokenizer, pad_token="<pad>", unk_token="<unk>")


def _unigram(special, unknown):
    return _train(
        models.Unigram(),
        trainers.UnigramTrainer(vocab_size=180, special_tokens=special, unk_token=unknown, show_progress=False),
        normalizer=normalizers.NFKC(),
        pre_tokenizer=pre_tokenizers.Metaspace(),
    )


def xlm_roberta(folder):
    tokenizer = _unigram(["<s>", "<pad>", "</s>", "<unk>", "<mask>"], "<unk>")
    _surround(tokenizer, "<s>", "</s>")
    config = transformers.XLMRobertaConfig(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        max_position_embeddings=66,
        pad_token_id=1,
        **SIZES,
    )
    _save(folder, transformers.XLMRobertaModel(config), tokenizer, pad_token="<pad>", unk_token="<unk>")


def deberta_v3(folder):
    tokenizer = _unigram(["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"], "[UNK]")
    _surround(tokenizer, "[CLS]", "[SEP]")
    config = transformers.DebertaV2Config(
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=32,
        max_position_embeddings=64,
        pad_token_id=0,
        relative_attention=True,
        position_buckets=8,
        pos_att_type=["p2c", "c2p"],
        share_att_key=True,
        norm_rel_ebd="layer_norm",
        position_biased_input=False,
        type_vocab_size=0,
        **SIZES,
    )
    _save(folder, transformers.DebertaV2Model(config), tokenizer, pad_token="[PAD]", unk_token="[UNK]")


FAMILIES = {
    "bert": bert,
    "distilbert": distilbert,
    "mpnet": mpnet,
    "roberta": roberta,
    "xlm_roberta": xlm_roberta,
    "deberta_v3": deberta_v3,
}
