#!/usr/bin/env bash
# Compare the sizes of compressed outputs with those of gzip and zstd of the same text: the
# first 40 MiB of the day set at each level, and at the default level the day set and each
# log of the corpora over 100 kB (if URLFOLD_CORPORA names their folder).
#
#     bench/sizes.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./sets.sh
urlfold=$work/urlfold-new
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# text rewrites a log to plain text, which all programs compress: urlfold changes nothing more.
text() { "$urlfold" --quiet --force -o "$out/text" "$1"; }

# ours prints the size of urlfold's output, theirs that of the program's.
ours() { # COMPRESSION[:LEVEL]
  "$urlfold" --quiet --force --compress "$1" -o "$out/ours" "$out/text" && wc -c <"$out/ours"
}
theirs() { "$1" -q -c "-$2" "$out/text" | wc -c; } # PROGRAM LEVEL

head -c $((40 << 20)) "$work/day.log" | sed '$d' >"$out/head"
text "$out/head"
echo 'MB, first 40 MiB of the day set'
for program in gzip zstd; do
  levels=({1..9})
  printf '%-5s level' "$program" && printf ' %7d' "${levels[@]}"
  printf '\n%-11s' program
  for level in "${levels[@]}"; do awk "BEGIN { printf \" %7.2f\", $(theirs "$program" "$level") / 1e6 }"; done
  printf '\n%-11s' urlfold
  for level in "${levels[@]}"; do awk "BEGIN { printf \" %7.2f\", $(ours "$program:$level") / 1e6 }"; done
  echo
done

printf '\n%-45s %10s %6s %6s\n' 'text, default levels' bytes gzip zstd
row() { # NAME FILE
  text "$2" || return 0
  size=$(wc -c <"$out/text")
  ((size > 100000)) || return 0
  awk "BEGIN { printf \"%-45s %10d %6.3f %6.3f\n\", \"$1\", $size,
    $(ours gzip) / $(theirs gzip 6), $(ours zstd) / $(theirs zstd 3) }"
}
row 'day set' "$work/day.log"
if [[ -n ${URLFOLD_CORPORA:-} ]]; then
  for file in "$URLFOLD_CORPORA"/logs/*/*; do
    [[ -f $file && $(wc -c <"$file") -gt 100000 ]] && row "${file##*/}" "$file" 2>/dev/null
  done
fi
