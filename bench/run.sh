#!/usr/bin/env bash
# Measure this checkout, and print the tables of docs/performance.md:
#
#     bench/run.sh                       all tables
#     bench/run.sh TABLE [ARGUMENT…]     one of them
#
#     jobs [JOB…]     this checkout against a baseline, on the day set and its siblings
#     programs        other programs and libraries, on the day set
#     sets            the libraries, on several sets of URLs
#     cores           two processors against one
#     sizes           compressed outputs against gzip and zstd
#     formats         the text formats against combined, and against the baseline
#
# The baseline is built from a named commit, so that figures of different days compare with
# the same program. PAIRS=5 MB=100 BASE=v0.1.0 ROUNDS=3 set less work, and another baseline.
# Needs git, gzip, zstd and 3 GB below $TMPDIR. Keeps the sets for the next run.
set -euo pipefail
tables=(jobs programs sets cores sizes formats)
[[ $# == 0 || " ${tables[*]} " == *" $1 "* ]] || { echo "bench/run.sh: no table $1; they are ${tables[*]}" >&2; exit 2; }
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./sets.sh

# baseline sets base to the program of the baseline.
baseline() {
  commit=$(git rev-parse --short "${BASE:-e0669271}^{commit}")
  base=$work/urlfold-$commit
  [[ -x $base ]] && return
  git worktree add --quiet --detach "$work/tree" "$commit"
  trap 'git worktree remove --force "$work/tree"' EXIT
  build "$work/tree" "$base"
}

jobs() { # [JOB…]
  baseline
  make_set origin.log -set day -origin -mb "$mb"
  make_set clean.log -set clean -mb "$mb"
  make_set dirty.log -set dirty -mb "$mb"
  make_set crawl.txt -set crawl -mb "$mb"
  [[ -s $work/day.log.zst ]] || zstd -q -3 "$work/day.log"
  echo "against $commit, ${PAIRS:-15} pairs"
  "$work/pairs" -base "$base" -new "$work/urlfold-new" -sets "$work" -pairs "${PAIRS:-15}" -- "$@"
}

formats() {
  baseline
  make_set origin.log -set day -origin -mb "$mb"
  go run ./cmd/formats -urlfold "$work/urlfold-new" -base "$base" -rounds "${ROUNDS:-5}" -mb 50 -log "$work/origin.log"
}

table() { # TABLE [ARGUMENT…]
  printf '\n## %s\n\n' "$1"
  case $1 in
  jobs | formats) "$@" ;;
  programs) ./peers.sh "$work/day.log.gz" ;;
  sets) ./peers.sh -sets ;;
  *) "./$1.sh" ;;
  esac
}

echo "$(git rev-parse --short HEAD), sets of $mb MB, $(nproc) processors, $(go version)"
if (($#)); then
  table "$@"
else
  for name in "${tables[@]}"; do table "$name"; done
fi
