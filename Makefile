# Everything runs in .venv, which the first target that needs it creates.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INTERPRETER := $(VENV)/.python-$(notdir $(PYTHON))

export PIP_DISABLE_PIP_VERSION_CHECK := 1

#: What `make demo` runs; `poinsot gallery` lists them.
EXAMPLE := spatial-slider-crank

#: How many random mechanisms `make attack` tries against each law, and which ones.
N := 300
SEED := $(shell date +%s)

.DEFAULT_GOAL := help
.PHONY: help demo test attack check lint types layers spelling docs bench wheel clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-6s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.stamp-runtime  ## simulate the demonstration; numbers and pictures go to demo/
	@$(BIN)/python -m poinsot.engine.build
	@mkdir -p demo
	@$(BIN)/poinsot run $(EXAMPLE) --output demo/$(EXAMPLE).nc --plot demo/$(EXAMPLE).png
	@$(BIN)/poinsot view demo/$(EXAMPLE).nc --html demo/$(EXAMPLE).html
	@echo "open demo/$(EXAMPLE).html in a browser: it plays the motion"

test: $(VENV)/.stamp-dev  ## run the tests and every Python block of the documentation
	@$(BIN)/pytest -n 2

attack: $(VENV)/.stamp-dev  ## try thousands of random mechanisms against every promise; an hour
	@$(BIN)/pytest tests/attack -n 2 --attack $(N) --attack-seed $(SEED)

check: docs types lint layers spelling  ## lint, formatting, types, layering, spelling, documentation; -j2: two at once

lint: $(VENV)/.stamp-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: $(VENV)/.stamp-dev
	$(BIN)/mypy

layers: $(VENV)/.stamp-dev
	$(BIN)/lint-imports

spelling: $(VENV)/.stamp-dev
	$(BIN)/codespell

docs: $(VENV)/.stamp-dev  ## build the documentation in docs/_build/html
	@$(BIN)/python -m poinsot.engine.build
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html

bench: $(VENV)/.stamp-bench  ## measure the speed against Exudyn and MuJoCo; tables go to docs/
	@$(BIN)/python -m poinsot.engine.build
	@$(BIN)/python -m benchmarks --million

wheel: $(VENV)/.stamp-runtime  ## build a wheel in dist/, and try it in a bare environment
	@rm -rf dist
	@$(BIN)/python -m pip wheel -q --no-deps -w dist .
	@$(BIN)/python tests/bare_wheel.py dist/*.whl

clean:  ## remove everything that make made
	rm -rf $(VENV) demo dist docs/_build .hypothesis .import_linter_cache
	rm -rf .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One file names the interpreter of .venv: another PYTHON starts it afresh.
$(INTERPRETER):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "Poinsot needs Python 3.11 or newer, which '$(PYTHON)' is not: name one, as in 'make PYTHON=python3.12'." >&2; \
		exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv --clear $(VENV)
	@touch $@

# uv finds out in seconds what pip takes minutes for; where it does not work, pip does. Both ask the
# same index. The engine is built by what needs it, while types are checked; the tests build it, too.
define install
@echo "installing poinsot$(1)"
@$(BIN)/python -m pip install -qq --no-compile uv 2>/dev/null && \
	UV_DEFAULT_INDEX="$${PIP_INDEX_URL:-$$($(BIN)/python -m pip config get global.index-url 2>/dev/null)}" \
	$(BIN)/uv pip install -q --python $(BIN)/python -e '.$(1)' || { \
	echo "uv does not work here: installing with pip, which takes longer"; \
	$(BIN)/python -m pip install -qq --no-compile -e '.$(1)'; }
@touch $@
endef

$(VENV)/.stamp-runtime: pyproject.toml $(INTERPRETER)
	$(call install)

$(VENV)/.stamp-%: pyproject.toml $(INTERPRETER)
	$(call install,[$*])
