# The commands of the project. Each creates what it needs in .venv (once: a stamp remembers), so that a fresh clone with
# nothing but Python 3.10 or newer is enough. Without a working gcc, clang or cc the compiler of the ziglang wheel is
# installed; if even that fails, the Python back end serves, and everything still works.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest

.PHONY: help demo test test-slow sanitize hunt lint docs wheel bench clean

help:
	@echo "make demo       set up everything and run the demonstration"
	@echo "make test       set up everything, check the style and the types, run the tests (of many cases a sample)"
	@echo "make test-slow  the long tests and all cases as well"
	@echo "make sanitize   tests with generated code under the compiler's checks of memory and undefined behaviour"
	@echo "make hunt       random programs for MINUTES=10, in every way to run them, against CPython; findings become tests"
	@echo "make docs       the documentation as a site in build/site; any warning is an error"
	@echo "make wheel      a wheel in dist, installed and tried in an empty environment"
	@echo "make bench      compare with NumPy, Numba, Pythran, JAX and DaCe (hours)"
	@echo "make clean      remove the environment and everything generated"

demo: $(VENV)/.installed
	$(BIN)/python -m weft.demo

test: $(VENV)/.installed-test lint
	$(PYTEST) -n $(JOBS) -m "not slow and not bench"

test-slow: $(VENV)/.installed-test lint
	$(PYTEST) -n $(JOBS) -m "not bench" --timeout 1800

# A corpus of tests with kernels and core compiled by -fsanitize: a quarter of an hour, or less with every n-th test alone;
# what the time does not suffice for is left out.
SANITIZE_EVERY ?= 1
SANITIZE_SECONDS ?= 3600
sanitize: $(VENV)/.installed-test
	$(BIN)/python tools/sanitize.py --jobs $(JOBS) --every $(SANITIZE_EVERY) --seconds $(SANITIZE_SECONDS)

# Goes on from a new seed at each start; SEED=n repeats a run.
MINUTES ?= 10
SEED ?=
hunt: $(VENV)/.installed-test
	$(BIN)/python -m tests.hunt --minutes $(MINUTES) --workers $(JOBS) $(if $(SEED),--seed $(SEED))

lint: $(VENV)/.installed-test
	$(BIN)/ruff check src tests tools benchmarks examples
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# One wheel for all platforms, tried in an environment that has nothing else.
wheel: $(BIN)/python
	rm -rf dist build/wheel
	$(BIN)/python -m pip wheel --quiet --no-deps -w dist .
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check dist/weft-*.whl
	cd build && wheel/bin/python -c "import numpy, weft; f = weft.jit(lambda a: 2 * a + 1); assert f(numpy.arange(3)).tolist() == [1, 3, 5]"
	build/wheel/bin/weft --version

bench: $(VENV)/.installed-bench
	$(BIN)/weft bench --json bench.json --picture bench.png

# A half-made environment must not pass for a whole one at the next run.
.DELETE_ON_ERROR:

# A virtual environment by whichever of the usual tools is there; Debian ships a python3 without ensurepip.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
	    || { echo "weft needs Python 3.10 or newer; say make PYTHON=python3.x"; exit 1; }
	@$(PYTHON) -m venv $(VENV) \
	    || { $(PYTHON) -m venv --clear --without-pip $(VENV) && $(PYTHON) -m pip --python $(BIN)/python install pip; } \
	    || $(PYTHON) -m virtualenv $(VENV) || uv venv --clear --seed --python $(PYTHON) $(VENV) \
	    || { echo "cannot create a virtual environment: install python3-venv, virtualenv or uv"; exit 1; }

# $(1): the extras to install. The zig extra comes on its own, since it is large and weft works without it. weft itself is
# asked for a compiler: a gcc without the C library's files is found, and does not work.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
FIND_COMPILER := import sys; from weft.runtime.toolchain import find; sys.exit(find() is None)
# What every process shares is compiled now, not inside somebody's first call: the native core, and the bytecode of weft,
# which Python itself does not write where PYTHONDONTWRITEBYTECODE is set.
PREBUILD := from weft.runtime import dispatch; from weft.plain import runtime; dispatch.load_core(); runtime.load()
define install
	$(PIP) -e '.$(1)'
	@$(BIN)/python -c '$(FIND_COMPILER)' || { \
	    echo "no C compiler works here: installing the one in the ziglang wheel"; \
	    $(PIP) -e '.[zig]' || echo "that failed: weft goes on with its Python back end"; }
	@$(BIN)/python -c '$(PREBUILD)' || true
	@$(BIN)/python -m compileall -q src/weft || true
	@touch $@
endef

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(call install,)

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	$(call install,[test])

$(VENV)/.installed-docs: pyproject.toml | $(BIN)/python
	$(call install,[docs])

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/python
	$(call install,[bench])

clean:
	rm -rf $(VENV) build dist src/*.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
