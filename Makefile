# make serve   start Hourhand here (SQLite, http://127.0.0.1:8420)
# make test    everything that must hold, on a fresh machine too
# make check   the static checks alone        make fmt     format and fix
# make ui      build the web UI when it is stale (serve and test do so too)
# make bench   every benchmark                make chaos   the long runs
# make docs    the documentation as a site in site/        make reference   write what of it is read off the code
# make screenshots   the pictures of the README and the docs, from the demo
# make clean   remove what the targets above made

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.DEFAULT_GOAL := help
.PHONY: help serve ui test check fmt bench chaos docs docs-serve reference screenshots clean

help:
	@sed -n 's/^# //p' Makefile

serve: $(VENV)/.installed
	@# An editable install does not build again by itself. Without a UI the server is worth starting; a test is not.
	@HOURHAND_UI=$${HOURHAND_UI:-auto} $(BIN)/python hatch_build.py
	@$(BIN)/hourhand serve

ui: $(VENV)/.installed
	@$(BIN)/python hatch_build.py

test: $(VENV)/.installed-dev
	@scripts/system-packages
	@HOURHAND_UI=always $(BIN)/python hatch_build.py
	@$(BIN)/python scripts/run-tests

check: $(VENV)/.installed-dev
	@$(BIN)/python scripts/run-tests checks

fmt: $(VENV)/.installed-dev
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

bench: $(VENV)/.installed-dev
	@scripts/system-packages
	@for file in bench/*.py; do [ -e "$$file" ] || continue; echo "== $$file"; $(BIN)/python "$$file" || exit 1; done

chaos: $(VENV)/.installed-dev
	@scripts/system-packages
	@HOURHAND_UI=always $(BIN)/python hatch_build.py
	@HOURHAND_EXAMPLES=20 $(BIN)/python scripts/run-tests --chaos

docs: $(VENV)/.installed-dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "The site is in site/: open site/index.html by way of a server, such as: python3 -m http.server -d site"

docs-serve: $(VENV)/.installed-dev
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs serve

reference: $(VENV)/.installed-dev
	@$(BIN)/python scripts/generate-reference
	@$(BIN)/python scripts/generate-client
	@PYTHONPATH=tests $(BIN)/python tests/architecture/lifecycle_diagram.py
	@PYTHONPATH=tests $(BIN)/python tests/architecture/source_schemas.py

screenshots: $(VENV)/.installed-dev
	@scripts/system-packages
	@HOURHAND_UI=always $(BIN)/python hatch_build.py
	@$(BIN)/python scripts/screenshots

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis .coverage dist build
	rm -rf src/hourhand/webui/dist src/hourhand/webui/.building-* ui/node_modules

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = "%d.%d" % sys.version_info[:2]; sys.exit(0 if sys.version_info >= (3, 11) else "Hourhand needs Python 3.11 or newer, and $(PYTHON) is Python " + v + ": run make again with PYTHON=python3.11 (or newer)")'
	@$(PYTHON) -m venv $(VENV) || { echo "The virtual environment could not be made; on Debian and Ubuntu: apt-get install python3-venv" >&2; rm -rf $(VENV); exit 1; }

$(VENV)/.installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Hourhand into $(VENV) ..."
	@$(PIP) install --quiet -e . -c constraints.txt
	@touch $@

$(VENV)/.installed-dev: pyproject.toml constraints.txt scripts/generator-constraints.txt | $(BIN)/python
	@echo "Installing Hourhand and its development tools into $(VENV) ..."
	@$(PIP) install --quiet --upgrade "pip>=25.1" # the first that reads dependency groups
	@$(PIP) install --quiet -e . --group dev -c constraints.txt
	@# A generator of clients, which must accept our document; it wants other versions of what we use ourselves.
	@$(PYTHON) -m venv $(VENV)/generator
	@$(VENV)/generator/bin/python -m pip --disable-pip-version-check install --quiet openapi-python-client -c scripts/generator-constraints.txt
	@touch $@ $(VENV)/.installed
