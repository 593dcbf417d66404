package daemon

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// The error of a run contains no secrets, even if the system repeats them.
func TestRunMasked(t *testing.T) {
	t.Chdir(t.TempDir())
	f, err := loaded(t, "discard: {}", `kafka: {brokers: ["127.0.0.1:1"], topic: t, tls: {ca_file: none/hunter2.pem}, sasl: {mechanism: PLAIN, username: u, password: hunter2}}
data_dir: state
admin: {listen: ""}`)
	if err != nil {
		t.Fatal(err)
	}
	d, err := testCatalog(t).New(f, Options{UntilEOF: true, Log: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	err = d.Run(context.Background())
	if !errors.Is(err, fs.ErrNotExist) || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), "none/***.pem") {
		t.Error(err)
	}
}
