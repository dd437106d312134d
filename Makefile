# The front door: whatever CI runs has a name here. Each target makes .venv first, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPILED := $(VENV)/.compiled
PIP := $(BIN)/python -m pip --disable-pip-version-check
SEEDS ?= 10000

.DEFAULT_GOAL := quick
.PHONY: quick demo test properties coverage lint format types contracts sim fuzz kill docs examples bench ci lock clean help

quick: lint $(COMPILED) ## fast tests and lint (the default)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow and not kill and not alone" --ignore=tests/examples --ignore=tests/docs

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 14

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Phaseline needs Python 3.11 or later; try: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@echo "making $(VENV) (once)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(PIP) install --quiet -r requirements.lock
	@$(PIP) install --quiet --no-deps --no-build-isolation --editable .
	@touch $@

# An editable install is never compiled as an ordinary one is; each process would compile what it imports.
$(COMPILED): $(READY) $(shell find src -name '*.py')
	@$(BIN)/python -m compileall -q src
	@touch $@

demo: $(COMPILED) ## a three-tier application, 500 nodes in bulk, a crash survived
	@$(BIN)/phaseline demo

test: $(COMPILED) ## the whole default suite (pages and examples have targets of their own)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not kill and not alone" --ignore=tests/examples --ignore=tests/docs
	@$(BIN)/python -m pytest -q -m alone --ignore=tests/examples --ignore=tests/docs

properties: $(COMPILED) ## what must hold for any input, over many more inputs than the default suite draws
	@HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "hypothesis and not kill and not alone"

coverage: $(COMPILED) ## branch coverage: 100 % of the pure rooms, 90 % of all
	@HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q --ignore=tests/examples --cov --cov-report=
	@$(BIN)/coverage report --fail-under=100 --include="src/phaseline/model/*,src/phaseline/engine/*,src/phaseline/plan/*,src/phaseline/dsl/*,src/phaseline/records/*"
	@$(BIN)/coverage report --fail-under=90

lint: $(READY) ## style, spelling, docstrings
	@$(BIN)/ruff check --quiet .
	@$(BIN)/ruff format --quiet --check .
	@$(BIN)/interrogate --quiet --config pyproject.toml src/phaseline
	@$(BIN)/codespell

format: $(READY) ## rewrite the sources in the one style
	@$(BIN)/ruff check --quiet --fix-only .
	@$(BIN)/ruff format --quiet .

types: $(READY) ## mypy --strict
	@$(BIN)/mypy src/phaseline $(wildcard tests/typing)

contracts: $(READY) ## which room may import which
	@$(BIN)/lint-imports

sim: $(COMPILED) ## simulated runs with faults: SEED=42 for one, else SEEDS of them
ifdef SEED
	@$(BIN)/python -m phaseline.testing.simulation --seed $(SEED)
else
	@$(BIN)/python -m phaseline.testing.simulation --seeds $(SEEDS)
endif

FUZZ_SECONDS ?= 60
fuzz: $(COMPILED) ## blueprints of garbage, led by coverage, for FUZZ_SECONDS: never a traceback
	@$(BIN)/python -m tests.fuzz $(FUZZ_SECONDS)

kill: $(COMPILED) ## real processes, really killed
	@$(BIN)/python -m pytest -q -m kill

docs: $(COMPILED) ## what the documentation says, checked
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal tests/docs

examples: $(COMPILED) ## every example against its expected output
	@$(BIN)/python -m pytest -q tests/examples

bench: $(COMPILED) ## our figures, the floors and the peers, side by side; ONLY="large small" for some parts
	@$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY))

ci: ## everything, as CI does it
	@.ci/run

lock: ## new versions of everything, pinned
	@rm -rf $(VENV)/lock
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip --disable-pip-version-check install --quiet hatchling editables ".[dev]"
	@{ head -n 1 requirements.lock; $(VENV)/lock/bin/python -m pip freeze --exclude phaseline; } > requirements.lock.new
	@mv requirements.lock.new requirements.lock
	@rm -rf $(VENV)/lock
	@echo "requirements.lock is new; run make ci before you commit it"

clean: ## away with everything that can be made again
	@rm -rf $(VENV) dist build htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find src tests examples bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
