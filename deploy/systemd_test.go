package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const unit = "systemd/urlfold.service"

// settings returns the settings of a unit, by section and name; one that is given
// several times has several values.
func settings(t *testing.T, text string) map[string][]string {
	t.Helper()
	all, section := map[string][]string{}, ""
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '[':
			section = strings.Trim(line, "[]") + "."
		default:
			k, v, ok := strings.Cut(line, "=")
			if !ok || section == "" {
				t.Fatalf("line %d: %q", n+1, line)
			}
			all[section+k] = append(all[section+k], v)
		}
	}
	return all
}

// The unit asks for what the daemon does (readiness, reloads, a watchdog), gives it
// the folders that it needs, and takes from it what it does not.
func TestUnit(t *testing.T) {
	s := settings(t, read(t, unit))
	f := func(key string, want ...string) {
		t.Helper()
		if !slices.Equal(s[key], want) {
			t.Errorf("%s: %q, want %q", key, s[key], want)
		}
	}
	f("Service.Type", "notify")
	f("Service.NotifyAccess", "main")
	f("Service.ExecStart", "/usr/local/bin/urlfold run -c /etc/urlfold/urlfold.yaml")
	f("Service.Restart", "on-failure")
	f("Service.ExecReload", "/usr/local/bin/urlfold check -c /etc/urlfold/urlfold.yaml", "/bin/kill -HUP $MAINPID")
	f("Service.RestartPreventExitStatus", "78 4")
	f("Service.User", "urlfold")
	f("Service.StateDirectory", "urlfold")
	f("Service.RuntimeDirectory", "urlfold")
	f("Service.CapabilityBoundingSet", "")
	f("Service.SystemCallFilter", "@system-service", "~@privileged @resources")
	f("Service.ProtectSystem", "strict")
	for _, key := range []string{
		"NoNewPrivileges", "ProtectHome", "PrivateTmp", "PrivateDevices", "PrivateUsers", "ProtectClock", "ProtectHostname",
		"ProtectKernelLogs", "ProtectKernelModules", "ProtectKernelTunables", "ProtectControlGroups", "RestrictNamespaces",
		"RestrictRealtime", "RestrictSUIDSGID", "LockPersonality", "MemoryDenyWriteExecute",
	} {
		f("Service."+key, "yes")
	}
	f("Unit.StartLimitIntervalSec", "0")
	f("Install.WantedBy", "multi-user.target")
	watchdog, err := time.ParseDuration(strings.Join(s["Service.WatchdogSec"], ""))
	if err != nil || watchdog < 30*time.Second {
		t.Errorf("WatchdogSec: %v, %v", watchdog, err)
	}
	// The daemon has 30 s by default, and ends by itself after them.
	stop, err := time.ParseDuration(strings.Join(s["Service.TimeoutStopSec"], ""))
	if err != nil || stop <= 30*time.Second {
		t.Errorf("TimeoutStopSec: %v, %v", stop, err)
	}
}

// The folder of the unit is the default of data_dir.
func TestUnitStateDirectory(t *testing.T) {
	config := filepath.Join(t.TempDir(), "urlfold.yaml")
	write(t, config, "sources: [{file: {from: lines, include: [/x]}}]\nsinks: [{discard: {}}]\n")
	if out := run(t, nil, "check", "-c", config, "--show"); !strings.Contains(out, "data_dir: \"/var/lib/urlfold\"\n") {
		t.Errorf("the defaults are\n%s", out)
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// systemd itself has nothing to say about the unit.
func TestUnitVerify(t *testing.T) {
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("skipped: the check of the unit by systemd; it needs the program systemd-analyze")
	}
	// systemd checks that the program exists, so the unit must name a
	// program that does.
	text := strings.ReplaceAll(read(t, unit), "/usr/local/bin/urlfold", binary)
	name := filepath.Join(t.TempDir(), "urlfold.service")
	write(t, name, text)
	out, err := exec.Command(tool, "verify", name).CombinedOutput()
	t.Logf("%v\n%s", err, out)
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "urlfold.service") {
			t.Error(strings.TrimSpace(line))
		}
	}
}
