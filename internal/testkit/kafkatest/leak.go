package kafkatest

import (
	"bytes"
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"
)

// Main runs the tests of a package, and returns the exit code for its TestMain. It is
// a failure if a client is still open after them: each one keeps searching for its
// brokers, and a few hundred of them leave no time for anything else.
func Main(m *testing.M, stderr io.Writer) int {
	code := m.Run()
	if code != 0 {
		return code
	}
	open := openClients()
	for end := time.Now().Add(10 * time.Second); open > 0 && time.Now().Before(end); open = openClients() {
		<-time.After(10 * time.Millisecond)
	}
	if open == 0 {
		return 0
	}
	_, _ = fmt.Fprintf(stderr, "FAIL: %d clients of the library kafka-go are still open after all tests\n", open)
	return 1
}

// openClients returns the number of pools of connections of the library kafka-go. Each
// has a goroutine that searches for brokers.
func openClients() int {
	stacks := make([]byte, 1<<20)
	for {
		n := runtime.Stack(stacks, true)
		if n < len(stacks) {
			return bytes.Count(stacks[:n], []byte("kafka-go.(*connPool).discover("))
		}
		stacks = make([]byte, 2*len(stacks))
	}
}
