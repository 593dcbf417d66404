# Each target has one line of help behind ##; make help prints them.

GO          ?= go
FUZZ_COUNT  ?= 200000
BENCH_COUNT ?= 10
BASE        ?= HEAD

.PHONY: help
help: ## print this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 12

.PHONY: build
build: ## build a static binary into ./urlfold
	CGO_ENABLED=0 $(GO) build -o urlfold ./cmd/urlfold

.PHONY: test
test: ## go test ./..., as in the README
	$(GO) test ./...

.PHONY: check
check: ## what CI does, without its slow half: format, vet, modules, generated code, lint, tests
	.ci/run gofmt vet mod generate sample lint test invariants

.PHONY: ci
ci: ## all that CI does
	.ci/run

.PHONY: lint
lint: ## golangci-lint at the version of .ci/run
	.ci/run lint

.PHONY: race
race: ## all tests under the race detector, on one processor and on four
	$(GO) test -race -cpu 1,4 ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZ_COUNT inputs
	FUZZ_STRICT=1 FUZZ_COUNT=$(FUZZ_COUNT) .ci/run fuzz

.PHONY: chaos
chaos: ## the experiments of the fault harness, in full: kills, cuts, rotation, full disks (about 30 minutes)
	$(GO) run ./cmd/urlfold-chaos run

.PHONY: kafka
kafka: ## start an Apache Kafka broker on a loopback address; then URLFOLD_KAFKA=HOST:PORT go test ./...
	.ci/kafka start

.PHONY: kafka-stop
kafka-stop: ## stop it
	.ci/kafka stop

.PHONY: nats
nats: ## start a NATS server with JetStream on a loopback address, to try things out
	.ci/nats start

.PHONY: nats-stop
nats-stop: ## stop it
	.ci/nats stop

.PHONY: bench
bench: ## benchmarks of the codec
	$(GO) test -run '^$$' -bench . -benchmem -count $(BENCH_COUNT) ./codec/...

.PHONY: benchcmp
benchcmp: ## benchmarks of the codec here and at revision BASE (HEAD), in turns, with benchstat
	bench/compare.sh $(BASE)

.PHONY: peers
peers: ## the table of peers, ns per URL, beside us (needs URLFOLD_CORPORA for the real set)
	cd bench && $(GO) run ./cmd/table

.PHONY: bench-kafka
bench-kafka: ## messages per second from Kafka to Kafka, beside the bare client library (starts a broker)
	address=$$(.ci/kafka start) && cd bench && URLFOLD_KAFKA=$$address $(GO) run ./cmd/kafka

.PHONY: bench-nats
bench-nats: ## messages per second from JetStream to JetStream, beside the bare client library (starts a server)
	address=$$(.ci/nats start) && cd bench && URLFOLD_NATS=$$address $(GO) run ./cmd/nats

.PHONY: gen
gen: ## go generate ./..., then git diff must be empty
	$(GO) generate ./...
	git diff --exit-code

.PHONY: sample
sample: ## write testdata/sample/access.log.gz anew
	$(GO) run testdata/sample/gen.go -o testdata/sample/access.log.gz

.PHONY: clean
clean: ## remove what make build leaves
	rm -f urlfold
