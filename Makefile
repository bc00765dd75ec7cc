# The whole set-up, from a bare checkout: Python ≥ 3.11 and a Rust toolchain are all it takes.
#   make demo     build, simulate the RAID 0 system of the split-merge paper, print its answer beside theory's
#   make check    style, types, the unit tests of Rust and the quick tests of Python: what to run before a commit
#   make test     everything: style, types, Rust, Python, the site and its snippets, examples, studies at a small size
#   make studies  the studies whole; `make accuracy` then renews the page of measured systems
#   make measure  measures this machine with fio, fits a model, and says how far off it is on loads that were held out
#   make bench    the figures with their spread over RUNS runs, as a table and in target/bench.json; GROUPS="kernel disks" only some;
#                 COMPARE=REV also builds another revision in target/compare, measures both in turn and prints ratios
#   make history  puts the figures of target/bench.json into benches/history.jsonl, one line a release
#   make peers    two workloads in headrace, Cimba, SimPy and Ciw, which are installed into target/peers: speed, and agreement of means
#   make fuzz     random systems from document SEED on, COUNT of them, for as long as that takes; keeps those that go wrong in target/fuzz;
#                 OF=documents, traces or kills: damaged text of both, and sweeps that are killed
#   make truth    headroom, `solve` and `capacity` against simulation, on COUNT random systems each
#   make coverage the coverage of confidence intervals, added to the same file; 15 minutes
#   make wheel    an abi3 wheel in dist/, which installs without Rust
#   make oldest   tests with the oldest versions of other packages that are allowed; `make newest` with the newest
#   make audit    known vulnerabilities, licences and sources of dependencies; says what could not be checked
#   make pages    renews what pages of the documentation show of commands
#   make lock     renews packaging/dev.lock: versions and hashes of the Python packages that all of these install
#   make docs     the site in target/site, offline; the Rust reference in target/doc

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SOURCES := $(shell find crates catalog -name '*.rs' -o -name '*.toml' -o -name '*.yaml') Cargo.toml Cargo.lock pyproject.toml

.PHONY: demo check test parts types rust-docs style mypy rust-unit rust-test python-quick python-test python-test-with-pages studies measure bench history peers fuzz truth \
  coverage wheel man accuracy pages oldest newest lock audit docs site clean

# Does a step of `check` or `test`, and prints its name and the seconds it took; what it says itself only if it fails.
STEP := @packaging/step
# On a machine that builds once, what a second build would save is not worth keeping.
ifdef CI
export CARGO_INCREMENTAL := 0
endif

demo: $(VENV)/built
	$(BIN)/headrace run examples/raid0-split-merge.yaml

# A private environment: nothing of the machine's own Python is touched. pip installs uv, and uv the rest in a fraction of the
# time; it trusts the certificates of the machine, as pip does. Both refuse files whose hashes are not in the lock file; source
# packages are left out, since building one would run tools that have no hash.
$(VENV)/tools: packaging/dev.lock
	$(STEP) "Python environment" sh -c '$(PYTHON) -m venv $(VENV) && sed -n "/^uv==/,/[^\\]\$$/p" $< >$(VENV)/uv.txt && \
	  $(BIN)/python -m pip install --quiet --no-compile --require-hashes --only-binary :all: --requirement $(VENV)/uv.txt && \
	  $(BIN)/uv --system-certs pip install --quiet --require-hashes --no-build --python $(BIN)/python --requirement $<'
	@touch $@

# The extension as users have it.
$(VENV)/built: $(VENV)/tools $(SOURCES)
	$(STEP) "extension, optimised" sh -c '. $(BIN)/activate && maturin develop --release --quiet'
	@rm -f $(VENV)/tested && touch $@

# The extension by the profile of the Rust tests, which share all but its last crate with it as long as they are built for the whole
# workspace: without this crate, others would have other features, and be compiled twice.
$(VENV)/tested: $(VENV)/tools $(SOURCES)
	$(STEP) "extension" sh -c '. $(BIN)/activate && maturin develop --quiet'
	@touch $@

# Tests start hundreds of interpreters, which shall compile each module once, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

# What tests import: where there is one for users, that one.
EXTENSION := $(if $(wildcard $(VENV)/built),$(VENV)/built,$(VENV)/tested)

# The steps before the last share the processors: where one has work for one of them, another takes the rest.
check:
	@$(MAKE) --no-print-directory -j2 style mypy rust-unit python-quick

# The extension is built first. The Python tests then begin as soon as their pages are there, beside all the rest.
test: parts
	@$(MAKE) --no-print-directory -j2 $(EXTENSION) mypy
	@$(MAKE) --no-print-directory -j3 python-test-with-pages rust-test rust-docs style

python-test-with-pages: site
	@HEADRACE_PAGES=$(abspath target/docs) $(MAKE) --no-print-directory python-test

# Real programs that tests start beside headrace. Where Debian's packages can be installed, they are; elsewhere the tests
# that need them are skipped, and say so.
PARTS := chromium fio openssl
MISSING = $(foreach part,$(PARTS),$(if $(shell command -v $(part)),,$(part)))

parts:
	@if [ -n "$(strip $(MISSING))" ] && command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
	  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(MISSING) >/dev/null; \
	fi

style: $(VENV)/tools
	$(STEP) "rustfmt" rustfmt --check $(shell find crates benches -name '*.rs')
	$(STEP) "ruff" sh -c '$(BIN)/ruff format --check && $(BIN)/ruff check'
	$(STEP) "clippy" cargo clippy --quiet --workspace --all-targets -- -D warnings

mypy: $(VENV)/tools
	$(STEP) "mypy" $(BIN)/mypy

# Property tests draw the same cases in every run of the suite. Another PROPTEST_RNG_SEED draws others, PROPTEST_CASES more.
export PROPTEST_RNG_SEED ?= 1

rust-unit:
	$(STEP) "Rust unit tests" cargo test --quiet --workspace --lib

rust-test:
	$(STEP) "Rust tests, benchmarks at their smallest" cargo test --quiet --workspace

# Tests that take seconds.
QUICK := $(addprefix tests/test_,contract.py imports.py python.py requests.py solve.py starting.py tables.py timeline.py)

python-quick: $(EXTENSION)
	$(STEP) "quick Python tests" $(BIN)/pytest -n logical --dist worksteal $(QUICK)

python-test: $(EXTENSION)
	@$(BIN)/pytest -n logical --dist worksteal

studies: $(VENV)/built
	HEADRACE_DATA=$${HEADRACE_DATA:-../shared/data} $(BIN)/headrace study run all --record

measure: $(VENV)/built
	$(BIN)/headrace study run this-machine

RUN_OFTEN = $(if $(RUNS),--runs $(RUNS))

bench: $(VENV)/built
	$(BIN)/python benches/bench.py $(GROUPS) $(RUN_OFTEN) $(if $(COMPARE),--compare $(COMPARE))

history: $(VENV)/tools
	$(BIN)/python benches/history.py target/bench.json benches/history.jsonl

peers: $(VENV)/built
	cargo build --release --quiet -p headrace-bench
	$(BIN)/python benches/peers/compare.py $${CARGO_TARGET_DIR:-target}/release/headrace-bench $(RUN_OFTEN)

ASKED = $(if $(OF),--of $(OF)) $(if $(SEED),--seed $(SEED)) $(if $(COUNT),--count $(COUNT))

fuzz: $(VENV)/built
	PYTHONPATH=tests $(BIN)/python tests/fuzz.py $(ASKED)

truth: $(VENV)/built
	PYTHONPATH=tests $(BIN)/python tests/truth.py headroom $(ASKED)
	PYTHONPATH=tests $(BIN)/python tests/truth.py solve $(ASKED)
	PYTHONPATH=tests $(BIN)/python tests/truth.py capacity $(ASKED)

coverage:
	cargo run --release --quiet -p headrace-bench -- replicated coverage

wheel: $(VENV)/tools
	. $(BIN)/activate && maturin build --release --quiet --out dist

# The site, offline, in target/site; beside it the Rust reference in target/doc.
docs: rust-docs site

site: $(EXTENSION)
	@rm -rf target/docs && mkdir -p target && cp -r docs target/docs && rm -r target/docs/generate && mv target/docs/mkdocs.yml target
	$(STEP) "pages made from the code" env PYTHONPATH=docs $(BIN)/python -m generate pages target/docs
	$(STEP) "site" $(BIN)/zensical build --strict --config-file target/mkdocs.yml

# The Python types of scenarios and results, and the table of their fields, from the schemas.
types: $(EXTENSION)
	PYTHONPATH=docs $(BIN)/python -m generate types > $(VENV)/document.py
	mv $(VENV)/document.py python/headrace/document.py
	PYTHONPATH=docs $(BIN)/python -m generate result-types > $(VENV)/result_types.py
	mv $(VENV)/result_types.py python/headrace/result_types.py
	cd docs && $(abspath $(BIN))/python -m generate results > $(abspath $(VENV))/results.md
	mv $(VENV)/results.md docs/results.md

# The tables of measured and of published systems, from what studies recorded of their last run at full size.
accuracy: $(EXTENSION)
	cd docs && $(abspath $(BIN))/python -m generate accuracy > $(abspath $(VENV))/accuracy.md
	mv $(VENV)/accuracy.md docs/background/accuracy.md

# What pages of the documentation show of commands and Python, from what these print; says which blocks are to be written by hand.
pages: $(EXTENSION)
	PYTHONPATH=docs:tests $(BIN)/python tests/renew.py README.md CONTRIBUTING.md $(shell find docs -name '*.md')

# The manual page, from the command line; the wheel installs it.
man: $(EXTENSION)
	PYTHONPATH=docs $(BIN)/python -m generate man > $(VENV)/headrace.1
	mv $(VENV)/headrace.1 packaging/wheel/data/share/man/man1/headrace.1

# The Python tests that need the most of other packages, with the oldest and with the newest versions that pyproject.toml allows.
oldest newest: wheel
	$(BIN)/python -m venv --clear target/$@
	$(BIN)/uv --system-certs pip compile --quiet --python-version 3.11 --resolution $(if $(filter oldest,$@),lowest-direct,highest) \
	  --extra search pyproject.toml --output-file target/$@.txt
	$(BIN)/uv --system-certs pip install --quiet --python target/$@/bin/python -r target/$@.txt pytest hypothesis
	$(BIN)/uv --system-certs pip install --quiet --python target/$@/bin/python --no-deps --reinstall dist/*.whl
	target/$@/bin/python -m pytest $(WITH_VERSIONS)

WITH_VERSIONS := $(addprefix tests/test_,python.py contract.py report.py stores.py requests.py timeline.py decisions.py traces.py)

# The newest versions that pyproject.toml allows, for every Python and system, with the hashes of their files.
lock: $(VENV)/tools
	$(BIN)/uv --system-certs pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --group dev pyproject.toml \
	  --custom-compile-command "make lock" --output-file packaging/dev.lock

audit: $(VENV)/tools
	@$(BIN)/python packaging/audit.py

rust-docs:
	$(STEP) "Rust reference" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --exclude headrace-py --exclude headrace-bench --no-deps

clean:
	rm -rf $(VENV) target dist
