#!/usr/bin/env bash
# Compare rewriting an archive with decompressing it: urlfold rewrites a combined
# log of 500 MB in a single gzip member to a plain file, and gunzip decompresses it
# with the same library. Prints pairs of wall times, and the median of the ratios:
# the goal is 1.05, the maximum 1.5. Needs URLFOLD_CORPORA.
#
#     bench/log.sh              five pairs
#     ROUNDS=9 MB=200 bench/log.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./archive.sh
rounds=${ROUNDS:-5}
lines=$(gzip -dc "$archive" | wc -l)

(cd .. && go build -o "$work/urlfold" ./cmd/urlfold)
go build -o "$work/gunzip" ./cmd/gunzip

rewrite() {
  "$work/urlfold" -f combined --quiet -o "$work/out.log" "$archive"
}

rm -f "$work/out.log"
rewrite
[[ $(wc -l <"$work/out.log") == "$lines" ]] || { echo "the rewritten log does not have $lines lines" >&2; exit 1; }

echo "$lines lines, $mb MB, $(nproc) processors, $(go version)"
printf '%10s %10s %10s\n' 'inflate s' 'urlfold s' 'ratio'
ratios=()
for ((i = 0; i < rounds; i++)); do
  alone=$(run "$work/gunzip" "$archive")
  rm -f "$work/out.log" # do not measure freeing the pages of the old file
  whole=$(run rewrite)
  ratio=$(awk "BEGIN { printf \"%.3f\", $whole / $alone }")
  ratios+=("$ratio")
  awk "BEGIN { printf \"%10.2f %10.2f %10s\n\", $alone / 1e6, $whole / 1e6, \"$ratio\" }"
done
echo "median ratio $(median "${ratios[@]}")"
rm -f "$work/out.log"
