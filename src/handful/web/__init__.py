"""Pages for people: HTML with its style and script as static files."""
