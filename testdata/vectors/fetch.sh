#!/usr/bin/env bash
# Fetch the public suites of the standards, at the commits of suites.tsv, to a
# folder for URLFOLD_CORPORA. Each file must have the listed SHA-256; a file that
# already exists with it is not fetched again.
#
#     testdata/vectors/fetch.sh DIR
#     URLFOLD_CORPORA=DIR go test ./codec -run '^TestWPT$'
#
# URLFOLD_SUITES names another server with the paths of raw.githubusercontent.com.
# Needs bash, curl and sha256sum or shasum. Exits with 1 if a file cannot be
# fetched.
set -euo pipefail

[[ $# == 1 ]] || { echo "usage: ${0##*/} DIR" >&2; exit 2; }
list=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/suites.tsv
server=${URLFOLD_SUITES:-https://raw.githubusercontent.com}
dir=$1

sum() {
  if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

files=0
while IFS=$'\t' read -r path want repository commit source; do
  [[ -n $path && $path != \#* ]] || continue
  files=$((files + 1))
  file=$dir/$path
  [[ ! -f $file || $(sum "$file") != "$want" ]] || continue
  mkdir -p "$(dirname "$file")"
  curl --fail --silent --show-error --location --retry 3 --max-time 120 --output "$file.part" \
    "$server/$repository/$commit/$source" || { echo "cannot fetch $path" >&2; exit 1; }
  got=$(sum "$file.part")
  [[ $got == "$want" ]] || { rm -f "$file.part"; echo "$path: SHA-256 is $got, want $want" >&2; exit 1; }
  mv "$file.part" "$file"
  echo "fetched $path"
done <"$list"
((files > 0)) || { echo "$list lists no files" >&2; exit 1; }
echo "$files files in $dir"
