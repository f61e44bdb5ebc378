# Two commands on a fresh machine: `make run` and `make test`. They need python3 (3.11 or newer), make and git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test fast check format bench bench-intent crash chaos sim power autobahn mutants five-minutes lock audit sbom docs clean

run: $(VENV)/.installed
	$(BIN)/moot serve

test: check

# While you work: the tests without files, sockets, subprocesses or generated examples, in less than half a minute.
fast: $(VENV)/.tested
	$(BIN)/pytest -n auto --dist loadfile -m "not slow and not hypothesis" tests/core tests/protocol tests/config tests/tidy

# What CI runs: formatting, lint, types, tests.
check: $(VENV)/.tested
	$(BIN)/ruff format --check src tests bench sim docs examples
	$(BIN)/ruff check src tests bench sim docs examples
	$(BIN)/mypy
	$(BIN)/pytest -n auto --dist loadfile

format: $(VENV)/.tested
	$(BIN)/ruff format src tests bench sim docs examples
	$(BIN)/ruff check --fix src tests bench sim docs examples

# Ratios against floors measured in the same run; table on the screen, JSON in bench/results.
bench: $(VENV)/.tested
	$(BIN)/python -m bench.run

# How well the rules understand what people say, against a word list; more files with FILES="a.jsonl b.jsonl".
bench-intent: $(VENV)/.tested
	$(BIN)/python -m bench.intent $(FILES)

# kill -9 at random moments, a hundred times.
crash: $(VENV)/.tested
	MOOT_CRASH_ROUNDS=100 $(BIN)/pytest tests/e2e/test_crash.py tests/e2e/test_plan_crash.py -s

# Plans with members that fail, people who do anything and processes that die: two thousand seeded runs.
chaos: $(VENV)/.tested
	MOOT_CHAOS_SEEDS=2000 $(BIN)/pytest -q tests/runtime/test_plan_chaos.py

# Ten thousand seeded runs of server, clients and members with a disk, a network and a clock that fail; SEED=n plays one.
sim: $(VENV)/.tested
	$(BIN)/python -m sim.run $(if $(SEED),--seed $(SEED)) $(if $(RUNS),--runs $(RUNS)) $(if $(FIRST),--first $(FIRST))

# Power cuts on the recorded writes of a process, five hundred times; CUTS=n and SEED=n.
power: $(VENV)/.tested
	CUTS=$(or $(CUTS),500) SEED=$(or $(SEED),1) $(BIN)/python -m tests.power.cutting

# The Autobahn test suite for WebSocket; skipped, with the reason, where it cannot be installed.
autobahn: $(VENV)/.tested
	$(BIN)/python -m tests.autobahn.run

# Faults made by hand in a copy of the code: each must be caught by the tests that it names.
mutants: $(VENV)/.tested
	$(BIN)/python -m tests.mutants.run

# The first five minutes in a clean virtual environment with an empty environment, each step timed.
five-minutes: $(VENV)/.tested
	$(BIN)/python -m tests.e2e.five_minutes

# State diagrams, the picture of the demo, the schemas of the protocol, the reference, the types of the page: made from the code.
docs: $(VENV)/.installed
	$(BIN)/python docs/draw_machines.py
	$(BIN)/python docs/draw_demo.py
	$(BIN)/python docs/draw_protocol.py
	$(BIN)/python -m docs.draw_reference
	$(BIN)/python -m docs.draw_types

lock: $(VENV)/.tested
	$(PIP) install 'pip-tools>=7.4'
	$(BIN)/pip-compile --quiet --extra test --strip-extras --no-header --no-annotate \
	  --no-emit-index-url --no-emit-trusted-host --no-emit-find-links --output-file requirements.lock pyproject.toml

# Known vulnerabilities of every pinned package; a package that cannot be looked up is a failure, not a pass.
audit: $(VENV)/tools
	$(VENV)/tools/bin/pip-audit --strict --disable-pip --no-deps --requirement requirements.lock

# Every package of the environment, with its version and licence, in the CycloneDX format.
sbom: $(VENV)/.tested $(VENV)/tools
	$(VENV)/tools/bin/cyclonedx-py environment --output-format JSON --output-file sbom.json $(BIN)/python

# An environment of their own: what these tools need must not change what the tests run with.
$(VENV)/tools: $(VENV)/.installed
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check --quiet install 'cyclonedx-bom>=7,<8' 'pip-audit>=2.9,<3'

$(VENV)/.installed: pyproject.toml requirements.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Moot needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --constraint requirements.lock --editable .
	touch $@

$(VENV)/.tested: $(VENV)/.installed
	$(PIP) install --requirement requirements.lock
	touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
