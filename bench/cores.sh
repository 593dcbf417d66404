#!/usr/bin/env bash
# Compare urlfold on two processors with urlfold on one: the day set of 500 MB in
# eight gzip files, in one file of 1,000 members, and in one file of a single member
# that was read before. Prints the median wall times, the median of the ratios, and the
# most memory that a run took (resident set size, MiB). Needs taskset and GNU time.
#
#     bench/cores.sh              seven rounds
#     ROUNDS=3 MB=200 CPUS=2,3 bench/cores.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source ./sets.sh
archive=$work/day.log.gz
rounds=${ROUNDS:-7}
cpus=${CPUS:-0,1}
urlfold=$work/urlfold-new

# cut_archive cuts the log into parts of whole lines, and compresses each.
cut_archive() { # FOLDER PARTS
  mkdir -p "$1.part"
  gzip -dc "$archive" >"$1.part/log"
  split -a 4 -n "l/$2" "$1.part/log" "$1.part/log-"
  rm "$1.part/log"
  find "$1.part" -type f -print0 | xargs -0 -P "$(nproc)" gzip -6
  mv "$1.part" "$1"
}

eight=$work/eight
members=$work/members.gz
index=$work/day.gzi
[[ $archive -nt $eight ]] && rm -rf "$eight" "$members" "$index"
[[ -d $eight ]] || cut_archive "$eight" 8
if [[ ! -s $members ]]; then
  cut_archive "$work/members" 1000
  cat "$work"/members/*.gz >"$members"
  rm -r "$work/members"
fi
[[ -s $index ]] || "$urlfold" -f combined --quiet --index "$index" -o /dev/null "$archive"

jobs=(
  'eight files'
  'eight files, --order none'
  'eight files, --output-dir'
  '1,000 members'
  'one member, --index'
)

job() { # NAME
  local out=(-o /dev/null)
  case $1 in
    *'--order none') out+=(--order none) ;;
    *--output-dir) out=(--output-dir "$work/out") ;;
    *--index) out+=(--index "$index") ;;
  esac
  case $1 in
    eight*) out+=("$eight"/*.gz) ;;
    1,000*) out+=("$members") ;;
    *) out+=("$archive") ;;
  esac
  /usr/bin/time -a -o "$work/peak" -f %M taskset -c "$2" "$urlfold" -f combined --quiet "${out[@]}"
}

echo "$mb MB, processors $cpus, $(go version)"
printf '%-28s %8s %8s %8s %8s\n' job 'one s' 'two s' 'one/two' 'peak MiB'
for name in "${jobs[@]}"; do
  ones=() twos=() ratios=()
  rm -f "$work/peak"
  for ((i = 0; i < rounds; i++)); do
    rm -rf "$work/out"
    one=$(run job "$name" "${cpus%%,*}")
    rm -rf "$work/out"
    two=$(run job "$name" "$cpus")
    ones+=("$one") twos+=("$two")
    ratios+=("$(awk "BEGIN { printf \"%.2f\", $one / $two }")")
  done
  peak=$(sort -n "$work/peak" | tail -n 1)
  awk "BEGIN { printf \"%-28s %8.2f %8.2f %8s %8.0f\n\", \"$name\", $(median "${ones[@]}") / 1e6, $(median "${twos[@]}") / 1e6, \"$(median "${ratios[@]}")\", $peak / 1024 }"
done
rm -rf "$work/out" "$work/peak"
