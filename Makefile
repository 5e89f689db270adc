PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := $(VENV)/core.stamp
FULL := $(VENV)/full.stamp
PYTEST_ARGS ?= -n 2 --dist loadgroup

.PHONY: help demo test lint types bench clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    a short tour of the library"
	@echo "make test    all tests but the slow ones (PYTEST_ARGS='-m slow' for those)"
	@echo "make lint    ruff: rules and format"
	@echo "make types   mypy, strict"
	@echo "make bench   benchmarks (BENCH_ARGS are passed on)"
	@echo "make clean   remove $(VENV), builds and caches"
	@echo "The first run installs into $(VENV); PYTHON=... picks the Python (3.11 or newer)."

demo: $(CORE)
	$(BIN)/python examples/demo.py

test: $(FULL)
	$(BIN)/python scripts/ensure_java.py
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(FULL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(FULL)
	$(BIN)/mypy --strict boolfilter

bench: $(FULL)
	$(BIN)/python -m benchmarks $(BENCH_ARGS)

clean:
	rm -rf $(VENV) build dist *.egg-info .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(CORE): pyproject.toml setup.py
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "boolfilter needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

$(FULL): $(CORE)
	$(BIN)/python -m pip install --quiet --editable '.[spark,dev,plots]'
	touch $@
