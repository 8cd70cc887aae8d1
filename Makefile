# `make help` lists what there is. Everything lives in .venv and build/, both inside this checkout.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
JOBS ?= 2
MODELS ?= 200
ROWS ?= 10000
FIRST ?= 1
TARGETS ?=
MUTATIONS ?= 1000000
KILLS ?= 1000
BLOBS ?= 10000000
THREADED ?= tests/trust/test_processes.py tests/trust/test_identical.py tests/grow tests/sketch tests/tree

.DEFAULT_GOAL := help
.PHONY: help setup demo test cover oracle bench planted mutants lint format sanitize sanitize-threads fuzz docs wheel prove-exports prove-files prove-kills prove-memory prove-identical sketch-proofs noise intervals spark clean

help: ## say what each target does
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## create .venv and install thetatree with everything its tests need

$(STAMP): pyproject.toml CMakeLists.txt $(wildcard kernel/*.cpp kernel/*.h)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "scikit-build-core>=0.10" "nanobind>=2.2" "cmake>=3.20" ninja
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[test]"
	touch $(STAMP)

demo: setup ## a tree from the sketches of three tables made on the spot, judged beside the exact one
	$(BIN)/python -m thetatree.demo

test: setup ## run the tests (the oracle at 2,000 problems included)
	$(BIN)/python -m pytest -n $(JOBS)

cover: setup ## run the tests with line coverage of src
	$(BIN)/python -m pytest -n $(JOBS) --cov --cov-report=term-missing:skip-covered --cov-fail-under=95

oracle: setup ## the kernel against the naive oracle, at length
	THETATREE_ORACLE_PROBLEMS=20000 $(BIN)/python -m pytest -n $(JOBS) tests/grow

prove-exports: setup ## every export in its engine or compiler against predict, 200 models of 10,000 rows
	$(BIN)/python tests/export/prove_exports.py $(MODELS) $(ROWS) --first $(FIRST) $(TARGETS)

prove-files: setup ## a million mutated model files, and a thousand saves killed half-way
	$(BIN)/python -W ignore tests/export/mutate_model_files.py $(MUTATIONS)
	$(BIN)/python tests/export/kill_saves.py $(KILLS)
	THETATREE_ROUND_TRIPS=1000 $(BIN)/python -m pytest -q tests/export/test_model_file.py -k round_trip
sketch-proofs: setup ## counts from sketches against the rows, and damaged sketches under the sanitizers, at length
	THETATREE_RESOLUTION_NODES=5500 THETATREE_CONSERVED_TREES=100 THETATREE_SANITIZED_FUZZ=1000000 \
		$(BIN)/python -m pytest -n $(JOBS) tests/grow/test_resolution.py tests/grow/test_conservation.py tests/sketch
spark: setup ## every engine that runs here on the same rows, many more than in the tests
	THETATREE_ENGINE_ROWS=300000 $(BIN)/python -m pytest -q tests/engine/test_agree.py

bench: setup ## measure side by side with peers (idle machine, please)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[bench]"
	$(BIN)/python benchmarks/rows.py

noise: setup ## how often pure noise is split at the 5% level (two minutes)
	$(BIN)/python benchmarks/significance.py

intervals: setup ## how often the intervals of 2,000 sketch sets hold (six minutes)
	$(BIN)/python benchmarks/intervals.py

planted: setup ## bugs planted in the kernel by hand, one at a time: which test catches each (20 minutes)
	$(BIN)/python tests/planted_bugs.py

mutants: setup ## mutants of criteria, search, pruning and counting, made by rule: how many the tests kill (about half an hour)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[mutants]"
	$(BIN)/python tests/mutants --fresh

lint: setup ## ruff and mypy
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[lint]"
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: setup ## let ruff put the code in order
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[lint]"
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

sanitize: setup ## the tests on a kernel built with the address and undefined-behaviour sanitizers
	sh tests/sanitize.sh $(BIN)/python memory

sanitize-threads: setup ## what works on threads, on a kernel built with the thread sanitizer
	sh tests/sanitize.sh $(BIN)/python thread $(THREADED)

fuzz: ## ten million damaged sketches through the parser, under the sanitizers
	mkdir -p build/fuzz
	$(CXX) -std=c++20 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Ikernel \
		tests/sketch/fuzz_wire.cpp kernel/theta_wire.cpp kernel/theta_text.cpp -o build/fuzz/wire
	for seed in 1 2 3 4 5; do build/fuzz/wire $$(($(BLOBS) / 5)) $$seed || exit 1; done

prove-kills: setup ## a thousand kills each of build, merge, predict and save
	$(BIN)/python tests/trust/prove_kills.py $(KILLS)

prove-memory: setup ## every call under rising ceilings of memory
	$(BIN)/python tests/trust/ceilings.py 16

prove-identical: setup ## the same bytes over threads, row orders, partitions, Pythons and instruction sets
	$(BIN)/python tests/trust/prove_identical.py

docs: setup ## build the site into site/, strictly, and run every code block of it
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --editable ".[docs]"
	$(BIN)/mkdocs build --strict
	$(BIN)/python -m pytest -q tests/test_documentation.py tests/test_reference.py

wheel: ## build wheel and sdist into dist/, and run the demo from the wheel in empty environments
	sh tests/wheel.sh

clean: ## remove what was built
	rm -rf build dist site $(VENV) demo-output .coverage .coverage.* .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
