# Two commands on a fresh machine: `make run` and `make test`. They need python3 (3.11 or newer), make and git.
PYTHON ?= python3
VENV := .venv
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 3 / 2) # of the tests, which mostly wait for programs
BIN := $(VENV)/bin
PAGE := $(shell find web -path web/node_modules -prune -o -type f -print)
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run web web-dev test fast check format bench bench-intent bench-peers bench-workspaces agents-table crash workspaces-crash chaos sim soak power autobahn mutants run-cluster chaos-cluster upgrade-cluster bench-cluster five-minutes lock audit sbom docs docs-site coding-picture pictures bench-page clean

run: $(VENV)/.page
	$(BIN)/moot serve

test: check

# The page, from its sources in web/; Node comes with the environment.
web: $(VENV)/.page

# The page again at every change of its sources: serve it in another terminal and reload.
web-dev: $(VENV)/.page
	$(BIN)/python web/make_page.py --watch

# While you work: the tests without files, sockets, subprocesses or generated examples, in less than half a minute.
fast: $(VENV)/.tested
	$(BIN)/pytest -n auto --dist loadfile -m "not slow and not hypothesis" tests/core tests/protocol tests/config tests/tidy

# What CI runs: formatting, lint, types, tests.
check: $(VENV)/.tested
	$(BIN)/ruff format --check src tests bench sim docs examples
	$(BIN)/ruff check src tests bench sim docs examples
	$(BIN)/mypy
	$(BIN)/pytest -n $(WORKERS) --dist loadfile

format: $(VENV)/.tested
	$(BIN)/ruff format src tests bench sim docs examples
	$(BIN)/ruff check --fix src tests bench sim docs examples

# Ratios against floors measured in the same run; table on the screen, JSON in bench/results.
bench: $(VENV)/.tested
	$(BIN)/python -m bench.run

# How well the rules understand what people say, against a word list; more files with FILES="a.jsonl b.jsonl".
bench-intent: $(VENV)/.tested
	$(BIN)/python -m bench.intent $(FILES)

# Other libraries and Moot side by side, each in an environment of its own; writes docs/peers.md.
bench-peers: $(VENV)/.tested
	$(BIN)/python -m bench.peers.run

# What every agent that is installed can do, tried with the real programs; writes docs/agents-table.md. AGENTS="claude codex".
agents-table: $(VENV)/.tested
	$(BIN)/python -m tests.agents.table.fill $(AGENTS)

# What trees cost beside plain git, as ratios; FILES=n files in the repository.
bench-workspaces: $(VENV)/.tested
	$(BIN)/python -m bench.workspaces $(FILES)

# kill -9 at every append and before every command of git of a plan with two conflicts, twice; EVERY=n tries every n-th.
workspaces-crash: $(VENV)/.tested
	$(BIN)/python -m tests.runtime.workspaces.crash_run $(EVERY)

# kill -9 at random moments, a hundred times.
crash: $(VENV)/.tested
	MOOT_CRASH_ROUNDS=100 $(BIN)/pytest tests/e2e/test_crash.py tests/e2e/test_plan_crash.py -s

# Plans with members that fail, people who do anything and processes that die: two thousand seeded runs.
chaos: $(VENV)/.tested
	MOOT_CHAOS_SEEDS=2000 $(BIN)/pytest -q tests/runtime/test_plan_chaos.py

# Ten thousand seeded runs of server, clients and members with a disk, a network and a clock that fail, and two thousand
# of several nodes on one log. SEED=n plays one of the first again, NODES=1 SEED=n one of the others.
sim: $(VENV)/.tested
	$(BIN)/python -m sim.run $(if $(NODES),--nodes) $(if $(SEED),--seed $(SEED)) $(if $(RUNS),--runs $(RUNS)) $(if $(FIRST),--first $(FIRST))
	$(if $(NODES)$(SEED),,$(BIN)/python -m sim.run --nodes $(if $(RUNS),--runs $(RUNS)) $(if $(FIRST),--first $(FIRST)))

# A server under load for ten minutes: memory, files and threads must not grow. SECONDS=n.
soak: $(VENV)/.tested
	SECONDS=$(or $(SECONDS),600) $(BIN)/python -m tests.soak.soak

# Power cuts on the recorded writes of a process, five hundred times; CUTS=n and SEED=n.
power: $(VENV)/.tested
	CUTS=$(or $(CUTS),500) SEED=$(or $(SEED),1) $(BIN)/python -m tests.power.cutting

# PostgreSQL, three servers behind one address and a worker on this machine: kill one and watch the others go on.
run-cluster: $(VENV)/.tested
	$(BIN)/python -m tests.postgres.run_cluster

# The same under seeded faults: servers and workers killed, stopped, cut off, PostgreSQL crashed. SECONDS=n and SEED=n.
chaos-cluster: $(VENV)/.tested
	SECONDS=$(or $(SECONDS),2000) SEED=$(or $(SEED),1) $(BIN)/python -m tests.postgres.chaos_cluster

# What PostgreSQL costs, as ratios to floors of the same run, and how appends grow with 1, 2 and 4 nodes.
bench-cluster: $(VENV)/.tested
	$(BIN)/python -m bench.cluster

# Three servers of an older revision become those of this one, one after the other, under load. FROM=revision.
upgrade-cluster: $(VENV)/.tested
	FROM=$(FROM) $(BIN)/python -m tests.postgres.upgrade_cluster

# The Autobahn test suite for WebSocket; skipped, with the reason, where it cannot be installed.
autobahn: $(VENV)/.tested
	$(BIN)/python -m tests.autobahn.run

# Faults made by hand in a copy of the code: each must be caught by the tests that it names.
mutants: $(VENV)/.tested
	$(BIN)/python -m tests.mutants.run

# The first five minutes in a clean virtual environment with an empty environment, each step timed.
five-minutes: $(VENV)/.tested
	$(BIN)/python -m tests.e2e.five_minutes

# The moving picture of the README, from a real run of the coding team: its order differs a little each time.
coding-picture: $(VENV)/.installed
	$(BIN)/python -m docs.draw_coding

# State diagrams, the pictures of the terminal, the schemas of the protocol, the reference, the types of the page: made from the code.
docs: $(VENV)/.installed
	$(BIN)/python docs/draw_machines.py
	$(BIN)/python docs/draw_demo.py
	$(BIN)/python docs/draw_protocol.py
	$(BIN)/python -m docs.draw_reference
	$(BIN)/python -m docs.draw_types
	$(BIN)/python -m docs.draw_telling

# A picture of every screen of the page in build/pictures, in both themes and languages, and those of docs/. Needs Chromium.
pictures: $(VENV)/.tested
	$(BIN)/python docs/draw_web.py

# How quick the page is in Chromium, and its bars. Needs Chromium.
bench-page: $(VENV)/.tested
	$(BIN)/python -m bench.page

# The pages of docs/ as a site with search, in build/site: one folder that any web server can serve.
docs-site: $(VENV)/site
	$(BIN)/python docs/stage_site.py
	$(VENV)/site/bin/zensical build --strict --config-file mkdocs.yml

$(VENV)/site: $(VENV)/.installed
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check --quiet install 'zensical>=0.0.73,<0.2'

# For every platform and Python, with the hashes of all files of a package; versions change only where they must.
lock: $(VENV)/tools
	$(VENV)/tools/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra test \
	  --no-header --no-annotate --output-file requirements.lock pyproject.toml
	$(VENV)/tools/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --extra page \
	  --constraint requirements.lock --no-header --no-annotate --output-file requirements-run.lock pyproject.toml

# Known vulnerabilities of every pinned package; a package that cannot be looked up is a failure, not a pass.
audit: $(VENV)/tools
	$(VENV)/tools/bin/pip-audit --strict --disable-pip --require-hashes --requirement requirements.lock

# Every package of the environment, with its version and licence, in the CycloneDX format.
sbom: $(VENV)/.tested $(VENV)/tools
	$(VENV)/tools/bin/cyclonedx-py environment --output-format JSON --output-file sbom.json $(BIN)/python

# An environment of their own: what these tools need must not change what the tests run with.
$(VENV)/tools:
	$(PYTHON) -m venv $@
	$@/bin/python -m pip --disable-pip-version-check --quiet install 'cyclonedx-bom>=7,<8' 'pip-audit>=2.9,<3' 'uv>=0.5'

$(VENV)/.installed: pyproject.toml requirements-run.lock
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Moot needs Python 3.11 or newer; try make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --require-hashes --requirement requirements-run.lock
	$(PIP) install --no-deps --editable .
	$(PIP) check
	touch $@

$(VENV)/.page: $(VENV)/.installed $(PAGE)
	$(BIN)/python web/make_page.py
	touch $@

$(VENV)/.tested: $(VENV)/.page requirements.lock
	$(PIP) install --require-hashes --requirement requirements.lock
	$(PIP) check
	touch $@

clean:
	rm -rf $(VENV) build dist src/moot/web web/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
