#!/usr/bin/env bash
# Run the benchmarks of the codec at a base revision and in this checkout, and
# compare them with benchstat. The two alternate, so that a drift in the speed of
# the machine affects both. Needs git.
#
#     bench/compare.sh               compare with HEAD
#     bench/compare.sh v1.2.0        compare with a tag
#     ROUNDS=12 BENCH=Append bench/compare.sh HEAD~5
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

base=${1:-HEAD}
rounds=${ROUNDS:-6}
pattern=${BENCH:-.}
packages=${PACKAGES:-./codec/...}
work=$(mktemp -d)
trap 'git worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT

git worktree add --quiet --detach "$work/base" "$base"
for ((i = 1; i <= rounds; i++)); do
  echo "round $i of $rounds" >&2
  (cd "$work/base" && go test -run '^$' -bench "$pattern" -benchmem -count 1 $packages) >>"$work/base.txt"
  go test -run '^$' -bench "$pattern" -benchmem -count 1 $packages >>"$work/new.txt"
done
go run golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da "$base=$work/base.txt" "new=$work/new.txt"
