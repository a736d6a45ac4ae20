# `make demo` and `make test` need only Python 3.11+ and make; each sets up .venv by itself, once.
PYTHON ?= python3
INSTALL = .venv/bin/python -m pip --disable-pip-version-check install -q
PIP = $(INSTALL) -c constraints.txt

PYTEST = .venv/bin/python -m pytest -n logical --maxprocesses 8 --dist worksteal

.PHONY: demo test test-all test-label-studio test-lowest coverage fuzz lint docs docs-serve audit lock build release clean

demo: .venv/ready
	.venv/bin/handful demo

test: .venv/ready-test
	$(PYTEST) -m 'not exhaustive' --durations=10 -rs

# Also what takes long: processes that are killed, every family and page, the page in a browser, three times as many
# examples.
test-all: test
	$(PYTEST) -m 'exhaustive or hypothesis' --hypothesis-profile=exhaustive $(if $(CI),--hypothesis-seed=1) \
		--durations=10 -rs

# A real Label Studio, from PyPI, in a virtual environment of its own (about 1 GB).
test-label-studio: .venv/ready-test .venv-label-studio/ready
	HANDFUL_LABEL_STUDIO=$(CURDIR)/.venv-label-studio/bin/label-studio \
		.venv/bin/python -m pytest tests/serve/test_real_label_studio.py

.venv-label-studio/ready:
	$(PYTHON) -m venv .venv-label-studio
	.venv-label-studio/bin/python -m pip --disable-pip-version-check install -q label-studio
	@touch $@

# The oldest versions that pyproject.toml allows, in a virtual environment of its own (about 6 GB, torch for GPUs among
# it; UV_TORCH_BACKEND=cpu takes a smaller one where its index can be reached). Warnings of old versions do not count.
# Not here: browsers, figures, and what looks at the widths of columns, in which old versions of typer differ.
test-lowest: .venv-lowest/ready
	.venv-lowest/bin/python -m pytest -n logical --maxprocesses 2 -rf -p no:cacheprovider -W ignore::DeprecationWarning \
		-W ignore::PendingDeprecationWarning -W ignore::FutureWarning $(LOWEST)

LOWEST = tests/cluster tests/text tests/encoders tests/tagger tests/scale tests/training tests/integrations tests/web \
	tests/serve tests/cli/test_main.py tests/cli/test_tagging.py tests/test_imports.py tests/test_docs_sklearn.py \
	--ignore tests/serve/test_page.py --ignore tests/serve/test_docker.py --ignore tests/serve/test_real_label_studio.py

.venv-lowest/ready: pyproject.toml .venv-tools/ready
	$(PYTHON) -m venv --clear .venv-lowest
	.venv-tools/bin/uv pip install -q --python .venv-lowest/bin/python --resolution lowest-direct \
		-e '.[dask,spacy,hub,web,transformers,dev]'
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

# Changed inputs for everything that reads what others wrote, for about so many seconds; what fails is in fuzz/found.
SECONDS ?= 120
fuzz: .venv/ready-test
	OMP_NUM_THREADS=1 .venv/bin/python -m fuzz --seconds $(SECONDS)

lint: .venv/ready-test
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

# Known vulnerabilities of what is in .venv; STRICT=1 fails where the data cannot be had.
audit: .venv/ready-test .venv-tools/ready
	.venv-tools/bin/python tools/audit.py $(if $(STRICT),--strict) \
		"$$(.venv/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')"

# Writes requirements-dev.lock anew. `make test LOCKED=1` installs what it names, if the hashes are right; torch and the
# few packages that only torch needs come by version, from constraints.txt.
lock: .venv-tools/ready
	echo "torch ; python_version < '3'" > .venv-tools/without-torch.txt
	.venv-tools/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --all-extras --generate-hashes \
		--no-annotate --no-header --no-emit-index-url --overrides .venv-tools/without-torch.txt --output-file requirements-dev.lock pyproject.toml
	printf 'build\ntwine\npip-audit\nuv\n' > .venv-tools/tools.txt
	.venv-tools/bin/uv pip compile -q --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate \
		--no-header --no-emit-index-url --output-file requirements-tools.lock .venv-tools/tools.txt

# dist/, checked and tried; `release` also wants a clean tree, and prints what would publish it. Nothing is uploaded.
build: .venv-tools/ready
	.venv-tools/bin/python tools/release.py --build

release: .venv-tools/ready
	.venv-tools/bin/python tools/release.py

# What builds and uploads a release is pinned, with hashes.
.venv-tools/ready: requirements-tools.lock
	$(PYTHON) -m venv .venv-tools
	.venv-tools/bin/python -m pip --disable-pip-version-check install -q --require-hashes -r requirements-tools.lock
	@touch $@

DEPENDENCIES = pyproject.toml constraints.txt $(if $(LOCKED),requirements-dev.lock)

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "handful needs Python 3.11 or later; try: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv

.venv/ready: $(DEPENDENCIES) | .venv/bin/python
	@echo "setting up .venv (once)"
	$(PIP) -e .
	@touch $@

.venv/ready-test: $(DEPENDENCIES) | .venv/bin/python
	@echo "installing what the tests need (once)"
	$(if $(LOCKED),$(INSTALL) --require-hashes --no-deps -r requirements-dev.lock)
	$(PIP) torch
	$(PIP) $(if $(LOCKED),--no-deps --no-build-isolation) -e '.[transformers,web,docs,dev]'
	@touch .venv/ready $@

clean:
	rm -rf .venv .venv-label-studio .venv-lowest .venv-tools build dist site src/*.egg-info
