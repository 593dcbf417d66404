# Defines what scripts about archives share; for use with "source". Sets work, a folder
# for files that are kept for the next run, and archive, a combined log of MB megabytes
# in a single gzip member, which repeats a log of the corpora. Needs URLFOLD_CORPORA.

: "${URLFOLD_CORPORA:?set it to the folder of the corpora}"
mb=${MB:-500}
work=${WORK:-${TMPDIR:-/tmp}/urlfold-bench}
mkdir -p "$work"

archive=$work/log-$mb.gz
if [[ ! -s $archive ]]; then
  log=$URLFOLD_CORPORA/logs/combined/elastic_apache_logs.log
  size=$(wc -c <"$log")
  copies=$(((mb * 1000000 + size - 1) / size))
  echo "writing $archive: $copies copies of the log"
  for ((i = 0; i < copies; i++)); do cat "$log"; done | gzip -6 >"$archive.part"
  mv "$archive.part" "$archive"
fi

now() { echo "${EPOCHREALTIME/./}"; } # microseconds

# run prints the duration of a command in microseconds.
run() {
  local start
  start=$(now)
  "$@" >/dev/null
  echo $(($(now) - start))
}

# median prints the median of its arguments.
median() {
  local sorted
  mapfile -t sorted < <(printf '%s\n' "$@" | sort -g)
  echo "${sorted[${#sorted[@]} / 2]}"
}
