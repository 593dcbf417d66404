#!/usr/bin/env bash
# Compare this checkout with the committed baseline by benchstat, or measure a new
# baseline. The comparison is information, not a gate: the baseline is from the
# machine that its first lines name. On another machine compare the ratios between
# urlfold and net/url, which runs beside it.
#
#     bench/baseline.sh              compare with bench/baseline.txt
#     bench/baseline.sh -update      measure bench/baseline.txt again
#
# COUNT sets the runs per benchmark (6), BENCHTIME the time per run (100ms).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

measure() {
  # Without the corpora, so that everybody measures the same sets.
  URLFOLD_CORPORA='' go test -run '^$' -bench '^BenchmarkPeers$/./^(net.url_Parse|urlfold.*)$' \
    -cpu 1 -count "${COUNT:-6}" -benchtime "${BENCHTIME:-100ms}" .
}

if [[ ${1:-} == -update ]]; then
  result=$(measure)
  {
    echo "# $(nproc) processors, $(uname -sr), $(go version | cut -d' ' -f3), $(date -u +%F), revision $(git rev-parse --short HEAD)"
    echo "$result"
  } >baseline.txt
  exit
fi
head -n 1 baseline.txt
new=$(mktemp)
trap 'rm -f "$new"' EXIT
measure >"$new"
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da -filter '.unit:ns/URL' baseline=baseline.txt "new=$new"
