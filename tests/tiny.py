"""A very small encoder with random weights, for tests and benchmarks that are not about words."""


def make_encoder(folder, pieces, kind="bert", *, n_layers=2, window=64, dropout=0.1):
    """Write an encoder of a few thousand weights, in the Hugging Face layout, whose sub-words are given."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    vocabulary = {piece: i for i, piece in enumerate([*special, *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("</s>", 2), ("<s>", 0))
    names = {"bos": "<s>", "cls": "<s>", "eos": "</s>", "sep": "</s>", "pad": "<pad>", "unk": "<unk>", "mask": "<mask>"}
    tokens = {f"{name}_token": token for name, token in names.items()}
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=window, **tokens)
    if kind == "distilbert":
        sizes = {"dim": 32, "n_layers": n_layers, "n_heads": 2, "hidden_dim": 64}
    else:
        sizes = {"hidden_size": 32, "num_hidden_layers": n_layers, "num_attention_heads": 2, "intermediate_size": 64}
        sizes |= {"hidden_dropout_prob": dropout, "attention_probs_dropout_prob": dropout}
    shared = {"vocab_size": len(vocabulary), "max_position_embeddings": window + 2, "pad_token_id": 1}
    names_of = {"bert": "Bert", "roberta": "Roberta", "mpnet": "MPNet", "distilbert": "DistilBert"}
    config, model = (getattr(transformers, names_of[kind] + part) for part in ("Config", "Model"))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model(config(**shared, **sizes)).save_pretrained(folder)
    fast.save_pretrained(folder)
    return str(folder)
