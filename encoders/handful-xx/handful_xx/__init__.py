"""The encoder handful-xx: the files in this folder, which `handful.encoders.load("handful-xx")` finds."""
