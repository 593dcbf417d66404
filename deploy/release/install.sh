#!/bin/sh
# Install urlfold from a release, without Go:
#
#   curl -fsSL https://github.com/urlfold/urlfold/releases/latest/download/install.sh | sh
#
# It downloads the archive for this system, verifies its checksum, and puts the binary into
# ~/.local/bin (as root: /usr/local/bin). Settings, from the environment:
#
#   URLFOLD_VERSION  such as 0.1.0; default: the latest release
#   URLFOLD_BIN      the folder of the binary
#   URLFOLD_BASE     where releases are, instead of GitHub
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

download() { # download URL FILE
  if command -v curl >/dev/null 2>&1; then
    curl -fsSL --retry 3 -o "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then
    wget -qO "$2" "$1"
  elif command -v fetch >/dev/null 2>&1; then # FreeBSD has it without a package
    fetch -qo "$2" "$1"
  else
    fail "neither curl nor wget is installed"
  fi
}

sum() { # sum FILE
  if command -v sha256sum >/dev/null 2>&1; then
    sha256sum "$1"
  elif command -v shasum >/dev/null 2>&1; then
    shasum -a 256 "$1"
  elif command -v sha256 >/dev/null 2>&1; then
    sha256 -q "$1"
  else
    fail "no program computes SHA-256 (sha256sum, shasum, sha256): the archive cannot be verified"
  fi
}

# The shell runs main only when it has read the whole file, so a download that ends early
# installs nothing.
main() {
  os=$(uname -s | tr '[:upper:]' '[:lower:]')
  case $os in
  linux | darwin | freebsd) ;;
  *) fail "no binary for $os: use install.ps1 on Windows, and elsewhere go install github.com/urlfold/urlfold/cmd/urlfold@latest" ;;
  esac
  case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  riscv64) arch=riscv64 ;;
  *) fail "no binary for $(uname -m): go install github.com/urlfold/urlfold/cmd/urlfold@latest" ;;
  esac

  base=${URLFOLD_BASE:-https://github.com/urlfold/urlfold/releases}
  if [ -n "${URLFOLD_VERSION:-}" ]; then
    from=$base/download/v${URLFOLD_VERSION#v}
  else
    from=$base/latest/download
  fi
  if [ -n "${URLFOLD_BIN:-}" ]; then
    bin=$URLFOLD_BIN
  elif [ "$(id -u)" = 0 ]; then
    bin=/usr/local/bin
  else
    bin=${HOME:?install.sh: set HOME or URLFOLD_BIN}/.local/bin
  fi

  tmp=$(mktemp -d)
  trap 'rm -rf "$tmp"' EXIT
  download "$from/checksums.txt" "$tmp/checksums.txt" || fail "cannot download $from/checksums.txt"
  line=$(grep "_${os}_${arch}\.tar\.gz\$" "$tmp/checksums.txt") || fail "the release has no archive for $os/$arch"
  want=${line%% *}
  archive=${line##* }
  download "$from/$archive" "$tmp/$archive" || fail "cannot download $from/$archive"
  got=$(sum "$tmp/$archive") || exit 1
  got=${got%% *}
  [ "$got" = "$want" ] || fail "$archive: SHA-256 is $got, want $want: nothing was installed"

  tar -xzf "$tmp/$archive" -C "$tmp" urlfold
  { mkdir -p "$bin" && [ ! -d "$bin/urlfold" ] && install -m 755 "$tmp/urlfold" "$bin/urlfold"; } ||
    fail "cannot write $bin/urlfold: set URLFOLD_BIN to another folder, or run install.sh as root"
  if [ "$os" = darwin ]; then # browsers mark what they download; curl does not
    xattr -d com.apple.quarantine "$bin/urlfold" 2>/dev/null || true # it may have no mark
  fi
  version=$("$bin/urlfold" --version) || fail "$bin/urlfold was installed, but it does not start"
  echo "installed $version in $bin"
  case :$PATH: in
  *:"$bin":*) ;;
  *) echo "add $bin to PATH" ;;
  esac
}

main
