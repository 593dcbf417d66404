#!/bin/bash
# seen.sh [BUILD [MERGE [QUERY]]]: builds a set of BUILD keys, merges MERGE keys of which
# half are new, asks for QUERY URLs, and compares the answer with comm. It kills a build
# with kill -9 and asks again. It prints the time and the peak memory of each step.
# The program is the one that URLFOLD names (default: urlfold). TMPDIR needs about 150
# bytes for each key.
set -euo pipefail
build=${1:-50000000} merge=${2:-10000000} query=${3:-5000000}
urlfold=${URLFOLD:-urlfold}
export LC_ALL=C
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

urls() { seq "$@" | awk '{ print "http://h" $1 % 1000 ".example/p/" $1 }'; }
measured() { # measured NAME COMMAND…: runs it with its input, and prints what it used
	local name=$1
	shift
	/usr/bin/time -f "$name: %e s, %U s user, peak %M KiB" "$@"
}
ask() { measured "query" "$urlfold" seen query --quiet "$dir/set" <"$dir/query" | cut -f2 | sort -S 200M -T "$dir"; }

last=$((build + merge / 2))
urls 1 "$build" | measured "build of $build" "$urlfold" seen build "$dir/set" -
urls $((build - merge / 2 + 1)) "$last" | measured "merge of $merge" "$urlfold" seen merge "$dir/set" -
urls 1 $((last * 2 / query)) $((last * 2)) >"$dir/query"
ask >"$dir/got"
urls 1 "$last" | sort -S 200M -T "$dir" | comm -23 <(sort -S 200M -T "$dir" "$dir/query") - >"$dir/want"
cmp "$dir/got" "$dir/want"
echo "$(wc -l <"$dir/query") URLs asked, $(wc -l <"$dir/want") unseen: equal to comm"

{ urls 1 "$build"; sleep 30; } | "$urlfold" seen build --force "$dir/set" - &
sleep $((2 + build / 2000000))
kill -9 $!
wait $! 2>/dev/null || echo "killed a build; it left $(ls "$dir/set" | wc -l) files"
ask | cmp - "$dir/want"
echo "after the kill: equal to comm"
measured "shrink" "$urlfold" seen shrink "$dir/set"
du -sh "$dir/set" | cut -f1
