"""Words, spans, tag schemes and files; standard library only."""
