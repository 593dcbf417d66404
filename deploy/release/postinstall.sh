#!/bin/sh
# After the files are there: the user of the unit, and the new unit.
set -e
if command -v systemd-sysusers >/dev/null 2>&1; then
  systemd-sysusers urlfold.conf
elif ! getent passwd urlfold >/dev/null 2>&1; then
  if command -v useradd >/dev/null 2>&1; then
    useradd --system --user-group --home-dir /var/lib/urlfold --no-create-home --shell /usr/sbin/nologin urlfold
  else # Alpine
    addgroup -S urlfold
    adduser -S -D -H -h /var/lib/urlfold -s /sbin/nologin -G urlfold urlfold
  fi
fi
chown root:urlfold /etc/urlfold /etc/urlfold/urlfold.yaml
chmod 750 /etc/urlfold
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  systemctl try-restart urlfold.service
fi
