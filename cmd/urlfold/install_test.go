package main

import (
	"archive/zip"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestInstall installs a version of the program as users do, with go install
// PATH@VERSION, in a new module cache and without a network. The version is this
// tree, in a file proxy of the test; the dependencies come from the module cache,
// which is a file proxy, too. It fails if go.mod has a replace directive, which
// go install refuses, or if the program needs a file of a nested module.
func TestInstall(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: compiles the program; run without -short")
	}
	const module, version = "github.com/urlfold/urlfold", "v0.0.1"
	root := filepath.Join("..", "..")
	proxy, cache, bin := t.TempDir(), t.TempDir(), t.TempDir()
	dir := filepath.Join(proxy, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"list": version + "\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(mod),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := zipModule(filepath.Join(dir, version+".zip"), root, module+"@"+version); err != nil {
		t.Fatal(err)
	}
	goCommand := func(env []string, args ...string) string {
		t.Helper()
		cmd := exec.Command("go", args...)
		cmd.Dir = t.TempDir() // outside any module
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return strings.TrimSpace(string(out))
	}
	ours := goCommand(nil, "env", "GOMODCACHE")
	goCommand([]string{
		"GOPROXY=" + fileURL(proxy) + "," + fileURL(filepath.Join(ours, "cache", "download")), "GOSUMDB=off", "GONOPROXY=none", "GOWORK=off",
		"GOTOOLCHAIN=local", "GOMODCACHE=" + cache, "GOBIN=" + bin, "GOFLAGS=-modcacherw -trimpath",
	}, "install", module+"/cmd/urlfold@"+version)
	name := filepath.Join(bin, "urlfold")
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	out, err := exec.Command(name, "--version").CombinedOutput()
	if err != nil || !strings.Contains(string(out), version) {
		t.Errorf("the installed program prints %q, %v, want version %s", out, err, version)
	}
}

// fileURL returns the URL of a folder.
func fileURL(dir string) string {
	return "file://" + filepath.ToSlash(filepath.Join(string(filepath.Separator), dir))
}

// zipModule writes the files of the module in root as a proxy provides them:
// without nested modules.
func zipModule(path, root, prefix string) (err error) {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z := zip.NewWriter(f)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			_, err := os.Stat(filepath.Join(path, "go.mod"))
			if path != root && err == nil || d.Name() == ".git" {
				return filepath.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() || d.Name() == ".git" { // a file in a worktree
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		w, err := z.Create(prefix + "/" + filepath.ToSlash(rel))
		if err != nil {
			return err
		}
		_, err = w.Write(text)
		return err
	})
	return errors.Join(err, z.Close(), f.Close())
}
