"""Text to one vector a word."""
