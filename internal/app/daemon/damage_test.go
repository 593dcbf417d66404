package daemon

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A damaged checkpoint has several problems. All of them are logged, although
// they are the same event: the last one says what is read again.
func TestCheckpointDamage(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("state", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"checkpoint", "checkpoint.log"} {
		if err := os.WriteFile(filepath.Join("state", name), []byte(strings.Repeat("damaged ", 40)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := loaded(t, "version: 1\n", "version: 1\ndata_dir: state\n")
	if err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	d, err := testCatalog(t).New(f, Options{Log: &log})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(log.String(), "all inputs are read again") {
		t.Errorf("logged:\n%s", log.String())
	}
}
