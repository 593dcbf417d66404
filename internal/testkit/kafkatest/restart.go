package kafkatest

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/urlfold/urlfold/config/connect"
)

// Restartable starts a broker in this process that keeps its data. restart
// stops it and starts it again at the same address.
func Restartable(t testing.TB, opts ...kfake.Opt) (conn connect.Kafka, restart func()) {
	t.Helper()
	opts = append(opts, kfake.DataDir(t.TempDir()))
	c, conn := Fake(t, opts...)
	_, port, err := net.SplitHostPort(conn.Brokers[0])
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	return conn, func() {
		t.Helper()
		c.Close()
		Until(t, "the port is free again", func() bool {
			l, err := net.Listen("tcp", conn.Brokers[0])
			return err == nil && l.Close() == nil
		})
		c, _ = Fake(t, append(opts, kfake.Ports(n))...)
	}
}

// RestartableReal starts a real broker for this test. restart kills it and
// starts it again with its data. That takes minutes on a busy machine, so it
// skips the test unless RealBroker is set and Long is 1.
func RestartableReal(t testing.TB) (conn connect.Kafka, restart func()) {
	t.Helper()
	run := script(t)
	return Connection(run("start")), func() { run("restart") }
}

// RealNodes starts a real controller, which is the broker 1 and keeps the offsets of
// groups, and the brokers 2 and 3. kill kills one of these two, and join starts it
// again with its data. It skips the test as RestartableReal does.
func RealNodes(t testing.TB) (conn connect.Kafka, kill, join func(broker string)) {
	t.Helper()
	run := script(t)
	conn = Connection(run("start"))
	CreateTopic(t, conn, "first", 1, nil)
	Committed(t, conn, "g", "first", 1) // creates the topic of the offsets
	conn.Brokers = append(conn.Brokers, run("join", "2"), run("join", "3"))
	return conn, func(broker string) { run("kill", broker) }, func(broker string) { run("join", broker) }
}

// script returns a function that runs .ci/kafka with a broker of this test.
func script(t testing.TB) func(args ...string) (output string) {
	t.Helper()
	Real(t)
	if os.Getenv(Long) != "1" {
		t.Skip("skipped: kills a real broker, which takes minutes; set " + Long + "=1")
	}
	dir := t.TempDir()
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(filepath.Join(moduleRoot(t), ".ci", "kafka"), args...)
		cmd.Env = append(os.Environ(), "URLFOLD_KAFKA_RUN="+filepath.Join(dir, "run"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf(".ci/kafka %s: %v", strings.Join(args, " "), err)
		}
		return strings.TrimSpace(string(out))
	}
	t.Cleanup(func() { run("stop") })
	return run
}

// moduleRoot returns the folder of the go.mod file that applies to the test.
func moduleRoot(t testing.TB) string {
	t.Helper()
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}
