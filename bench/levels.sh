#!/bin/bash
# levels.sh [RECORDS [DISTINCT [LEVEL…]]]: runs top, count and --dedupe at every level over RECORDS
# URLs, of which DISTINCT pages differ (Zipf), each in several spellings, and compares the
# results with awk and sort. It uses one and two workers, one and 40 files. The program is
# the one that URLFOLD names (default: urlfold). TMPDIR needs about 300 bytes for each record.
set -euo pipefail
records=${1:-20000000} distinct=${2:-3000000} levels=("${@:3}")
((${#levels[@]})) || levels=(syntax equivalent fetch page site template shape)
urlfold=${URLFOLD:-urlfold}
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# urls writes pages whose frequency falls with their rank. A page has four spellings: two
# orders of parameters, a scheme in capitals, and a parameter of a campaign.
urls() {
	awk -v n="$records" -v d="$distinct" 'BEGIN {
		srand(15)
		split("a=1&b=2 b=2&a=1 a=1&b=2 a=1&b=2&utm_source=x", query, " ")
		for (i = 1; i <= n; i++) {
			page = i <= d ? i : int(exp(rand() * log(d + 1)))
			s = 1 + int(rand() * 4) % 4 # rand may return 1
			print (s == 3 ? "HTTP" : "http") "://h" page % 1000 ".example/p/" page "?" query[s]
		}
	}'
}
# identity writes, for each URL, what a level compares.
identity() {
	case $1 in
	syntax | equivalent) sed 's/^HTTP/http/' ;;
	fetch | page) sed 's/^HTTP/http/; s/&utm_source=x$//; s/b=2&a=1$/a=1\&b=2/' ;;
	site | shape) sed 's|^....://||; s|/.*||' ;;
	template) sed 's|^....://[^/]*||; s|/p/[^?]*?.*|/p/{int}|' ;;
	esac
}
same() { # same WHAT GOT WANT
	[[ $2 == "$3" ]] || { echo "$1: $2, but the oracle says $3"; exit 1; }
}

urls >"$dir/urls"
split -n l/40 "$dir/urls" "$dir/part."
run=("$urlfold" -p analytics --key page --quiet)
for level in "${levels[@]}"; do
	identity $level <"$dir/urls" >"$dir/ids"
	awk '{ n[$0]++ } END { for (id in n) print n[id] }' "$dir/ids" | sort -nr >"$dir/counts"
	awk '!seen[$0]++ { print NR }' "$dir/ids" >"$dir/firsts"
	want=$(wc -l <"$dir/counts") most=$(sed 1000q "$dir/counts" | md5sum) firsts=$(md5sum <"$dir/firsts")
	for inputs in "$dir/urls" "$dir"/part.; do
		for jobs in 1 2; do
			files=("$inputs")
			[[ $inputs == */part. ]] && files=("$inputs"*)
			what="$level, $jobs workers, ${#files[@]} files"
			same "count: $what" "$("$urlfold" count --quiet -p analytics --key page --by $level -j $jobs "${files[@]}" | cut -f 4)" "$want"
			same "top: $what" "$("$urlfold" top -n 1000 --quiet -p analytics --key page -r tsv --by $level -j $jobs "${files[@]}" | cut -f 1 | md5sum)" "$most"
			got=$("${run[@]}" -r urls --dedupe --by $level -j $jobs "${files[@]}" | md5sum)
			[[ $jobs$inputs == "1$dir/urls" ]] && first=$got
			same "unique: $what" "$got" "$first"
		done
	done
	same "unique: $level" "$("${run[@]}" -r tsv --fields line --dedupe --by $level "$dir/urls" | md5sum)" "$firsts"
	echo "$level: $want of $records, equal to awk and sort"
done
