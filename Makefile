# Two commands are enough: `make demo` and `make test`. Both make .venv first, from the pinned lock file.
# After the first install nothing needs a network.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/ready
PYTEST := timeout 900 $(BIN)/python -m pytest

.PHONY: setup check format test test-servers bench fuzz up down demo docs dist lock clean

setup: $(READY)  ## make .venv and install what the lock file names (1 to 3 minutes, once)

$(READY): requirements/dev.lock pyproject.toml
	@echo "setup: making $(VENV) and installing pinned packages (1 to 3 minutes, once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; set PYTHON=")'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

check: $(READY)  ## formatting, lint, types and the fast tests (about 1 minute)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -m "not engines and not servers and not browser" tests

test: $(READY)  ## all tests: those on embedded engines in two halves, which mostly wait, and beside them the others
	@echo "test: tests on embedded engines in two halves, and beside them all others; each reports when it is done"
	@logs=$$(mktemp -d); trap 'kill $$ends $$others 2>/dev/null; rm -rf $$logs' EXIT; trap 'exit 130' INT TERM; \
	nice -n 5 $(PYTEST) -m "not engines and not servers" tests >$$logs/others 2>&1 & others=$$!; \
	$(PYTEST) -m engines tests/end_to_end >$$logs/ends 2>&1 & ends=$$!; \
	$(PYTEST) -m engines --ignore tests/end_to_end tests; code=$$?; \
	wait $$ends || code=$$?; cat $$logs/ends; \
	wait $$others || code=$$?; cat $$logs/others; exit $$code

test-servers: $(READY)  ## the same tests on Apache Kafka (Java 17, Maven; or KAFKA_BOOTSTRAP) and redis-server (or REDIS_URL)
	@HERMES_TEST_ENGINES=servers $(PYTEST) -m "engines or servers" tests

demo: $(READY)  ## the main job: raw model output through all stages on embedded engines (20 s)
	@echo "demo: raw model output through topics, four stages, registry and ClickHouse tables; about 20 s"
	@$(BIN)/hermes-streams demo

up:  ## everything on real servers with docker compose (SCALE="--scale segment=3"); without docker: hermes-streams up
	@$(PYTHON) deploy/environment.py
	docker compose up --detach --build --wait $(SCALE)

down:  ## stop what `make up` started; the data stays
	docker compose down

bench: $(READY)  ## every benchmark, each prints one table
	@set -e; for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file; done

fuzz: $(READY)  ## the laws with 50 times as many examples
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest tests/properties

docs: $(READY)  ## make the generated pages and pictures anew, and the site in site/
	@set -e; for file in docs/json_schemas.py docs/*.py; do $(BIN)/python $$file; done
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet

dist: $(READY)  ## wheel, source archive and bill of materials in dist/
	@rm -rf build dist && mkdir -p dist
	@$(BIN)/python -c "import setuptools.build_meta as b; b.build_sdist('dist')" >/dev/null
	@$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .
	@$(BIN)/python deploy/sbom.py embedded >dist/sbom.json

format: $(READY)  ## formatting and what lint can mend
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock:  ## pin all packages anew from pyproject.toml (needs uv)
	@set -e; for name in runtime embedded dev; do \
	  case $$name in runtime) extras= ;; embedded) extras="--extra embedded" ;; dev) extras="--extra embedded --extra dev" ;; esac; \
	  uv pip compile pyproject.toml $$extras --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-emit-find-links --no-header --quiet --output-file requirements/$$name.lock; \
	done

clean:  ## remove what make made
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .ruff_cache .hypothesis .hermes-streams
