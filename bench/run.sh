#!/usr/bin/env bash
# Measure this checkout against a baseline on the day set and its siblings, and print
# the tables of docs/performance.md. The baseline is built from a named commit, so that
# figures of different days compare with the same program.
#
#     bench/run.sh                       all jobs, 15 pairs
#     BASE=v0.1.0 bench/run.sh           another baseline
#     PAIRS=5 MB=100 bench/run.sh top "rewrite .gz"     these jobs, smaller sets
#
# Needs git, gzip, zstd and 3 GB below $TMPDIR. Keeps the sets for the next run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

base=${BASE:-e0669271}
pairs=${PAIRS:-15}
mb=${MB:-500}
work=${WORK:-${TMPDIR:-/tmp}/urlfold-bench}/run-$mb
mkdir -p "$work"

build() { # FOLDER PROGRAM
  (cd "$1" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$2" ./cmd/urlfold)
}

commit=$(git rev-parse --short "$base^{commit}")
if [[ ! -x $work/urlfold-$commit ]]; then
  git worktree add --quiet --detach "$work/tree" "$commit"
  trap 'git worktree remove --force "$work/tree"' EXIT
  build "$work/tree" "$work/urlfold-$commit"
fi
build .. "$work/urlfold-new"
go build -o "$work" ./gen ./cmd/pairs

# make_set FILE OPTIONS… writes a set, if it is not there or the generator changed it.
make_set() {
  local file=$work/$1 options=("${@:2}") mark
  mark="$(sha256sum <"$work/gen") ${options[*]}"
  [[ -s $file && $(cat "$file.mark" 2>/dev/null) == "$mark" ]] && return
  echo "writing $file" >&2
  "$work/gen" "${options[@]}" >"$file.part"
  mv "$file.part" "$file"
  rm -f "$file.gz" "$file.zst"
  echo "$mark" >"$file.mark"
}
make_set day.log -set day -mb "$mb"
make_set origin.log -set day -origin -mb "$mb"
make_set clean.log -set clean -mb "$mb"
make_set dirty.log -set dirty -mb "$mb"
make_set crawl.txt -set crawl -mb "$mb"
[[ -s $work/day.log.gz ]] || gzip -6 -k "$work/day.log"
[[ -s $work/day.log.zst ]] || zstd -q -3 "$work/day.log"

echo "$(git rev-parse --short HEAD) against $commit, sets of $mb MB, $pairs pairs, $(nproc) processors, $(go version)"
echo
"$work/pairs" -base "$work/urlfold-$commit" -new "$work/urlfold-new" -sets "$work" -pairs "$pairs" -- "$@"
