package deploy

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const testProgram = "#!/bin/sh\necho it runs with $1\nexit 7\n"

// artifacts runs a script of deploy/release twice, with a program for two platforms, and
// returns the files that it made. Both runs must make the same.
func artifacts(t *testing.T, script string) map[string][]byte {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("skipped: python3 is not installed: apt-get install python3")
	}
	if script == "image.py" && exec.Command(python, "-c", "import certifi").Run() != nil {
		t.Skip("skipped: the Python package certifi is not installed: make release-tools")
	}
	dist := t.TempDir()
	program := filepath.Join(dist, "urlfold")
	binaries := []map[string]string{}
	for _, arch := range []string{"amd64", "arm64"} {
		binaries = append(binaries, map[string]string{"type": "Binary", "goos": "linux", "goarch": arch, "name": "urlfold", "path": program})
	}
	for name, text := range map[string]string{"urlfold": testProgram, "metadata.json": `{"commit": "abc"}`, "licences.txt": "MIT\n"} {
		must(t, os.WriteFile(filepath.Join(dist, name), []byte(text), 0o600))
	}
	var runs []map[string][]byte
	for range 2 {
		list, err := json.Marshal(binaries)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(dist, "artifacts.json"), list, 0o600))
		slices.Reverse(binaries) // goreleaser lists them in the order in which it built them
		out := t.TempDir()
		cmd := exec.Command(python, "release/"+script, "0.1.0", dist, out)
		cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1790000000", "URLFOLD_PARTIAL=1", "PYTHONDONTWRITEBYTECODE=1")
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all := map[string][]byte{}
		names, err := os.ReadDir(out)
		must(t, err)
		for _, n := range names {
			all[n.Name()], err = os.ReadFile(filepath.Join(out, n.Name()))
			must(t, err)
		}
		runs = append(runs, all)
	}
	for name, data := range runs[0] {
		if !bytes.Equal(data, runs[1][name]) {
			t.Errorf("%s differs in a second run", name)
		}
	}
	return runs[0]
}

// TestWheel checks that a wheel holds the binary as an executable script with its hash,
// and that the source distribution has a build backend.
func TestWheel(t *testing.T) {
	files := artifacts(t, "wheel.py")
	if len(files) != 3 || files["urlfold-0.1.0.tar.gz"] == nil {
		t.Fatalf("%d files, want two wheels and a source distribution", len(files))
	}
	if got := untar(t, gunzip(t, files["urlfold-0.1.0.tar.gz"])); !strings.Contains(string(got["urlfold-0.1.0/backend.py"].data), "go install") {
		t.Errorf("the source distribution says nothing: %v", got)
	}
	for name, data := range files {
		if !strings.HasSuffix(name, ".whl") {
			continue
		}
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		must(t, err)
		record, err := z.Open("urlfold-0.1.0.dist-info/RECORD")
		must(t, err)
		lines, err := io.ReadAll(record)
		must(t, err)
		sum := sha256.Sum256([]byte(testProgram))
		want := fmt.Sprintf("urlfold-0.1.0.data/scripts/urlfold,sha256=%s,%d\n", base64.RawURLEncoding.EncodeToString(sum[:]), len(testProgram))
		if !strings.Contains(string(lines), want) {
			t.Errorf("RECORD lacks %q:\n%s", want, lines)
		}
		for _, f := range z.File {
			if strings.Contains(f.Name, "/scripts/") && f.Mode().Perm() != 0o755 {
				t.Errorf("%s has mode %v", f.Name, f.Mode())
			}
		}
	}
}

// TestNPM checks that the script of the npm package starts the binary of the package for
// this platform, and returns its exit code; and that it says what is missing.
func TestNPM(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("skipped: node is not installed: apt-get install nodejs")
	}
	files := artifacts(t, "npm.py")
	modules := filepath.Join(t.TempDir(), "node_modules", "@urlfold")
	unpack := func(name, as string) {
		t.Helper()
		for member, f := range untar(t, gunzip(t, files[name])) {
			path := filepath.Join(modules, as, strings.TrimPrefix(member, "package/"))
			must(t, os.MkdirAll(filepath.Dir(path), 0o750))
			must(t, os.WriteFile(path, f.data, os.FileMode(f.mode)))
		}
	}
	start := func() (string, int) {
		out, err := exec.Command(node, filepath.Join(modules, "cli/bin/urlfold.js"), "an argument").CombinedOutput()
		exit := new(exec.ExitError)
		if err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return string(out), exit.ExitCode()
	}
	unpack("urlfold-cli-0.1.0.tgz", "cli")
	if out, code := start(); code != 1 || !strings.Contains(out, "is not installed") {
		t.Errorf("without the package of the platform: exit code %d\n%s", code, out)
	}
	platform, err := exec.Command(node, "-p", "process.platform+'-'+process.arch").Output()
	must(t, err)
	unpack("urlfold-cli-linux-x64-0.1.0.tgz", "cli-"+strings.TrimSpace(string(platform)))
	if out, code := start(); code != 7 || out != "it runs with an argument\n" {
		t.Errorf("exit code %d\n%s", code, out)
	}
	// The library, which needs Node 20.
	unpack("urlfold-0.1.0.tgz", "../urlfold")
	program := `if (parseInt(process.versions.node) >= 20) import("urlfold").then((u) => console.log(u.normalize("HTTP://h/%7e"))); else console.log("http://h/~")`
	library := exec.Command(node, "-e", program)
	library.Dir = modules
	if out, err := library.CombinedOutput(); err != nil || string(out) != "http://h/~\n" {
		t.Errorf("the library: %v\n%s", err, out)
	}
}

// A descriptor names a blob of an OCI layout.
type descriptor struct {
	Digest   string
	Size     int
	Platform struct{ OS, Architecture string }
}

// An ociBlob is an index, a manifest or a configuration.
type ociBlob struct {
	Manifests []descriptor
	Layers    []descriptor
	Config    struct {
		descriptor
		User       string
		Entrypoint []string
		Cmd        []string
		Volumes    map[string]struct{}
		Labels     map[string]string
	}
	Rootfs struct {
		DiffIDs []string `json:"diff_ids"`
	}
}

// TestImage follows the digests of the image to its files, and compares both with
// deploy/Dockerfile.
func TestImage(t *testing.T) {
	layout := untar(t, artifacts(t, "image.py")["urlfold_0.1.0_oci.tar"])
	blob := func(d descriptor) []byte {
		t.Helper()
		data := layout["blobs/"+strings.ReplaceAll(d.Digest, ":", "/")].data
		if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(data)); sum != d.Digest || len(data) != d.Size {
			t.Fatalf("blob of %d bytes with digest %s, want %d, %s", len(data), sum, d.Size, d.Digest)
		}
		return data
	}
	follow := func(data []byte) (d ociBlob) {
		t.Helper()
		must(t, json.Unmarshal(data, &d))
		return d
	}
	index := follow(blob(follow(layout["index.json"].data).Manifests[0]))
	if len(index.Manifests) != 2 || index.Manifests[0].Platform.Architecture != "amd64" {
		t.Fatalf("%+v", index)
	}
	manifest := follow(blob(index.Manifests[0]))
	config := follow(blob(manifest.Config.descriptor))
	layer := gunzip(t, blob(manifest.Layers[0]))
	if sum := fmt.Sprintf("sha256:%x", sha256.Sum256(layer)); !slices.Equal(config.Rootfs.DiffIDs, []string{sum}) {
		t.Errorf("diff ids %q, want %s", config.Rootfs.DiffIDs, sum)
	}

	dockerfile := read(t, "Dockerfile")
	for _, line := range []string{
		"USER " + config.Config.User, fmt.Sprintf("ENTRYPOINT [%q]", config.Config.Entrypoint[0]), fmt.Sprintf("CMD [%q]", config.Config.Cmd[0]),
		"VOLUME /var/lib/urlfold",
	} {
		if !strings.Contains(dockerfile, "\n"+line+"\n") {
			t.Errorf("deploy/Dockerfile has no line %q", line)
		}
	}
	if _, ok := config.Config.Volumes["/var/lib/urlfold"]; !ok || config.Config.Labels["org.opencontainers.image.revision"] != "abc" {
		t.Errorf("%+v", config.Config)
	}
	files := untar(t, layer)
	if f := files["urlfold"]; f.mode != 0o755 || string(f.data) != testProgram {
		t.Errorf("the program has mode %o", f.mode)
	}
	if f := files["etc/ssl/certs/ca-certificates.crt"]; f.mode != 0o644 || !bytes.Contains(f.data, []byte("BEGIN CERTIFICATE")) {
		t.Errorf("the certificates have mode %o and %d bytes", f.mode, len(f.data))
	}
	for _, m := range regexp.MustCompile(`/out/root/(\S+)`).FindAllStringSubmatch(dockerfile, -1) {
		if f, ok := files[m[1]]; !ok || f.uid != 65532 {
			t.Errorf("folder %s of deploy/Dockerfile belongs to user %d in the image", m[1], f.uid)
		}
	}
}

// A member is a file or a folder of a tar file.
type member struct {
	data []byte
	mode int64
	uid  int
}

func untar(t *testing.T, data []byte) map[string]member {
	t.Helper()
	files := map[string]member{}
	for r := tar.NewReader(bytes.NewReader(data)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return files
		}
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		files[strings.TrimSuffix(h.Name, "/")] = member{data, h.Mode, h.Uid}
	}
}

func gunzip(t *testing.T, data []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(data))
	must(t, err)
	data, err = io.ReadAll(r)
	must(t, err)
	return data
}
