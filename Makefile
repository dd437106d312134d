# The front door: whatever CI runs has a name here. Each target makes .venv first, once.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
COMPILED := $(VENV)/.compiled
UV := .venv-uv/bin/uv
# uv does not read pip's settings: whoever has set an index of packages for pip gets the same one here.
INDEX = index=$${UV_DEFAULT_INDEX:-$${PIP_INDEX_URL:-$$($(PYTHON) -m pip config get global.index-url 2>/dev/null)}}
INSTALL = $(INDEX); $(UV) pip install --quiet --no-deps --compile-bytecode $${index:+--default-index "$$index"} --python
NEWVENV = $(UV) venv --quiet --allow-existing --python $(PYTHON)
PLAIN := $(VENV)-plain
PLAINLY := $(PLAIN)/.ready
SITE := $(VENV)-site
SITEREADY := $(SITE)/.ready
RELEASE := $(VENV)-release
RELEASEREADY := $(RELEASE)/.ready
# mypy compares the hash of each file before it trusts what it knows, so all clones of a user share this folder.
export MYPY_CACHE_DIR ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/phaseline/mypy
SEEDS ?= 10000
COMPOSITIONS ?= $(SEEDS)
FIRINGS ?= 1000

.DEFAULT_GOAL := quick
.PHONY: quick demo test portable properties coverage covered lint format types contracts sim fuzz expressions kill postgres ha docs site browser pictures apicheck examples bench release ci lock clean help

quick: lint $(COMPILED) ## fast tests and lint (the default)
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not slow and not kill and not ha and not alone and not postgres" --ignore=tests/examples --ignore=tests/docs --ignore=tests/website

help: ## this list
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  \1\t/' | expand -t 14

# pip needs minutes for an environment on a slow machine, uv seconds (ADR 0041); pip brings uv, into a folder of its own.
$(UV): requirements-setup.lock
	@$(PYTHON) -m pip --disable-pip-version-check install --quiet --no-deps --root-user-action=ignore --upgrade --target .venv-uv -r requirements-setup.lock
	@touch $@

$(READY): requirements.lock pyproject.toml | $(UV)
	@$(PYTHON) -c 'import sys; sys.exit("Phaseline needs Python 3.11 or later; try: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@echo "making $(VENV) (once)"
	@test -x $(BIN)/python || $(NEWVENV) $(VENV)
	@$(INSTALL) $(BIN)/python --require-hashes -r requirements.lock
	@$(INSTALL) $(BIN)/python --no-build-isolation --editable .
	@touch $@

# An editable install is never compiled as an ordinary one is; each process would compile what it imports.
$(COMPILED): $(READY) $(shell find src -name '*.py')
	@$(BIN)/python -m compileall -q "$(CURDIR)/src"
	@touch $@

# An ordinary install, as users have it: run-time packages only, nothing editable. Demonstration and pages are played in it.
$(PLAINLY): requirements-run.lock pyproject.toml hatch_build.py $(shell find src examples docs -type f -not -path '*/__pycache__/*' -not -name '*.pyc') | $(UV)
	@echo "installing Phaseline and its $$(grep -c == requirements-run.lock) run-time packages into $(PLAIN); nothing is changed outside of it"
	@$(PYTHON) -c 'import sys; sys.exit("Phaseline needs Python 3.11 or later; try: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@test -x $(PLAIN)/bin/python -a -x $(PLAIN)/bin/pip || { $(INDEX); $(NEWVENV) --seed $${index:+--default-index "$$index"} $(PLAIN); } # pip as in a user's environment
	@$(INSTALL) $(PLAIN)/bin/python --require-hashes -r requirements-run.lock
	@$(INSTALL) $(PLAIN)/bin/python --reinstall .
	@touch $@

demo: $(PLAINLY) ## a three-tier application, 500 nodes in bulk, a crash survived, a failure mended; leaves a store to look at
	@$(PLAIN)/bin/phaseline demo

test: $(COMPILED) ## the whole default suite (pages and examples have targets of their own); COVER=1 also notes which lines it reaches
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not kill and not ha and not alone and not postgres" --ignore=tests/examples --ignore=tests/docs --ignore=tests/website $(if $(COVER),--cov --cov-report=)
	@$(BIN)/python -m pytest -q -m "alone and not postgres" --ignore=tests/examples --ignore=tests/docs --ignore=tests/website

portable: $(COMPILED) ## what another Python could break: make VENV=.venv-3.13 PYTHON=python3.13 portable
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "not kill and not alone" tests/catalog tests/compat tests/run tests/cli tests/processes
	@$(BIN)/python -m pytest -q tests/examples
	@cd $(VENV) && bin/phaseline demo >demo.log 2>&1 || { cat demo.log; exit 1; } # shown only if a claim did not hold

properties: $(COMPILED) ## what must hold for any input, over many more inputs than the default suite draws
	@HYPOTHESIS_PROFILE=ci $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "hypothesis and not kill and not alone and not postgres"

PURE := $(foreach room,lang model engine plan dsl records packages,src/phaseline/$(room)/*)
empty :=
comma := ,
# Whatever threads reach in the pure rooms in one order only is reached by a test of its room, too: 100 in every run.
coverage: ## branch coverage of the default suite: 100 % of the pure rooms, 90 % of all
	@$(MAKE) --no-print-directory test COVER=1
	@$(MAKE) --no-print-directory postgres COVER=1
	@$(MAKE) --no-print-directory covered

covered: $(COMPILED) ## the same for the suite that `make test COVER=1` has run
	@$(BIN)/python -m pytest -q tests/docs/test_docstring_examples.py --cov --cov-append --cov-report=
	@$(BIN)/coverage report --precision=2 --fail-under=100 --include="$(subst $(empty) $(empty),$(comma),$(PURE))"
	@$(BIN)/coverage report --fail-under=90 --skip-covered | tail -n 3

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

sim: $(COMPILED) ## simulated runs with faults: SEED=42 for one, else SEEDS of them, COMPOSITIONS of deployments that make others, FIRINGS of schedules
ifdef SEED
	@$(BIN)/python -m phaseline.testing.simulation --seed $(SEED)
else
	@$(BIN)/python -m phaseline.testing.simulation --seeds $(SEEDS)
	@$(BIN)/python -m phaseline.testing.simulation --compositions --seeds $(COMPOSITIONS)
	@$(BIN)/python -m phaseline.testing.simulation --schedules --seeds $(FIRINGS)
endif

COUNT ?= 100000
expressions: $(COMPILED) ## COUNT random expressions against the reference implementation
	@TZ=UTC $(BIN)/python -m tests.records.drawn $(COUNT)

FUZZ_SECONDS ?= 60
fuzz: $(COMPILED) ## blueprints of garbage, led by coverage, for FUZZ_SECONDS: never a traceback
	@$(BIN)/python -m tests.fuzz $(FUZZ_SECONDS)

kill: $(COMPILED) ## real processes, really killed
	@$(BIN)/python -m pytest -q -m kill

postgres: $(COMPILED) ## every store's promises, on a real PostgreSQL server; COVER=1 as for test
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal -m "postgres and not kill" tests/store tests/simulation tests/use_cases/test_lists_of_many_deployments.py $(if $(COVER),--cov --cov-append --cov-report=)

KILLS ?= 1000
PAUSES ?= 500
PAUSE_S ?= 20
CUTS ?= 1000
ha: $(COMPILED) ## engines on one store in PostgreSQL: KILLS owners killed, PAUSES stopped for PAUSE_S seconds, CUTS connections cut
	@HA_KILLS=$(KILLS) HA_PAUSES=$(PAUSES) HA_PAUSE_S=$(PAUSE_S) TEST_CUTS=$(CUTS) $(BIN)/python -m pytest -q -m ha tests/store tests/ha

docs: $(COMPILED) $(PLAINLY) ## what the documentation says, checked; commands are typed in an ordinary install
	@$(BIN)/python -m pytest -q -n 2 --dist worksteal --programs $(PLAIN)/bin tests/docs

$(SITEREADY): requirements-site.lock | $(UV)
	@test -x $(SITE)/bin/python || $(NEWVENV) $(SITE)
	@$(INSTALL) $(SITE)/bin/python --require-hashes -r requirements-site.lock
	@touch $@

site: $(COMPILED) $(SITEREADY) ## the documentation as a site in site/, built by two programs without a warning, then read by tests
	@$(SITE)/bin/python -m doctest tools/website/docstrings.py
	@$(SITE)/bin/python -m tools.website
	@$(BIN)/python -m pytest -q -m "not browser" tests/website

site/index.html: $(SITEREADY) mkdocs.yml $(shell find README.md CHANGELOG.md docs examples tools/website -type f -not -path '*/__pycache__/*')
	@$(SITE)/bin/python -m tools.website

CHROMIUM := $(or $(PHASELINE_CHROMIUM),/usr/bin/chromium)
BROWSERREADY := $(SITE)/browser/.ready
$(BROWSERREADY): $(SITEREADY) tests/website/browser/package-lock.json
	@command -v npm >/dev/null || { echo "make browser needs Node 20 or later with npm"; exit 1; }
	@mkdir -p $(@D) && cp tests/website/browser/package.json tests/website/browser/package-lock.json $(@D)
	@npm ci --silent --ignore-scripts --no-audit --no-fund --prefix $(@D)
	@touch $@

$(CHROMIUM):
	@echo "make browser needs Chromium, which is not at $(CHROMIUM)"
	@test $(CHROMIUM) = /usr/bin/chromium && test "$$(id -u)" = 0 && command -v apt-get >/dev/null \
		|| { echo "install it, such as: sudo apt-get install chromium; or name one you have: make browser PHASELINE_CHROMIUM=/path/to/chrome"; exit 1; }
	@echo "installing Debian's package"
	@apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null

browser: export PHASELINE_CHROMIUM := $(CHROMIUM)
browser: $(COMPILED) site/index.html $(BROWSERREADY) | $(CHROMIUM) ## the site in a real browser: contrast, names, width, search by keyboard
	@$(BIN)/python -m pytest -q -m browser tests/website

pictures: $(COMPILED) ## docs/demo: the demonstration recorded, and the pictures made of it and of blueprints
	@$(BIN)/python -m tools.pictures

apicheck: $(SITEREADY) ## breaking changes of the public Python names since the last release's tag
	@$(SITE)/bin/python -m tools.api_changes

examples: $(COMPILED) $(PLAINLY) ## every example against its expected output, in an ordinary install
	@$(BIN)/python -m pytest -q --programs $(PLAIN)/bin tests/examples

bench: $(COMPILED) ## our figures, the floors and the peers, side by side; ONLY="large small" for some parts
	@$(BIN)/python -m bench $(if $(ONLY),--only $(ONLY))

$(RELEASEREADY): requirements-release.lock | $(UV)
	@test -x $(RELEASE)/bin/python || $(NEWVENV) $(RELEASE)
	@$(INSTALL) $(RELEASE)/bin/python --require-hashes -r requirements-release.lock
	@touch $@

release: $(READY) $(PLAINLY) $(RELEASEREADY) ## wheel, sources, bill of materials and checksums of a release in dist/
	@$(BIN)/python -m tools.release $(RELEASE)/bin/cyclonedx-py $(PLAIN)/bin/python

ci: ## everything, as CI does it
	@.ci/run

COMPILE = $(VENV)/lock/bin/pip-compile --quiet --upgrade --generate-hashes --allow-unsafe --strip-extras --no-header --no-annotate --no-emit-index-url --no-emit-find-links
lock: ## new versions of everything, pinned with the hashes of their files
	@rm -rf $(VENV)/lock
	@$(PYTHON) -m venv $(VENV)/lock
	@$(VENV)/lock/bin/python -m pip --disable-pip-version-check install --quiet pip-tools
	@printf 'hatchling\neditables\n' > $(VENV)/lock/build.in
	@$(COMPILE) --extra dev -o $(VENV)/lock/requirements.lock pyproject.toml $(VENV)/lock/build.in
	@grep -v -- --hash= $(VENV)/lock/requirements.lock | cut -d ' ' -f 1 > $(VENV)/lock/pinned.txt
	@$(COMPILE) -c $(VENV)/lock/pinned.txt -o $(VENV)/lock/requirements-run.lock pyproject.toml
	@for extra in site release setup; do \
		$(VENV)/lock/bin/python -c 'import sys, tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"][sys.argv[1]], sep="\n")' $$extra > $(VENV)/lock/$$extra.in \
		&& $(COMPILE) -c $(VENV)/lock/pinned.txt -o $(VENV)/lock/requirements-$$extra.lock $(VENV)/lock/$$extra.in || exit 1; done
	@for file in requirements.lock requirements-run.lock requirements-site.lock requirements-release.lock requirements-setup.lock; do { head -n 1 $$file; cat $(VENV)/lock/$$file; } > $$file.new && mv $$file.new $$file || exit 1; done
	@rm -rf $(VENV)/lock
	@echo "the five requirements files are new; run make ci before you commit them"

clean: ## away with everything that can be made again
	@rm -rf $(VENV) $(VENV)-* phaseline-demo dist build site .cache htmlcov .coverage .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	@find src tests examples bench -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true
