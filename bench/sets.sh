# Defines what the scripts that measure share; for use with "source", in the folder bench.
# Sets work, a folder of sets of MB megabytes that are kept for the next run, and makes there
# the programs gen, pairs and urlfold-new, and the day set: day.log and, in a single gzip
# member, day.log.gz.

mb=${MB:-500}
work=${WORK:-${TMPDIR:-/tmp}/urlfold-bench}/run-$mb
mkdir -p "$work"

build() { # FOLDER PROGRAM
  (cd "$1" && CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o "$2" ./cmd/urlfold)
}

# make_set FILE OPTIONS… writes a set, if it is not there or the generator changed it.
make_set() {
  local file=$work/$1 options=("${@:2}") mark
  mark="$(sha256sum <"$work/gen") ${options[*]}"
  [[ -s $file && $(cat "$file.mark" 2>/dev/null) == "$mark" ]] && return
  echo "writing $file" >&2
  "$work/gen" "${options[@]}" >"$file.part"
  mv "$file.part" "$file"
  rm -f "$file.gz" "$file.zst"
  echo "$mark" >"$file.mark"
}

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

build .. "$work/urlfold-new"
go build -trimpath -o "$work" ./gen ./cmd/pairs
make_set day.log -set day -mb "$mb"
[[ -s $work/day.log.gz ]] || gzip -6 -k "$work/day.log"
