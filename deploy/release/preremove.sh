#!/bin/sh
# Before the files go. An upgrade calls it as well: rpm with 1, dpkg with "upgrade".
set -e
case "${1:-}" in
1 | upgrade | failed-upgrade) exit 0 ;;
esac
if [ -d /run/systemd/system ]; then
  systemctl disable --now urlfold.service || true # it may not be enabled
fi
