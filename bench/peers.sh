#!/usr/bin/env bash
# Compare urlfold with other programs and libraries on a file of your own, which
# can be anything that urlfold reads: an access log, plain or compressed.
#
#     bench/peers.sh FILE
#     ROUNDS=3 bench/peers.sh FILE
#     bench/peers.sh -sets              compare only the libraries, on the sets of URLs
#     CHARTS=DIR bench/peers.sh FILE    also draw the results, as SVG
#
# Needs Go, and cargo for ada and rust-url. igzip, rapidgzip and goaccess take part if
# they are installed.
set -euo pipefail

[[ $# == 1 && ( $1 == -sets || -r $1 ) ]] || { echo "usage: bench/peers.sh FILE, or bench/peers.sh -sets" >&2; exit 2; }
[[ $1 == -sets ]] || file=$(realpath "$1")
[[ -z ${CHARTS:-} ]] || CHARTS=$(realpath "$CHARTS")
cd "$(dirname "${BASH_SOURCE[0]}")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT

(cd .. && go build -o "$bin/urlfold" ./cmd/urlfold)
go build -o "$bin" ./cmd/gunzip ./cmd/naive ./cmd/peers
(cd benthos && go build -o "$bin/benthos" .) || echo "benthos cannot be built" >&2
if command -v cargo >/dev/null; then
  if cargo build --release --quiet --manifest-path rust/Cargo.toml --target-dir "$bin/target"; then
    cp "$bin/target/release/urlfold-bench-rust" "$bin/rust"
  fi
fi

if [[ $1 == -sets ]]; then
  "$bin/peers" -bin "$bin" -rounds "${ROUNDS:-7}" -sets
  exit
fi

# The libraries get each URL once, absolute, at most 200,000 of them.
"$bin/urlfold" --quiet --base http://www.example.com/ -r tsv --fields url "$file" >"$bin/targets" || true
awk '{ if ($0 ~ /^\//) $0 = "http://www.example.com" $0 } /^[A-Za-z][A-Za-z0-9+.-]*:/ && !seen[$0]++ && n++ < 200000' "$bin/targets" >"$bin/urls.txt"
[[ -s $bin/urls.txt ]] || { echo "no absolute URL was found in $file" >&2; exit 1; }

case $file in
*.gz) gzip -dc "$file" >"$bin/plain" && export PEERS_PLAIN=$bin/plain ;;
esac
cat >"$bin/benthos.yaml" <<YAML
input:
  broker:
    inputs: [{ file: { paths: ["${PEERS_PLAIN:-$file}"], scanner: { lines: {} } } }]
    batching: { count: 1000, period: 100ms }
pipeline:
  processors:
    - mapping: |
        let target = content().string().re_find_all_submatch("\"[A-Z]+ ([^ ]+)").index(0).index(1) | "/"
        let u = ("http://www.example.com" + \$target).parse_url() | {}
        root.norm = \$u.string()
        root.key = \$u.string().hash("xxhash64").encode("hex")
output: { drop: {} }
logger: { level: ERROR }
http: { enabled: false }
shutdown_timeout: 1s
YAML
"$bin/peers" -bin "$bin" -rounds "${ROUNDS:-7}" -charts "${CHARTS:-}" "$file"
