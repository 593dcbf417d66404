package deploy

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// archiveOf returns a tar.gz with a program, as a release has it.
func archiveOf(t *testing.T, program string) []byte {
	t.Helper()
	var b bytes.Buffer
	zw := gzip.NewWriter(&b)
	tw := tar.NewWriter(zw)
	for name, mode := range map[string]int64{"urlfold": 0o755, "LICENSE": 0o644} {
		if err := tw.WriteHeader(&tar.Header{Name: name, Mode: mode, Size: int64(len(program))}); err != nil {
			t.Fatal(err)
		}
		if _, err := tw.Write([]byte(program)); err != nil {
			t.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zw.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestInstallScript checks that install.sh installs what the checksums list, and nothing
// if the archive differs, is absent or cannot be had.
func TestInstallScript(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("install.sh is tested on Linux only")
	}
	folder := fmt.Sprintf("urlfold_0.1.0_linux_%s", runtime.GOARCH)
	archive := archiveOf(t, "#!/bin/sh\necho urlfold version 0.1.0 of a test\n")
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	for name, c := range map[string]struct {
		checksums, version string
		want               string // in the output
		fails              bool
	}{
		"latest":          {sum + "  " + folder + ".tar.gz\n", "", "installed urlfold version 0.1.0 of a test in ", false},
		"a version":       {sum + "  " + folder + ".tar.gz\n", "0.1.0", "installed urlfold version 0.1.0 of a test in ", false},
		"another archive": {strings.Repeat("0", 64) + "  " + folder + ".tar.gz\n", "", "nothing was installed", true},
		"another system":  {sum + "  urlfold_0.1.0_plan9_amd64.tar.gz\n", "", "has no archive for linux/", true},
		"no release":      {"", "", "cannot download ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				from := "/latest/download/"
				if c.version != "" {
					from = "/download/v" + c.version + "/"
				}
				switch {
				case r.URL.Path == from+"checksums.txt" && c.checksums != "":
					_, _ = io.WriteString(w, c.checksums)
				case r.URL.Path == from+folder+".tar.gz":
					_, _ = w.Write(archive)
				default:
					http.NotFound(w, r)
				}
			}))
			defer server.Close()
			bin := filepath.Join(t.TempDir(), "new", "bin")
			cmd := exec.Command("sh", "release/install.sh")
			cmd.Env = append(os.Environ(), "URLFOLD_BASE="+server.URL, "URLFOLD_BIN="+bin, "URLFOLD_VERSION="+c.version)
			out, err := cmd.CombinedOutput()
			_, statErr := os.Stat(filepath.Join(bin, "urlfold"))
			if (err != nil) != c.fails || (statErr != nil) != c.fails || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, %v\n%s", err, statErr, out)
			}
		})
	}
}
