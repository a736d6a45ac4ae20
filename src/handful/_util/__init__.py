"""Small things that several rooms need; standard library only at import."""
