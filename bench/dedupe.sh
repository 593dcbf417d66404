#!/usr/bin/env bash
# Compare urlfold --dedupe with other ways to drop duplicate URLs, on the same list.
#
#     bench/dedupe.sh                      2 million generated URLs, 300,000 pages (Zipf)
#     bench/dedupe.sh 20000000 3000000     as many as you say
#     bench/dedupe.sh FILE                 a list of your own, one URL a line
#
# Prints the lines that each program keeps, wall time, CPU time and memory: medians of
# ROUNDS interleaved rounds (3). The program is the one that URLFOLD names; by default it
# is built, and so is benthos (Redpanda Connect). uro takes part if it is on the PATH.
set -euo pipefail
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if [[ -r ${1:-} ]]; then
	list=$(realpath "$1")
else
	list=$dir/urls
	# Every page occurs, and its frequency falls with its rank. One line in seven has
	# another spelling of the URL.
	awk -v n="${1:-2000000}" -v d="${2:-300000}" 'BEGIN {
		srand(15)
		for (i = 1; i <= n; i++) {
			page = i <= d ? i : int(exp(rand() * log(d + 1)))
			print (i % 7 ? "http://" : "HTTP://") "h" page % 1000 ".example/p/" page
		}
	}' >"$list"
fi
cd "$(dirname "${BASH_SOURCE[0]}")"
urlfold=${URLFOLD:-$dir/urlfold}
[[ -n ${URLFOLD:-} ]] || (cd .. && go build -o "$dir/urlfold" ./cmd/urlfold)
go build -o "$dir/gomap" ./cmd/gomap
(cd benthos && go build -o "$dir/benthos" .) || echo "benthos cannot be built" >&2
PATH=$dir:$PATH
cat >"$dir/benthos.yaml" <<YAML
input:
  broker:
    inputs: [{ file: { paths: ["$list"], scanner: { lines: {} } } }]
    batching: { count: 1000, period: 100ms }
pipeline:
  processors:
    - dedupe: { cache: seen, key: '\${! content() }' }
cache_resources:
  - { label: seen, memory: { default_ttl: 24h } }
output: { stdout: { codec: lines } }
logger: { level: ERROR }
http: { enabled: false }
shutdown_timeout: 1s
YAML

names=(urlfold 'urlfold -j 1' 'sort -u' awk gomap benthos uro)
run() { # run NAME: writes the URLs that are left
	case $1 in
	urlfold) "$urlfold" --quiet --dedupe "$list" ;;
	'urlfold -j 1') "$urlfold" --quiet -j 1 --dedupe "$list" ;;
	'sort -u') sort -u --parallel=2 "$list" ;;
	awk) awk '!seen[$0]++' "$list" ;;
	gomap) "$dir/gomap" "$list" ;;
	benthos) benthos -c "$dir/benthos.yaml" ;;
	uro) uro <"$list" ;;
	esac
}
export -f run
export urlfold list dir
for ((round = 0; round < ${ROUNDS:-3}; round++)); do
	for name in "${names[@]}"; do
		command -v "${name%% *}" >/dev/null || [[ $name =~ ^(urlfold|gomap) ]] || { [[ $round != 0 ]] || echo "left out: $name is not installed" >&2; continue; }
		/usr/bin/time -a -o "$dir/$name.times" -f '%e %U %S %M' bash -c 'run "$1" >"$dir/out"' - "$name"
		wc -l <"$dir/out" >"$dir/$name.lines"
	done
done

median() { awk -v f="$2" '{ print f == 2 ? $2 + $3 : $f }' "$dir/$1.times" | sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
printf '%s lines of %s bytes, %s rounds\n\n' "$(wc -l <"$list")" "$(wc -c <"$list")" "${ROUNDS:-3}"
printf '%-14s %10s %8s %8s %8s\n' program kept 'wall s' 'CPU s' 'RSS MB'
for name in "${names[@]}"; do
	[[ -r $dir/$name.times ]] || continue
	printf '%-14s %10s %8.2f %8.2f %8.0f\n' "$name" "$(<"$dir/$name.lines")" "$(median "$name" 1)" "$(median "$name" 2)" "$(($(median "$name" 4) / 1024))"
done
