#!/usr/bin/env bash
# Print the statement coverage of the parsers by the vector tests alone, and each
# statement that they do not cover. Fail if less than 98 % of all statements are
# covered, or if a file is missing.
#
#     testdata/vectors/coverage.sh [PERCENT]
#
# The files contain splitting, inspection, the states of the URL Standard, IPv4 and
# IPv6 parsing, removal of dot segments, and resolution. The fast paths (clean.go,
# onepass*.go) are omitted, because the tests also run each vector without them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

want=${1:-98}
files=(codec/split.go codec/inspect*.go codec/whatwg*.go codec/ip.go codec/dots.go codec/resolve.go)
for i in "${!files[@]}"; do
  [[ -f ${files[i]} ]] || { echo "no such file: ${files[i]}" >&2; exit 1; }
  [[ ${files[i]} != *_test.go ]] || unset "files[i]"
done

profile=$(mktemp)
trap 'rm -f "$profile"' EXIT
env -u URLFOLD_CORPORA go test -count=1 -run '^TestVectors' -coverpkg=./codec -coverprofile="$profile" ./codec

# A line of the profile: PACKAGE/FILE:LINE.COLUMN,LINE.COLUMN STATEMENTS COUNT.
awk -v want="$want" -v list="${files[*]}" '
  BEGIN { n = split(list, order, " "); for (i in order) wanted[order[i]] = 1 }
  NR > 1 {
    split($1, at, ":"); file = at[1]; sub(/^.*\/codec\//, "codec/", file)
    if (!(file in wanted)) next
    split(at[2], range, ","); split(range[1], from, "."); split(range[2], to, ".")
    total[file] += $2
    if ($3 > 0) { covered[file] += $2; next }
    blocks[file] = blocks[file] " " from[1] "-" to[1]
  }
  END {
    for (i = 1; i <= n; i++) {
      file = order[i]
      printf "%-28s %4d of %4d statements  %6.2f %%\n", file, covered[file], total[file], 100 * covered[file] / total[file]
      all += total[file]; run += covered[file]
    }
    printf "%-28s %4d of %4d statements  %6.2f %%\n", "total", run, all, 100 * run / all
    for (i = 1; i <= n; i++) {
      file = order[i]
      if (blocks[file] == "") continue
      m = split(blocks[file], block, " ")
      for (b = 1; b <= m; b++) {
        split(block[b], range, "-"); line = 0
        while ((getline text < file) > 0) {
          line++
          if (line >= range[1] && line <= range[2] && text !~ /^[ \t]*}?$/ && !seen[file, line]++) printf "not run: %s:%d:%s\n", file, line, text
        }
        close(file)
      }
    }
    if (all == 0 || 100 * run / all < want) { print "below " want " %"; exit 1 }
  }' "$profile"
