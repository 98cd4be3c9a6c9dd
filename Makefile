# make prints this help. make check is exactly what CI runs.
GO       ?= go
export CGO_ENABLED = 0
# One set of flags for all: what is compiled for the binary is compiled for the tests.
export GOFLAGS = -buildvcs=false -trimpath
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT   := $(shell git rev-parse HEAD 2>/dev/null)
DATE     := $(shell TZ=UTC git log -1 --format=%cd --date=format-local:%Y-%m-%dT%H:%M:%SZ 2>/dev/null)
LDFLAGS  := -s -w -X snag/internal/cli.Version=$(VERSION) -X snag/internal/cli.Commit=$(COMMIT) -X snag/internal/cli.Date=$(DATE)
LINT     := bin/lint
FUZZTIME ?= 10s

.PHONY: help setup build demo check check-fresh fmt-check lint lint-build generate generate-check ui ui-check docs docs-check dashboards test soak flakes bench bench-probes bench-streams bench-syscalls bench-files bench-record bench-load bench-fleet bench-fleet-scale test-kubernetes study-files fuzz attack lab lab-remedies vm-reboot vm-remedies vm-unit lab-vm score score-short score-drawn setup-drawn score-healthy calibrate clean

help: ## this help
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-16s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/snag, the one static binary that is shipped, and beside it bin/snag-lab, which is not
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/snag ./cmd/snag-lab

setup: ## install what the tests, the lab and the generators need (Debian packages, and servers that it has not, into ~/.cache; says which)
	tools/setup.sh

demo: ## set up, make a real incident (a reconnect storm on nginx-rtmp), find it
	tools/setup.sh demo
	$(MAKE) --no-print-directory build
	bin/snag-lab demo

check: ## set up and run all that CI runs (docs/check.md)
	tools/check.sh $(if $(AFTER_SETUP),--after-setup)

check-fresh: ## make check from a clean clone with empty caches, without a network after the setup (root; WARM_MODULES=1 keeps Go's modules)
	tools/check-fresh.sh

fmt-check:
	@out=$$(gofmt -l $$(git ls-files '*.go')); test -z "$$out" || { echo "run gofmt -w on:"; echo "$$out"; exit 1; }
	@clang-format --dry-run -Werror $$(git ls-files '*.bpf.c' 'probes/bpf/*.h')

$(LINT): tools/lint/go.mod tools/lint/go.sum $(wildcard tools/lint/*.go tools/lint/*.yml)
	cd tools/lint && $(GO) build -o ../../$(LINT) .

lint-build: $(LINT)

lint: $(LINT) ## go vet's rules and others, the layers' import rules among them (tools/lint)
	$(GO) vet -vettool=$(abspath $(LINT)) ./...
	$(GO) vet -tags attack -vettool=$(abspath $(LINT)) ./...
	$(GO) vet -tags robust -vettool=$(abspath $(LINT)) ./...
	$(GO) vet -tags kubernetes -vettool=$(abspath $(LINT)) ./fleet/discovery

generate: ## BPF objects and their Go from the C
	$(GO) generate ./probes/...

generate-check: generate
	git diff --exit-code -- probes

# What of npm the page is built with is pinned by ui/package-lock.json.
ui: ## the page's types from the schemas, its bundle (report/page/bundle) from ui/
	@cmp -s ui/package-lock.json ui/node_modules/.installed-lock.json || { echo "ui/node_modules is missing or older than ui/package-lock.json: make setup fetches it"; exit 1; }
	cd ui && npm run --silent types && npm run --silent check && npm run --silent build

ui-check: ui
	cd ui && npm test --silent
	git diff --exit-code -- ui/src/schema.ts report/page/bundle

docs: build ## docs/suspects and docs/knobs from the catalogues
	bin/snag suspects --write docs/suspects
	bin/snag tune knobs --write docs/knobs

# A test of tools/dashboards fails where the files are not what it writes.
dashboards: ## packaging/grafana and the tables of docs/grafana.md from tools/dashboards
	$(GO) run ./tools/dashboards

docs-check: docs
	git diff --exit-code -- docs

test: ## all tests, or those of PKG=./probes/...; as root, so that nothing is skipped
	tools/test.sh $(PKG)

flakes: ## docs/flakes.md from the failed runs in ~/.cache/snag/flakes
	$(GO) run ./tools/testsum -table docs/flakes.md

bench: build ## what snag find costs nginx and others, side by side in one run: docs/bench.md (root, about 9 min; RECORD=1: snag record)
	tools/bench.sh

bench-probes: ## the benchmarks of the probes, of the recording, of the verdict and of the page
	$(GO) test -run '^$$' -bench . -benchmem -p 1 ./probes/... ./recording ./scene ./verdict ./report/page | grep -E '^(Benchmark|ok|FAIL)'

STREAMS ?= 1,10,100,300
KBPS ?= 200
bench-streams: build ## snag watch beside ffprobe and video-quality-tools on streams of one nginx-rtmp (root, about 7 min; STREAMS=1,100: so many; KBPS=2500: of 720p; BEFORE=FILE: an older snag beside it)
	$(GO) run ./tools/benchstreams -snag bin/snag -streams '$(STREAMS)' -kbps '$(KBPS)' -before '$(BEFORE)'

DURATION ?= 1h
soak: build ## snag record on a busy host for DURATION: its memory may not grow, the ring may have no gap (root; for releases)
	$(GO) run ./tools/soak -snag bin/snag -for $(DURATION)

bench-syscalls: ## snag syscalls beside strace, perf trace and bpftrace, which it installs (root, about 3 min)
	tools/setup.sh bench-syscalls
	$(MAKE) --no-print-directory build
	$(GO) run ./tools/benchsyscalls -snag bin/snag

bench-record: ## snag record beside below, atop, sysstat, netdata, node_exporter, perf and tshark: what each costs, and what each knows of ten incidents (root, about 45 min; PART=cost, incidents or tables, ROUNDS=2)
	tools/setup.sh bench-record
	$(MAKE) --no-print-directory build
	$(GO) build -o bin/bench-record ./tools/benchrecord
	unshare --net bin/bench-record -part '$(or $(PART),all)' -rounds '$(or $(ROUNDS),2)'

bench-load: ## snag load beside sockperf, wrk2, wrk, fortio, ghz, iperf3 and redis-benchmark, and what it finds of causes that are known (root, about 35 min; ROUNDS=3, ONLY='ping-pong', TABLES=1: those of the last run, WRK2_SOURCE=folder of wrk2's source)
	tools/setup.sh bench-load
	$(MAKE) --no-print-directory build
	$(GO) build -o bin/bench-load ./tools/benchload
	unshare --net bin/bench-load -rounds '$(or $(ROUNDS),3)' -only '$(ONLY)' $(if $(TABLES),-tables)

HOSTS ?= 10,100,300,1000
bench-fleet-scale: build ## snag find --fleet on a real Prometheus with simulated hosts (about 2 min, 2.5 MB of memory for each host; HOSTS=10,3000, THIN=1: only what find reads, BEFORE=FILE: an older snag beside it, CAPTURE=1: what hosts send is recorded again, root)
	$(if $(CAPTURE),$(GO) run ./tools/benchfleet -capture tools/benchfleet/testdata/recorder.snappy)
	$(GO) run ./tools/benchfleet -snag bin/snag -hosts '$(HOSTS)' -before '$(BEFORE)' $(if $(THIN),-thin -rounds 1)

# DIR= keeps what was said, by the commit that said it.
bench-fleet: ## twelve hosts in network namespaces, Thanos, ten incidents that are noticed at another host than their cause's: what snag find --fleet names (root, about 30 min, and 5 for building Thanos once; SEED=2, ONLY=packet-loss)
	tools/setup.sh fleet
	$(MAKE) --no-print-directory build
	bin/snag-lab fleet score --seed $(or $(SEED),2) --dir $(or $(DIR),bin/fleet-$(shell git rev-parse --short HEAD 2>/dev/null || echo dev)) $(if $(ONLY),--only $(ONLY))

test-kubernetes: ## discovery on a real API server of Kubernetes with etcd, on loopback (about 10 s, and 8 min for building it once)
	tools/setup.sh kubernetes
	KUBE_APISERVER="$${XDG_CACHE_HOME:-$$HOME/.cache}/snag/kubernetes/kube-apiserver" $(GO) test -count=1 -tags kubernetes ./fleet/discovery -run TestKubernetesServer

SIZE ?= 1
bench-files: ## snag read beside grep, gzip, strace-parser, inferno, tshark, GCViewer and others, on files that it makes (root, about 15 min; SIZE=0.1: a tenth)
	tools/setup.sh bench-files
	$(MAKE) --no-print-directory build
	$(GO) run ./tools/benchfiles -snag bin/snag -size $(SIZE)

# DIR= is the tree of files, which stays where it is.
study-files: ## snag read beside tshark, GCViewer and others, on a tree of captures, logs and profiles that others made: make study-files DIR=~/captures
	@test -n "$(DIR)" || { echo "name the tree of files: make study-files DIR=~/captures"; exit 2; }
	$(MAKE) --no-print-directory build
	$(GO) run ./tools/filestudy -snag bin/snag $(DIR)

fuzz: ## every fuzz target for FUZZTIME
	tools/fuzz.sh $(FUZZTIME)

ATTACK ?= 5m
attack: ## what a stranger's recording may try, with a table of attempts and failures (about 30 min; ATTACK=1m: each fuzzer so long)
	tools/attack.sh $(ATTACK)

# SEED= draws the sample again that an earlier run printed. First tries of earlier runs stay.
SAMPLE ?= 12
SAMPLE_SEED := $(if $(filter-out file undefined,$(origin SEED)),$(SEED),$(shell date +%s))
score-short: build ## one incident of each family live and a sample of all others, as CI runs it (about 11 s a run, root; SEED=, SAMPLE=)
	mkdir -p bin/score-short && find bin/score-short -type f ! -name '*.try*' -delete
	bin/snag-lab score --short --sample $(SAMPLE) --seed $(SAMPLE_SEED) --dir bin/score-short/$(SAMPLE_SEED) --for 8s --retry 1

# Not by VERSION: the score rewrites its page, and would not find its folder again.
SCORE ?= bin/score-$(shell git rev-parse --short HEAD 2>/dev/null || echo dev)
FOR ?= 8s
score: build ## the score: every incident at three levels, pairs, two baselines; writes docs/score.md (root; BUDGET=25m, FOR=6s, SCORE=folder)
	bin/snag-lab score --dir $(SCORE) --for $(FOR) --markdown docs/score.md --json $(SCORE)/score.json $(if $(BUDGET),--budget $(BUDGET))

# Recordings of draws are kept outside of the tree, by the commit that made them: what is
# there is not made again, and a rule that changed judges them again (JUDGE=1).
SEED   ?= 2
N      ?= 30
DRAWN  ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/snag/drawn/$(shell git rev-parse --short HEAD 2>/dev/null || echo dev)
DRAWNARGS = --dir $(DRAWN) --seed $(SEED) --draws $(N) $(if $(FAMILIES),--families $(FAMILIES)) $(if $(PART),--part $(PART)) $(if $(BUDGET),--budget $(BUDGET)) \
	$(if $(JUDGE),--judge-only) $(if $(BASELINES),--baselines) $(if $(REMEDIES),--remedies) $(if $(FINAL),--final --markdown docs/score.md --json $(DRAWN)/score.json)
score-drawn: setup-drawn build ## incidents of random sizes: N draws from SEED on (FAMILIES=a,b PART=1/4 BUDGET=2h DRAWN=folder JUDGE=1 BASELINES=1 REMEDIES=1 FINAL=1; root, about 25 s a draw)
	bin/snag-lab drawn score $(DRAWNARGS)

setup-drawn: ## install the servers and clients that draws are made of
	tools/setup.sh drawn

score-healthy: build ## snag find 30 times on a machine that is busy and well: nobody may be accused (about 6 min, root)
	bin/snag-lab healthy --dir $(SCORE)-healthy --finds 30 --for $(FOR)

.PHONY: robust
robust: build ## snag find with little memory, few descriptors, few rights, full disks, signals and crowds: a table (about 8 min, root; docs/robustness.md)
	BUILT_FOR_TESTS=$(CURDIR)/bin tools/robust.sh

calibrate: build ## fit verdict/weights.go on the score's recordings
	bin/snag-lab calibrate --from $(SCORE) --write verdict/weights.go --markdown docs/score.md

lab: build ## every incident live, the long ones too, with its healthy twin and its distractor (about 25 min, root)
	bin/snag-lab score-all --long

lab-remedies: build ## every incident that snag can remedy here: healed by its own plan, and by a wrong one not, 5 times each (about 60 min, root)
	bin/snag-lab remedy --both --repeat 5

vm-reboot: build ## a plan that nobody confirmed, and a reset: a virtual machine twice (some minutes, root)
	tools/vm/reboot.sh

vm-remedies: build ## the remedies of incidents that need a machine of their own, in one (some minutes, root)
	tools/vm/remedy.sh

lab-vm: build ## the incidents that need a machine of their own, in virtual machines with Debian's kernels
	$(GO) run ./tools/vm/lab

vm-unit: build ## the recorder as a unit of a real systemd, killed, suspended, rebooted: a virtual machine (about 15 min, root)
	tools/vm/unit.sh

vm: build ## boot Debian's kernels and run snag find in each (docs/kernels.md, about 2.5 min each)
	tools/vm/run.sh

.PHONY: vm-arm
vm-arm: ## boot Debian's kernel for arm64 and run snag find in it (docs/kernels.md, about 5 min)
	GOARCH=arm64 tools/vm/arm64.sh

# RELEASE is what VERSION= of the command line names, and otherwise the tag of the commit (v1.2.0).
RELEASE = $(if $(filter command line environment,$(origin VERSION)),$(VERSION),$(patsubst v%,%,$(shell git describe --tags --exact-match 2>/dev/null)))
.PHONY: release release-check
release: ## dist/: static programs, .deb, .rpm and image for amd64 and arm64, SBOM, checksums, of what is committed (VERSION=1.2.0; docs/install.md)
	tools/setup.sh release
	cd tools/release && $(GO) build -o ../../bin/release .
	bin/release -version '$(RELEASE)' -out dist

release-check: ## make a release twice and compare; install, use, upgrade, remove and purge it in a Debian chroot; lintian, rpm, image, runc (root, about 12 min)
	tools/setup.sh release-check
	tools/release/check.sh

clean: ## remove what was built
	rm -rf bin
