# Two commands need nothing but python3 (3.11 or newer), make and the package registry: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
DEMO := fixtures/demo fixtures/demo/state.json
SEED ?= $(shell $(PYTHON) -c 'import secrets; print(secrets.randbelow(2**32))')

export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1
# The tests start hundreds of processes: each would compile every module afresh.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test check lint types tests drift cases wheel parts site prose bench performance test-engines prove accept codes api keys pictures format lock clean

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

demo: $(VENV)/run.stamp  ## render a small pack, then print its context meter
	@echo '$$ promptc render $(DEMO)'
	@$(BIN)/promptc render $(DEMO)
	@echo '$$ promptc explain $(DEMO)'
	@$(BIN)/promptc explain $(DEMO)

test: $(VENV)/dev.stamp  ## run the tests
	$(PY) -m pytest -q -n auto --dist loadfile

# What is installed is installed one after the other. Then what works on one core stands side by side, and the tests have all cores.
check:  ## what CI runs, with a commit's share of the tests (PROMPTC_TESTS=ci: all)
	@$(MAKE) --no-print-directory $(VENV)/bench.stamp
	@$(MAKE) --no-print-directory $(VENV)/docs.stamp
	@$(MAKE) --no-print-directory $(VENV)/dev.stamp
	@$(MAKE) --no-print-directory -j2 --output-sync=target lint drift types cases wheel parts site
	@$(MAKE) --no-print-directory tests

lint: $(VENV)/dev.stamp  ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/dev.stamp  ## mypy --strict
	$(BIN)/mypy

tests: $(VENV)/dev.stamp
	$(PY) tools/run_untouched.py fixtures docs packs schemas starters -- $(PY) -m pytest -q -n auto --dist loadfile

drift: $(VENV)/dev.stamp  ## are the generated documents up to date?
	$(PY) tools/make_codes_doc.py --check
	$(PY) tools/make_pictures.py --check
	$(PY) -m tools.make_key_tables --check
	$(PY) -m tools.make_api_page --check

cases: $(VENV)/dev.stamp  ## promptc test, over the fixtures of this repository and the templates of `promptc init`
	$(BIN)/promptc test --ci --no-cache --no-skip fixtures starters

wheel: $(VENV)/dev.stamp  ## build the wheel and try it from / in a fresh environment
	$(PY) tools/try_wheel.py

parts: $(VENV)/bench.stamp  ## each part of make bench, at its smallest size
	$(PY) -m tools.try_benchmarks

site: $(VENV)/docs.stamp  ## build the documents as a site in build/site, without the network, and check every link
	NO_MKDOCS_2_WARNING=1 $(PY) -m mkdocs build --strict
	$(PY) tools/check_site.py build/site

prose: $(VENV)/docs.stamp  ## how hard guides, codes and messages are to read: Flesch's reading ease, and the longest sentence of each
	$(PY) tools/measure_prose.py docs/index.md docs/contract.md docs/tutorial.md docs/language.md docs/guides/*.md docs/reference/*.md docs/reference/keys/*.md \
		docs/explanation/*.md compiler/promptc/diag/codes.toml

bench: $(VENV)/bench.stamp  ## what is measured against whom, but the long parts; prints ratios
	$(PY) -m benchmarks

performance: $(VENV)/bench.stamp  ## the same, and write docs/performance.md from it
	$(PY) -m benchmarks --write

test-engines: $(VENV)/dev.stamp  ## the scripts of docs/guides/scale.md, each with its engine (minutes; Spark needs Java 17)
	$(PY) tools/try_engines.py

prove: $(VENV)/dev.stamp  ## the properties at full size, and mutated inputs (SEED=n repeats a run)
	@echo "seed $(SEED)"
	$(PY) -m pytest -q -s tests/property tests/attacks/test_mutants.py --prove --prove-seed=$(SEED) --hypothesis-seed=$(SEED)

accept: $(VENV)/dev.stamp  ## write all goldens from what the compiler makes now; read the diff before you commit it
	$(PY) tools/accept_goldens.py
	$(PY) -m pytest -q --accept tests/cli tests/contract/test_readme.py tests/contract/test_guides.py tests/contract/test_report_page.py

codes: $(VENV)/dev.stamp  ## write docs/reference/codes.md from the table of codes
	$(PY) tools/make_codes_doc.py

api: $(VENV)/dev.stamp  ## write the calls in docs/reference/python.md from signatures and docstrings
	$(PY) -m tools.make_api_page

keys: $(VENV)/dev.stamp  ## write the tables of docs/reference/keys from the schemas
	$(PY) -m tools.make_key_tables

pictures: $(VENV)/dev.stamp  ## draw the pictures of docs/explanation from what their pages render
	$(PY) tools/make_pictures.py

format: $(VENV)/dev.stamp  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

lock: $(VENV)/dev.stamp  ## resolve the dependencies afresh and write requirements/*.lock
	$(PY) tools/make_locks.py

clean:  ## remove what make made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .hypothesis

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "promptc needs Python 3.11 or newer; say PYTHON=python3.11 or the like")'
	$(PYTHON) -m venv $(VENV)

# A lock names everything, so pip need not resolve anything: a release of today cannot change what is installed. `pip check` tells of a lock
# that lacks something. The editable install needs no isolated build, since hatchling comes with each lock.
define install
	$(PY) -m pip install -q --require-hashes --no-deps -r $<
	$(PY) -m pip install -q --no-deps --no-build-isolation -e .
	@$(PY) -m pip check
	@touch $@
endef

$(VENV)/run.stamp: requirements/run.lock pyproject.toml | $(VENV)/pyvenv.cfg
	$(install)

$(VENV)/dev.stamp: requirements/dev.lock pyproject.toml | $(VENV)/pyvenv.cfg
	$(install)
	@touch $(VENV)/run.stamp

$(VENV)/bench.stamp: requirements/bench.lock pyproject.toml | $(VENV)/pyvenv.cfg
	$(install)
	@touch $(VENV)/run.stamp $(VENV)/dev.stamp

$(VENV)/docs.stamp: requirements/docs.lock pyproject.toml | $(VENV)/pyvenv.cfg
	$(install)
	@touch $(VENV)/run.stamp $(VENV)/dev.stamp
