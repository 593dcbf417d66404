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

// TestInstallScript checks that install.sh installs what the checksums list, installs
// nothing if the archive differs, is absent or cannot be had, and fails if it cannot write
// the program.
func TestInstallScript(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		t.Skip("install.sh is tested on Linux only")
	}
	folder := fmt.Sprintf("urlfold_0.1.0_linux_%s", runtime.GOARCH)
	archive := archiveOf(t, "#!/bin/sh\necho urlfold version 0.1.0 of a test\n")
	sum := fmt.Sprintf("%x", sha256.Sum256(archive))
	whole := sum + "  " + folder + ".tar.gz\n"
	for name, c := range map[string]struct {
		checksums, version string
		below              string // a folder that exists below URLFOLD_BIN
		want               string // in the output
		fails              bool
	}{
		"latest":                {whole, "", "", "installed urlfold version 0.1.0 of a test in ", false},
		"a version":             {whole, "0.1.0", "", "installed urlfold version 0.1.0 of a test in ", false},
		"a version as a tag":    {whole, "v0.1.0", "", "installed urlfold version 0.1.0 of a test in ", false},
		"another archive":       {strings.Repeat("0", 64) + whole[64:], "", "", "nothing was installed", true},
		"another system":        {sum + "  urlfold_0.1.0_plan9_amd64.tar.gz\n", "", "", "has no archive for linux/", true},
		"no release":            {"", "", "", "cannot download ", true},
		"a folder in its place": {whole, "", "urlfold", "cannot write ", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				from := "/latest/download/"
				if c.version != "" {
					from = "/download/v0.1.0/"
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
			if c.below != "" {
				must(t, os.MkdirAll(filepath.Join(bin, c.below), 0o755))
			}
			cmd := exec.Command("sh", "release/install.sh")
			cmd.Env = append(os.Environ(), "URLFOLD_BASE="+server.URL, "URLFOLD_BIN="+bin, "URLFOLD_VERSION="+c.version)
			out, err := cmd.CombinedOutput()
			info, statErr := os.Stat(filepath.Join(bin, "urlfold"))
			if installed := statErr == nil && info.Mode().IsRegular(); (err != nil) != c.fails || installed == c.fails || !strings.Contains(string(out), c.want) {
				t.Errorf("%v, %v\n%s", err, statErr, out)
			}
		})
	}
}
