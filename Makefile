# The text after ## is the help of a target; make help prints it.

GO          ?= go
FUZZ_COUNT  ?= 200000
MUTATIONS   ?= 100000
SESSIONS    ?= 100000
DAMAGED     ?= 2000
SEED        ?= 1
BENCH_COUNT ?= 10
BASE        ?= HEAD

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: build
build: ## build a static, stripped binary into ./urlfold
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags='-s -w' -o urlfold ./cmd/urlfold

.PHONY: release-tools
release-tools: ## install the programs that make a release needs, at the versions of deploy/release/tools
	deploy/release/tools

.PHONY: release
release: ## make all artefacts of a release into ./dist, without publishing them: make release VERSION=x.y.z
	deploy/release/make $(VERSION)

.PHONY: release-check
release-check: ## make a release twice, with empty caches, and compare the sums
	deploy/release/check $(VERSION)

.PHONY: site
site: ## build the site of docs into ./out/www: make site [VERSION=x.y.z] (needs python3)
	deploy/site/build $(VERSION)

.PHONY: site-check
site-check: site ## build the site, and check it in Chromium (needs Node.js; npm installs the rest)
	deploy/site/check $(VERSION)

.PHONY: test
test: ## run all tests: go test ./... here and in chaos
	$(GO) test ./...
	$(GO) -C chaos test ./...

.PHONY: check
check: ## run the fast steps of CI: format, vet, modules, generated code, lint, tests
	.ci/run gofmt vet mod generate sample lint test invariants

.PHONY: ci
ci: ## run all steps of CI
	.ci/run

.PHONY: lint
lint: ## run golangci-lint, at the version that .ci/run names
	.ci/run lint

.PHONY: race
race: ## run all tests with the race detector, on one and on four processors
	$(GO) test -race -cpu 1,4 ./...
	$(GO) -C chaos test -race -cpu 1,4 ./...

.PHONY: fuzz
fuzz: ## run every fuzz target with FUZZ_COUNT inputs
	FUZZ_STRICT=1 FUZZ_COUNT=$(FUZZ_COUNT) .ci/run fuzz

.PHONY: arm64
arm64: ## run the tests of the code with assembly for arm64, which has none (needs qemu-user-static)
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -short -exec qemu-aarch64-static ./codec ./internal/record/... ./internal/ground/scan ./internal/storage/inflate

.PHONY: mutations
mutations: ## damage the sample logs of each format MUTATIONS times and check what is rewritten (about 10 minutes)
	URLFOLD_MUTATIONS=$(MUTATIONS) $(GO) test -count 1 -timeout 60m -run 'Mutations$$' ./internal/record

.PHONY: damaged
damaged: build ## damage DAMAGED files of each container and compression, and compare with the references (about 4 minutes; pip install pyarrow cramjam fastavro backports.zstd)
	.ci/damaged ./urlfold $(DAMAGED) $(SEED)

.PHONY: hostile
hostile: ## run SESSIONS sessions with a Kafka broker whose answers are damaged, from SEED on (about 15 minutes)
	URLFOLD_SESSIONS="$(SESSIONS) from seed $(SEED)" $(GO) test -count 1 -timeout 4h -v -run 'TestHostile$$' ./internal/client/kafka

.PHONY: chaos
chaos: ## run all fault experiments: kills, damaged files, rotation, full disks (about 30 minutes)
	$(GO) -C chaos run ./cmd/urlfold-chaos run

.PHONY: chaos-dedupe
chaos-dedupe: ## kill runs with dedupe 1000 times for each experiment with files, and 100 times with brokers, and compare their outputs (about 30 minutes)
	$(GO) -C chaos run ./cmd/urlfold-chaos run -kills 1000 kill-dedupe kill-dedupe-lanes kill-dedupe-alo
	$(GO) -C chaos run ./cmd/urlfold-chaos run -kills 100 kill-dedupe-jetstream kill-dedupe-kafka

.PHONY: kill-objects
kill-objects: ## kill runs that read and write objects 34 times for each pair of source and sink on each store, 544 times in all, and compare their outputs (about 10 minutes; needs weed and versitygw)
	URLFOLD_KILLS=34 $(GO) test -count 1 -timeout 2h -v -run 'Test(Objects.*|Kafka|Queue)Killed' ./internal/app/cli

.PHONY: kafka
kafka: ## start an Apache Kafka broker on loopback; then run URLFOLD_KAFKA=HOST:PORT go test ./...
	.ci/kafka start

.PHONY: kafka-stop
kafka-stop: ## stop the Kafka broker
	.ci/kafka stop

.PHONY: nats
nats: ## start a NATS server with JetStream on loopback, for experiments
	.ci/nats start

.PHONY: nats-stop
nats-stop: ## stop the NATS server
	.ci/nats stop

.PHONY: engines
engines: ## call urlfold from Spark, DuckDB and chDB, with a million URLs (installs them below $TMPDIR; Spark needs Java)
	.ci/engines

.PHONY: bindings-java
bindings-java: ## test the packages for Java, Nutch and Spark with 1000 kills (needs a JDK and Maven, which downloads Spark)
	KILLS=1000 bindings/java/test spark

.PHONY: bench
bench: ## run the benchmarks of the codec
	$(GO) test -run '^$$' -bench . -benchmem -count $(BENCH_COUNT) ./codec/...

.PHONY: benchcmp
benchcmp: ## compare the benchmarks of the codec with revision BASE (default HEAD), with benchstat
	bench/compare.sh $(BASE)

.PHONY: peers
peers: ## compare urlfold with other URL libraries, in ns per URL (the set of real URLs needs URLFOLD_CORPORA)
	cd bench && $(GO) run ./cmd/table

.PHONY: bench-peers
bench-peers: ## compare urlfold with other programs and libraries on FILE, a log or a list of your own
	bench/peers.sh $(FILE)

.PHONY: tables
tables: ## make all tables of docs/performance.md, or those of TABLE: jobs, programs, sets, cores, sizes, formats (about 2 hours)
	bench/run.sh $(TABLE)

.PHONY: bench-kafka
bench-kafka: ## measure messages per second from Kafka to Kafka, compared with the bare client library (starts a broker)
	address=$$(.ci/kafka start) && cd bench && URLFOLD_KAFKA=$$address $(GO) run ./cmd/kafka

.PHONY: bench-nats
bench-nats: ## measure messages per second from JetStream to JetStream, compared with the bare client library (starts a server)
	address=$$(.ci/nats start) && cd bench && URLFOLD_NATS=$$address $(GO) run ./cmd/nats

.PHONY: bench-keys
bench-keys: ## measure sets of keys in memory and on disk, compared with a Go map and pebble
	cd bench && $(GO) run ./cmd/keys

.PHONY: bench-unique
bench-unique: build ## run --dedupe in each mode over 20 million URLs, and compare the results with awk (about an hour)
	URLFOLD=$(CURDIR)/urlfold bench/unique.sh

.PHONY: bench-seen
bench-seen: build ## build, merge, ask and kill a set of 50 million keys, and compare the results with comm (about 10 minutes)
	URLFOLD=$(CURDIR)/urlfold bench/seen.sh

.PHONY: gen
gen: ## run go generate ./... and fail if it changes a file
	$(GO) generate ./...
	git diff --exit-code

expressions: ## compare conditions with Python's re and ipaddress on 10,000 random expressions (needs python3)
	go test ./internal/app/where -run TestPython -python -v

# Not part of go generate: needs python3.11 and the package idna from PyPI.
.PHONY: peer-tables
peer-tables: ## regenerate the Unicode tables of the profiles that match Python tools (needs python3.11)
	dir=$$(mktemp -d) && trap 'rm -rf "$$dir"' EXIT && python3.11 -m venv "$$dir" && "$$dir"/bin/pip install -q idna==3.20 && \
	for d in codec/internal/idna2003 codec/internal/peer/idna2008; do (cd $$d && "$$dir"/bin/python gen.py) || exit 1; done

.PHONY: sample
sample: ## regenerate testdata/sample/access.log.gz
	$(GO) run testdata/sample/gen.go -o testdata/sample/access.log.gz

.PHONY: clean
clean: ## remove the result of make build
	rm -f urlfold
