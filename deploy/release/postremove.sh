#!/bin/sh
# After the files are gone. Checkpoints and the configuration stay unless they are purged.
set -e
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "${1:-}" = purge ]; then
  rm -rf /var/lib/urlfold /etc/urlfold
  if command -v deluser >/dev/null 2>&1; then
    deluser --quiet --system urlfold 2>/dev/null || true # it may be gone already
  fi
fi
