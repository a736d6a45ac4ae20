# `make demo` and `make test` need only Python 3.11+ and make; each sets up .venv by itself, once.
PYTHON ?= python3
PIP = .venv/bin/python -m pip --disable-pip-version-check install -q -c constraints.txt

PYTEST = .venv/bin/python -m pytest -n logical --maxprocesses 8 --dist worksteal

.PHONY: demo test test-label-studio coverage lint docs docs-serve clean

demo: .venv/ready
	.venv/bin/handful demo

test: .venv/ready-test
	$(PYTEST) --durations=10 -rs

# A real Label Studio, from PyPI, in a virtual environment of its own (about 1 GB).
test-label-studio: .venv/ready-test .venv-label-studio/ready
	HANDFUL_LABEL_STUDIO=$(CURDIR)/.venv-label-studio/bin/label-studio \
		.venv/bin/python -m pytest tests/serve/test_real_label_studio.py

.venv-label-studio/ready:
	$(PYTHON) -m venv .venv-label-studio
	.venv-label-studio/bin/python -m pip --disable-pip-version-check install -q label-studio
	@touch $@

# Branches of src/handful, in the processes that tests start too: the total and the files below 85 %.
coverage: .venv/ready-test
	@rm -f .coverage .coverage.*
	$(PYTEST) --cov --cov-report=
	@.venv/bin/coverage report | awk 'NR <= 2 || /^TOTAL/ || $$NF + 0 < 85'

# The site, in site/. A dead link, or a page that mkdocs.yml does not name, is an error. docs-serve shows it while you write.
MKDOCS = NO_MKDOCS_2_WARNING=1 .venv/bin/python -m mkdocs

docs: .venv/ready-test
	$(MKDOCS) build --strict --quiet

docs-serve: .venv/ready-test
	$(MKDOCS) serve --strict --dev-addr 127.0.0.1:8490

lint: .venv/ready-test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

.venv/ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "handful needs Python 3.11 or later; try: make PYTHON=python3.11")'
	@echo "setting up .venv (once)"
	$(PYTHON) -m venv .venv
	$(PIP) -e .
	@touch $@

.venv/ready-test: .venv/ready
	@echo "installing what the tests need (once)"
	$(PIP) torch
	$(PIP) -e '.[transformers,plots,web,docs,dev]'
	@touch $@

clean:
	rm -rf .venv .venv-label-studio build dist site src/*.egg-info
