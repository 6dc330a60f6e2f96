# Every target works from a bare clone and makes what it needs. Name an interpreter with PYTHON=/path/to/python3.11.
.DEFAULT_GOAL := help
.PHONY: help setup setup-latest demo test check clean
.NOTPARALLEL:

export TF_CPP_MIN_LOG_LEVEL ?= 3
unexport PYTHONPATH PYTHONDONTWRITEBYTECODE

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## .venv: TensorFlow 2.15.1 and the development tools
	@python=$$(scripts/find-python 3.11 3.10 3.9) && "$$python" scripts/setup_env.py .venv

setup-latest: ## .venv-latest: TensorFlow 2.21 with tf_keras, for the migrated side
	@python=$$(scripts/find-python 3.11 3.12 3.13 3.10) && "$$python" scripts/setup_env.py .venv-latest

demo: setup ## migrate a real program, train it before and after, compare: demo-out/report.html
	@.venv/bin/python demo/run.py

test: setup ## the tests; with .venv-latest there, fixtures are also compared on TensorFlow 2.21
	@echo "==> tests: about 70 minutes on 2 cores, as each fixture is trained before and after"
	@echo "    without that, some minutes: make test PYTEST_ARGS=\"-m 'not parity'\""
	@.venv/bin/pytest -n auto --maxprocesses 4 --dist loadgroup $(PYTEST_ARGS)

check: setup ## formatter, linter and types
	@echo "==> ruff format, ruff check, mypy --strict (about 20 s the first time)"
	@.venv/bin/ruff format --check --quiet . || { echo "run: .venv/bin/ruff format" >&2; exit 1; }
	@.venv/bin/ruff check --quiet .
	@.venv/bin/mypy --strict

clean: ## remove everything that make made
	rm -rf .venv .venv.log .venv.lock .venv-latest .venv-latest.log .venv-latest.lock demo-out build dist *.egg-info
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find migrator rules tests fixtures scripts demo -name __pycache__ -prune -exec rm -rf {} +
