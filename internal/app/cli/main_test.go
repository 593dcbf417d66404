package cli

import (
	"archive/zip"
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/urlfold/urlfold/internal/app/daemon"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

var update = flag.Bool("update", false, "write what the program does into the scripts (with -run TestScript)")

// TestMain makes this test binary the program itself, when a script or another
// test runs it under its name.
func TestMain(m *testing.M) {
	programs["urlfold"] = func() {
		c, err := daemon.NewCatalog(nil, nil)
		if err != nil {
			panic(err)
		}
		os.Exit(Run(c, os.Args[1:], os.Stderr))
	}
	testscript.Main(m, programs)
}

// programs are those that tests start, by name. Each is the test binary itself.
var programs = map[string]func(){}

// TestScript runs the program as its user does, by testdata/script.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: *update,
		Setup: func(e *testscript.Env) error {
			e.Setenv("LANG", "C.UTF-8")
			e.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"pack":    cmdPack,
			"unpack":  cmdUnpack,
			"zip":     cmdZip,
			"first":   cmdFirst,
			"bytes":   cmdBytes,
			"repeat":  cmdRepeat,
			"exits":   cmdExits,
			"flip":    cmdFlip,
			"parquet": cmdParquet,
			"avro":    cmdAvro,
			"unavro":  cmdUnavro,
		},
	})
}

// cmdPack appends a file, compressed as one member, to another one:
// pack FORMAT FROM TO.
func cmdPack(ts *testscript.TestScript, _ bool, args []string) {
	format, _, err := compress.ParseFormat(args[0], "")
	ts.Check(err)
	pack, err := compress.NewPack(format, map[compress.Format]int{compress.Gzip: 4, compress.Zstd: 1}[format])
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[2]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	_, err = f.Write(pack(nil, []byte(ts.ReadFile(args[1]))))
	ts.Check(err)
	ts.Check(f.Close())
}

// cmdZip writes a zip archive of files, some under other names: zip ARCHIVE [NAME=]FILE...
func cmdZip(ts *testscript.TestScript, _ bool, args []string) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, arg := range args[1:] {
		name, from, named := strings.Cut(arg, "=")
		if !named {
			from = name
		}
		w, err := z.Create(name)
		ts.Check(err)
		_, err = w.Write([]byte(ts.ReadFile(from)))
		ts.Check(err)
	}
	ts.Check(z.Close())
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), b.Bytes(), 0o666))
}

// cmdUnpack decompresses a file of a certain format, and fails if it is damaged:
// unpack FORMAT FROM TO.
func cmdUnpack(ts *testscript.TestScript, _ bool, args []string) {
	r := compress.NewReader(bytes.NewReader([]byte(ts.ReadFile(args[1]))), compress.Options{})
	text, err := io.ReadAll(r)
	ts.Check(err)
	if v := r.Verdict(); v.Kind != compress.OK || r.Format().String() != args[0] {
		ts.Fatalf("%s: %v, %v", args[1], r.Format(), v)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), text, 0o666))
}

// cmdFirst copies the first N bytes of a file: first N FROM TO.
func cmdFirst(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[2]), []byte(ts.ReadFile(args[1]))[:n], 0o666))
}

// cmdBytes writes a Go string, without quotes, to a file: bytes TEXT TO. It is
// for what a script cannot hold.
func cmdBytes(ts *testscript.TestScript, _ bool, args []string) {
	text, err := strconv.Unquote(`"` + args[0] + `"`)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), []byte(text), 0o666))
}

// cmdRepeat appends a Go string, without quotes, to a file, N times: repeat N TEXT
// TO.
func cmdRepeat(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	text, err := strconv.Unquote(`"` + args[1] + `"`)
	ts.Check(err)
	f, err := os.OpenFile(ts.MkAbs(args[2]), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	ts.Check(err)
	_, err = f.WriteString(strings.Repeat(text, n))
	ts.Check(err)
	ts.Check(f.Close())
}

// cmdExits runs a program that must end with this exit code:
// exits CODE PROGRAM ARGUMENT...
func cmdExits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	var e *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &e) {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}

// cmdFlip flips a bit of a byte of a file, the N-th from its end: flip N FILE.
func cmdFlip(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	data := []byte(ts.ReadFile(args[1]))
	data[len(data)-n] ^= 1
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), data, 0o666))
}

// corpora returns the folder of public test material, or skips the test.
func corpora(t *testing.T, path ...string) string {
	t.Helper()
	root := os.Getenv("URLFOLD_CORPORA")
	if root == "" {
		t.Skip("skipped: the run over real access logs; set URLFOLD_CORPORA to the folder of the corpora")
	}
	return filepath.Join(append([]string{root}, path...)...)
}
