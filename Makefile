# Needs only make and a Python 3.10+ with venv and pip. Everything else goes into .venv.

# Override with `make PYTHON=…`; it is used once, to make .venv.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.10 python3.14 python3; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 10))' 2>/dev/null \
	&& echo $$p && break; done)

# Each module is compiled once, though the tests start thousands of interpreters.
unexport PYTHONDONTWRITEBYTECODE

# Nothing is written outside this directory and the temporary one.
export PIP_NO_CACHE_DIR := 1
export npm_config_cache := $(CURDIR)/.venv/npm

BIN := .venv/bin
# Tests wait for other processes about a sixth of the time: three at once keep two cores busy.
PYTEST := $(BIN)/python -m pytest -q -n 3 --dist worksteal
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# A module is compiled when it is imported. Most of those that are installed never are.
INSTALL := $(PIP) install --no-compile -c requirements.lock

.PHONY: help demo serve web test lint web-lint quick flakes soak system bench screenshots clean
.DEFAULT_GOAL := help

help:
	@echo "make demo    find one bug in nine requests and with one call, another with run, trace and why"
	@echo "make test    check and test everything (what CI runs)"
	@echo "make quick   test only the rules, the formats, and what runs in the user's process"
	@echo "make flakes  run tests a hundred times beside busy processes (for instance TESTS=tests/server/test_input.py)"
	@echo "make serve   run the server in the foreground, with its page"
	@echo "make web     build the page again if something under web/ has changed"
	@echo "make bench   measure how fast it is"
	@echo "make soak    hundreds of random interleavings, ten thousand sessions in a row (an hour)"
	@echo "make lint    only the checks: style, types, import directions"
	@echo "make screenshots   take the pictures of the page in docs/pictures again"
	@echo "make clean   remove .venv and every cache"

# -- what people run -------------------------------------------------------------------------------

demo: .venv/.runtime
	@$(BIN)/holdfast demo

serve: web
	@$(BIN)/holdfast serve

# The package's build makes the page, with a Node.js of its own where the system has none.
web: .venv/.runtime
	@$(BIN)/python web/page_build.py --check || { echo "building the page" && $(PIP) install --no-deps -e .; }
	@$(BIN)/python web/page_build.py --check || echo "note: the page could not be built:" \
	  "$$(cat src/holdfast/server/page/build_problem.txt). Everything else works."

bench: .venv/.dev
	@$(BIN)/python -m bench --plots docs/performance

# The checks run two at a time. If one fails, no test is run.
test: .venv/.dev system web
	@$(MAKE) --no-print-directory -j 2 lint web-lint .venv/.editor_client .venv/.mcp_suite
	@$(PYTEST) --durations 10

lint: .venv/.dev
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/mypy --no-error-summary
	@$(BIN)/lint-imports --no-cache --no-logo

# The page's types come from the server's own document; then its types, style and unit tests are checked.
web-lint: .venv/.dev web
	@$(BIN)/python docs/generate_api.py --document
	@for check in types check test; do $(BIN)/python web/page_build.py npm run --silent $$check || exit 1; done

screenshots: .venv/.dev system web
	@$(BIN)/python docs/take_screenshots.py

# Rules and formats, and what runs inside the user's process.
QUICK := $(addprefix tests/,bridge client core recording service store trust wire)
quick: .venv/.dev
	@$(PYTEST) -m "not slow" $(QUICK)

# Finds the tests that fail once in a while; tests/flakes.py says how.
TESTS ?= tests
TIMES ?= 100
BUSY ?= 8
flakes: .venv/.dev system
	@$(BIN)/python tests/flakes.py --times $(TIMES) --busy $(BUSY) $(TESTS)

# The long form of what `test` does briefly: every Python, the standard library's own tests,
# interleavings of clients, servers that are killed, and sessions that come and go. RUNS, KILLS and SESSIONS say how
# many: `make soak RUNS=50 KILLS=10 SESSIONS=500`.
RUNS ?= 300
KILLS ?= 60
SESSIONS ?= 10000
soak: .venv/.dev
	@HOLDFAST_EVERY_PYTHON=1 $(PYTEST) -m "not slow"
	@HOLDFAST_EVERY_MODULE=1 HOLDFAST_EVERY_PYTHON=1 $(PYTEST) tests/server/test_standard_library.py \
	  tests/probe/test_traced_library.py tests/probe/test_run_unchanged.py tests/probe/test_code_rewriter.py \
	  tests/probe/test_frame_traces.py tests/probe/test_run_recorder.py tests/core/test_run_diff.py
	@HOLDFAST_EVERYWHERE=1 $(BIN)/pytest -q tests/test_anywhere.py
	@HOLDFAST_EVERY_PYTHON=1 HOLDFAST_RUNS=$(RUNS) HOLDFAST_KILLS=$(KILLS) HOLDFAST_SESSIONS=$(SESSIONS) \
	  $(BIN)/pytest -q -s -m slow $(patsubst %,tests/server/test_%.py,attach bounds floods interleavings killed_server openapi)

clean:
	@rm -rf .venv web/node_modules src/holdfast/server/page/built .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis build dist
	@find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# -- what that needs -------------------------------------------------------------------------------

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "Holdfast needs Python 3.10 or newer, with venv and pip (on" \
	  "Debian: python3-venv). Name one with 'make PYTHON=/path/to/python'." >&2; exit 1; }
	@echo "making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv

.venv/.runtime: pyproject.toml requirements.lock | $(BIN)/python
	@echo "installing Holdfast into .venv"
	@$(INSTALL) -e '.[server]'
	@touch $@

.venv/.dev: pyproject.toml requirements.lock | $(BIN)/python
	@echo "installing Holdfast and what its tests need into .venv"
	@$(INSTALL) -e '.[dev]'
	@touch .venv/.runtime $@

# Microsoft's own client of debug adapters, which tests drive the door for editors with.
EDITOR_CLIENT := tests/server/dap/editor_client
.venv/.editor_client: $(EDITOR_CLIENT)/package-lock.json | $(BIN)/python
	@mkdir -p .venv/editor_client
	@cp $(EDITOR_CLIENT)/package.json $< $(EDITOR_CLIENT)/.npmrc .venv/editor_client/
	@if command -v npm >/dev/null; then cd .venv/editor_client && npm ci --no-progress --loglevel=error >/dev/null; \
	else echo "note: there is no npm here: tests with a foreign editor are skipped"; fi
	@touch $@

# The official conformance suite of the Model Context Protocol, and its inspector.
.venv/.mcp_suite: tests/server/mcp/conformance/package-lock.json .venv/.dev
	@$(BIN)/python tests/mcp_suite.py
	@touch $@

# Attaching to a running process by its pid needs gdb, a test Node, and the tests of the page a browser.
APT := DEBIAN_FRONTEND=noninteractive apt-get -qq
system:
	@missing="$$(command -v gdb >/dev/null || echo gdb) $$(command -v npm >/dev/null || echo nodejs npm) \
	  $$(command -v chromium >/dev/null || echo chromium fonts-dejavu-core)"; \
	[ -n "$$(echo $$missing)" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then as=env; elif [ -n "$$CI" ]; then as="sudo -n"; else as=false; fi; \
	{ $$as $(APT) update && $$as $(APT) install -y --no-install-recommends $$missing; } >/dev/null 2>&1 \
	|| echo "note: these are not here, and not to be had: $$missing"; \
	command -v gdb >/dev/null || echo "note: there is no gdb here: attaching by pid will not work"
