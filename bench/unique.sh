#!/bin/bash
# unique.sh [RECORDS [DISTINCT]]: runs --dedupe in every mode over RECORDS URLs, of which
# DISTINCT differ (Zipf), and over as many URLs that all differ, and compares the results
# with awk. It uses one and two workers, one and 40 files, and prints the time and the
# peak memory of each run. The program is the one that URLFOLD names (default: urlfold).
# TMPDIR needs about 400 bytes for each record.
set -euo pipefail
records=${1:-20000000} distinct=${2:-3000000}
urlfold=${URLFOLD:-urlfold}
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# zipf prints numbers whose frequency falls with their rank, such that all of
# 1…distinct occur.
zipf() {
	awk -v n="$records" -v d="$distinct" 'BEGIN {
		srand(15)
		for (i = 1; i <= d; i++) print i
		for (; i <= n; i++) print int(exp(rand() * log(d + 1)))
	}'
}
# spell writes numbers as URLs, some of them in another spelling.
spell() { awk '{ print (NR % 7 ? "http://" : "HTTP://") "h" $1 % 1000 ".example/p/" $1 }'; }
# oracle prints what a mode writes: normal forms.
declare -A oracle=(
	[first]='!seen[$1]++'
	[last]='NR == FNR { last[$1] = FNR; next } last[$1] == FNR'
	[mark]='{ print $1 "\t" (seen[$1]++ ? "true" : "false") }'
	[count]='NR == FNR { n[$1]++; next } $1 in n { print $1 "\t" n[$1]; delete n[$1] }'
)
check() { # check MODE ARGS…: compares the sum of the output with that of the oracle
	local mode=$1 got
	shift
	got=$(/usr/bin/time -f "  $mode $2, $(($# - 2)) files: %e s, %U s user, peak %M KiB" "$urlfold" --quiet -r tsv --fields norm --dedupe="$mode" "$@" | md5sum)
	[[ $got == "$want" ]] || { echo "--dedupe=$mode $1 $2: differs from the oracle"; exit 1; }
}

for kind in zipf distinct; do
	if [[ $kind == zipf ]]; then zipf; else seq "$records"; fi | spell >"$dir/urls"
	split -n l/40 "$dir/urls" "$dir/part."
	tr A-Z a-z <"$dir/urls" >"$dir/norm"
	echo "$kind: $records records"
	for mode in first last mark count; do
		inputs=("$dir/norm")
		[[ $mode == last || $mode == count ]] && inputs+=("$dir/norm")
		want=$(awk "${oracle[$mode]}" "${inputs[@]}" | md5sum)
		check $mode -j 1 "$dir/urls"
		check $mode -j 2 "$dir/urls"
		check $mode -j 2 "$dir"/part.*
		echo "  $mode: equal to awk"
	done
	rm "$dir"/part.*
done
