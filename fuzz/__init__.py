"""Changed inputs for everything that reads what others wrote; see CONTRIBUTING.md."""
