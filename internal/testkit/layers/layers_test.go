package layers

// This file is structured in the following way:
//
//   - The table: rules.
//   - The checker: from a table and a list of packages to a list of complaints.
//   - TestLayers, which gives the checker this module, and TestCheck, which
//     shows on a module that was made up that the checker can fail.

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/urlfold/urlfold"

// A rule forbids imports of non-test code. Only direct ones count, since what a
// dependency does inside is its own affair, unless the rule is deep: then all
// count that are linked with the package, as go list -deps gives them.
//
// Packages are named by patterns. "./x" is a package of this module, "x" one
// of the standard library or of another module. "x/..." is x and all below it,
// "x/*" all below x without x itself.
type rule struct {
	from   []string // the packages that are spoken of
	except []string // and those of them that are not
	deny   []string // what they do not import
	deep   bool     // nor link
	why    string
}

// Groups of packages, in the order of the arrow
//
//	cmd -> sources, sinks -> sources/*, sinks/* -> pipeline -> codec/record -> codec/surt, codec/iri -> codec -> codec/percent, codec/idna, codec/psl, codec/params, codec/template
var (
	// What package codec stands on: escapes, host labels, public suffixes, and
	// parameters by policy. They know no URL, only the part of one that they are
	// given, so that each can be tested and fuzzed alone; codec/params and
	// codec/template alone use another of them, codec/percent, for escapes.
	leaves = []string{"./codec/percent", "./codec/idna", "./codec/psl", "./codec/params", "./codec/template"}
	// Forms of a URL that nothing in package codec needs.
	forms      = []string{"./codec/surt", "./codec/iri"}
	components = []string{"./sources/...", "./sinks/..."}
	clients    = []string{"./internal/client/kafka/...", "./internal/client/nats/..."}

	// The program without its main function, so that somebody else's main can run
	// it with sources, sinks and formats of their own.
	program = []string{"./internal/daemon", "./internal/cli"}

	// What reads a configuration. Package config/field is not part of it: it holds
	// the types of values, which components use in their structs.
	reader = []string{"./config", "./config/internal/..."}

	kafkaClient = "github.com/segmentio/kafka-go/..."
	natsClient  = "github.com/nats-io/nats.go/..."
)

var rules = []rule{
	// Nothing points left.
	{
		from: leaves,
		deny: join("./codec", forms, "./codec/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "the tables, the host labels and the parameters are the floor: everything else stands on them",
	},
	{
		from: join("./codec/percent", "./codec/idna", "./codec/psl"),
		deny: leaves,
		why:  "a table answers alone: what it says of bytes is not to change with another one",
	},
	{
		from: join("./codec/psl"),
		deny: join("fmt", "strconv", "reflect", "unsafe", "github.com/...", "golang.org/..."),
		why:  "a look-up in a list needs nothing: the package that was here before brought net/http along",
	},
	{
		from: join("./codec"),
		deny: join(forms, "./codec/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a crawler imports the codec alone: a URL does not know in what record it was found",
	},
	{
		from: join(forms),
		deny: join(forms, "./codec/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a form of a URL is written from its exported parts, so that package codec need not know it",
	},
	{
		from: join("./codec/record/..."),
		deny: join("./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a record format is bytes in, offsets out: batches and lanes are the concern of who calls it",
	},
	{
		from: join("./pipeline/..."),
		deny: join(components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "the pipeline is the flow and nothing else: it knows no source, no sink and no client library",
	},
	{
		from: join("./sources/*"),
		deny: join("./sources", "./sinks/...", reader, "./cmd/..."),
		why:  "a source knows neither sinks nor the switchboard that names it: a new one is one folder and one line",
	},
	{
		from: join("./sinks/*"),
		deny: join("./sinks", "./sources/...", reader, "./cmd/..."),
		why:  "a sink knows neither sources nor the switchboard that names it: a new one is one folder and one line",
	},
	{
		from: join("./sources"),
		deny: join("./sinks/...", "./cmd/..."),
		why:  "the two switchboards meet only in the program",
	},
	{
		from: join("./sinks"),
		deny: join("./sources/...", "./cmd/..."),
		why:  "the two switchboards meet only in the program",
	},
	{
		from: join("./config/field"),
		deny: join("./...", "github.com/...", "golang.org/...", "net/...", "os/..."),
		why:  "a component that somebody writes outside this module needs the types of values and nothing that comes with them",
	},
	{
		from: join("./config/connect"),
		deny: join("./config", components, "./pipeline/...", "./codec/...", "./internal/...", "./cmd/...", "crypto/...", "os/..."),
		why:  "settings of connections are data: clients open files and connections",
	},
	{
		from:   join("./config/..."),
		except: join("./config/app"), // the entry point of programs: it knows everything
		deny:   join(components, "./pipeline/...", "./codec/record/...", clients, "./internal/storage/compress/...", "./cmd/..."),
		why:    "the configuration is an envelope: it knows the codec, and each component owns the struct that it is configured with",
	},
	{
		from:   join("./..."),
		except: join("./cmd/...", "./config/...", program),
		deny:   reader,
		why:    "what a user wrote is read in one place: everything below gets values",
	},
	{
		from:   join("./internal/..."),
		except: program,
		deny:   join(components, "./cmd/..."),
		why:    "helpers are called by components and by the program, and call neither",
	},
	{
		from:   join("./..."),
		except: join(program, "./config/app", "./cmd/..."),
		deny:   program,
		why:    "the program is the top: it knows all parts, and no part knows it",
	},

	// The codec is pure.
	{
		from: join("./codec/..."),
		deny: join("os/...", "io/fs", "io/ioutil", "net/...", "syscall", "plugin", "embed"),
		why:  "the codec does no I/O: no file and no network can change what a URL means",
	},
	{
		from: join("./codec/..."),
		deny: join("time/...", "sync/...", "context", "math/rand/...", "crypto/rand", "hash/maphash"),
		why:  "the codec has no clock, no lock, no goroutine and no chance: the same bytes give the same key, for ever and everywhere",
	},
	{
		from: join("./codec/..."),
		deny: join("log/...", "expvar", "flag"),
		why:  "the codec reports by its results: URLs hold passwords, so nothing here may log one",
	},
	{
		from: join("./codec/..."),
		deny: join("regexp/...", "text/template/...", "html/template"),
		why:  "grammars are tables and loops here: a regexp per URL is what made others slow",
	},
	{
		from: join("./codec/..."),
		deny: join("github.com/spf13/cobra/...", "github.com/klauspost/compress/...", "github.com/schollz/progressbar/v3/...",
			"github.com/bmatcuk/doublestar/v4/...", "golang.org/x/term/..."),
		why: "who imports the codec gets a hash and host tables with it, and nothing of the program",
	},
	{
		from:   join("./codec/..."),
		except: join("./codec/internal/scan"),
		deny:   join("golang.org/x/sys/..."),
		why:    "one package asks which instructions the processor has",
	},

	// And so is what it brings along. Package fmt needs os, time and syscall, so
	// those are not here.
	{
		from: join("./codec/..."),
		deny: join("net/...", "crypto/tls/...", "crypto/x509/...", "mime/..."),
		deep: true,
		why:  "no network, ever, is a promise: who links the codec does not get the code for one, not even unused, from any dependency",
	},
	{
		from: join("./codec/..."),
		deny: join("os/exec", "os/signal", "os/user", "plugin", "runtime/cgo", "log/..."),
		deep: true,
		why:  "the codec starts nothing, loads nothing and logs nothing, and nothing that it uses may do so for it",
	},

	{
		from: join("./config/app", "./cmd/urlfold"),
		deny: join("./internal/testkit/..."),
		deep: true,
		why:  "what stands in for a server in a test is not part of the program",
	},

	// Each library has one home.
	{
		from: join("./internal/storage/inflate"),
		deny: join("./codec/...", "./pipeline/...", "./internal/storage/compress/...", "github.com/...", "compress/flate"),
		why:  "what other decoders are compared with decodes everything itself",
	},
	{
		from:   join("./..."),
		except: join("./internal/client/kafka", "./internal/testkit/kafkatest"), // the stand-in makes topics
		deny:   join(kafkaClient),
		why:    "the client is replaceable only while one package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/client/nats", "./internal/testkit/natsserver"), // a program of its own, which makes streams
		deny:   join(natsClient),
		why:    "the client is replaceable only while one package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/storage/compress/...", "./internal/testkit/chaos", "./cmd/urlfold-chaos"), // which writes what other programs would have, and does not trust what it tests
		deny: join("github.com/klauspost/compress/...", "github.com/pierrec/lz4/v4/...", "github.com/ulikunitz/xz/...",
			"compress/gzip", "compress/bzip2", "compress/flate", "compress/zlib", "compress/lzw"),
		why: "limits, verdicts and the magic table hold only if every stream passes internal/storage/compress",
	},
	{
		from: join("./internal/explain"),
		deny: join("./codec/record/...", "./pipeline/...", "./internal/storage/compress/...", clients),
		why:  "it explains one URL, which has neither a record nor a lane around it",
	},
	{
		from: join("./internal/keydiff"),
		deny: join("./internal/storage/compress/...", clients, "os"),
		why:  "it compares keys: where the URLs come from is for the command to know",
	},
	{
		from: join("./internal/terminal"),
		deny: join("./..."),
		why:  "text for people is written in one way, whatever it is about",
	},
	{
		from:   join("./..."),
		except: join("./internal/terminal"),
		deny:   join("golang.org/x/term/..."),
		why:    "one package knows what a terminal is",
	},
	{
		from:   join("./..."),
		except: join("./internal/cli", "./cmd/..."),
		deny:   join("github.com/spf13/cobra/...", "github.com/schollz/progressbar/v3/..."),
		why:    "only the command talks to a terminal",
	},
	{
		from:   join("./..."),
		except: join("./internal/observe/metrics"),
		deny:   join("github.com/prometheus/client_golang/..."),
		why:    "counting costs nothing because one collector reads snapshots: a counter of the client in a component would be one more for each record",
	},
	{
		from:   join("./..."),
		except: join("./internal/observe/systemd"),
		deny:   join("github.com/coreos/go-systemd/v22/..."),
		why:    "one package knows what systemd is told",
	},
	{
		from:   join("./..."),
		except: join("./config/..."),
		deny:   join("github.com/goccy/go-yaml/..."),
		why:    "one package reads YAML, so that all of it is read strictly and all mistakes have a place",
	},
	{
		from: join("./pipeline/..."),
		deny: join("github.com/klauspost/compress/...", "github.com/bmatcuk/doublestar/v4/...", "net/...", "os/..."),
		why:  "where bytes come from and go to is for sources and sinks to know",
	},
}

// join makes one list of strings and lists of strings.
func join(parts ...any) []string {
	var all []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			all = append(all, p)
		case []string:
			all = append(all, p...)
		default:
			panic(fmt.Sprintf("join: %T", p))
		}
	}
	return all
}

// A pkg is what the checker needs of the output of go list.
type pkg struct {
	ImportPath string
	Imports    []string // directly
	Deps       []string // these, their imports, and so on
}

// A tree is a module as the checker sees it. Packages of the module are
// written as in a rule, "./x".
type tree struct {
	pkgs     []pkg
	external []string // packages of the standard library, and required modules
}

// match reports whether the pattern names path.
func match(pattern, path string) bool {
	if base, ok := strings.CutSuffix(pattern, "/..."); ok {
		return path == base || strings.HasPrefix(path, base+"/")
	}
	if base, ok := strings.CutSuffix(pattern, "/*"); ok {
		return strings.HasPrefix(path, base+"/")
	}
	return path == pattern
}

func matchAny(patterns []string, path string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, path) })
}

// check returns a complaint for every import that a rule forbids and for every
// name in the table that names nothing: a misspelled rule forbids nothing.
func check(rules []rule, t tree) []string {
	complaints := checkNames(rules, t)
	for _, p := range t.pkgs {
		for _, r := range rules {
			if !matchAny(r.from, p.ImportPath) || matchAny(r.except, p.ImportPath) {
				continue
			}
			verb, imports := "imports", p.Imports
			if r.deep {
				verb, imports = "links", p.Deps
			}
			for _, imp := range imports {
				if matchAny(r.deny, imp) {
					complaints = append(complaints, fmt.Sprintf("%s %s %s: %s", p.ImportPath, verb, imp, r.why))
				}
			}
		}
	}
	return complaints
}

// checkNames returns the complaints about the table itself.
func checkNames(rules []rule, t tree) []string {
	exists := slices.Clone(t.external)
	for _, p := range t.pkgs {
		exists = append(exists, p.ImportPath)
	}
	named := func(pattern string) bool {
		is := func(path string) bool { return match(pattern, path) }
		return slices.ContainsFunc(exists, is)
	}
	var complaints []string
	for _, r := range rules {
		if r.why == "" {
			complaints = append(complaints, fmt.Sprintf("the rule from %v has no reason", r.from))
		}
		for _, pattern := range slices.Concat(r.from, r.except, r.deny) {
			if !named(pattern) {
				complaints = append(complaints, fmt.Sprintf("a rule names %s, which does not exist", pattern))
			}
		}
	}
	slices.Sort(complaints)
	return slices.Compact(complaints)
}

func TestLayers(t *testing.T) {
	root := moduleRoot(t)
	watch(t, root)
	this := tree{
		pkgs:     listPackages(t, root),
		external: append(goLines(t, root, "list", "std"), goLines(t, root, "list", "-m", "-f", "{{.Path}}", "all")...),
	}
	for _, c := range check(rules, this) {
		t.Error(c)
	}
}

// moduleRoot returns the folder of go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	gomod := goLines(t, ".", "env", "GOMOD")
	if len(gomod) != 1 || filepath.Base(gomod[0]) != "go.mod" {
		t.Fatalf("go env GOMOD says %q: not inside a module", gomod)
	}
	return filepath.Dir(gomod[0])
}

// watch looks at every Go file of the module. The go command remembers what a
// test looks at, but not what a child process does: without this a result from
// before a new import would be served from the test cache.
func watch(t *testing.T, root string) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case filepath.Ext(path) != ".go" && d.Name() != "go.mod":
			return nil
		}
		_, err = os.Stat(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// listPackages returns the packages of the module, their own names and those
// of what they import from it rewritten as "./x".
func listPackages(t *testing.T, root string) []pkg {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(goOutput(t, root, "list", "-json=ImportPath,Imports,Deps", "./...")))
	var pkgs []pkg
	for {
		var p pkg
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p.ImportPath = short(p.ImportPath)
		for i := range p.Imports {
			p.Imports[i] = short(p.Imports[i])
		}
		for i := range p.Deps {
			p.Deps[i] = short(p.Deps[i])
		}
		pkgs = append(pkgs, p)
	}
	if len(pkgs) < 2 {
		t.Fatalf("go list sees %d packages: the test would prove nothing", len(pkgs))
	}
	return pkgs
}

// short rewrites the path of a package of this module as "./x".
func short(path string) string {
	if rest, ok := strings.CutPrefix(path, module); ok && (rest == "" || rest[0] == '/') {
		return "." + rest
	}
	return path
}

func goOutput(t *testing.T, dir string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return out
}

func goLines(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	return strings.Fields(string(goOutput(t, dir, args...)))
}

// TestCheck gives the checker a module of four packages that keeps a table of
// three rules, and then breaks it in one way at a time.
func TestCheck(t *testing.T) {
	type parts struct {
		rules []rule
		tree  tree
	}
	sound := func() *parts {
		return &parts{
			rules: []rule{
				{from: join("./low/..."), deny: join("./high/*", "os"), why: "low is the floor"},
				{from: join("./..."), except: join("./high/a"), deny: join("example.com/lib/..."), why: "one home"},
				{from: join("./low"), deny: join("net"), deep: true, why: "low is light"},
			},
			tree: tree{
				pkgs: []pkg{
					{"./low", join("bytes"), join("bytes", "os")},
					{"./low/x", join("./low", "os/exec"), join("./low", "bytes", "os/exec", "os")},
					{"./high", join("./low", "os"), join("./low", "bytes", "os")},
					{"./high/a", join("./low/x", "example.com/lib/sub"), join("./low/x", "example.com/lib/sub", "net")},
				},
				external: join("bytes", "net", "os", "os/exec", "example.com/lib"),
			},
		}
	}
	f := func(name string, spoil func(*parts), want ...string) {
		t.Helper()
		p := sound()
		spoil(p)
		if got := check(p.rules, p.tree); !slices.Equal(got, want) {
			t.Errorf("%s:\n got %q\nwant %q", name, got, want)
		}
	}
	f("sound", func(*parts) {})
	f("an import of the module", func(p *parts) { p.tree.pkgs[1].Imports = join("./high/a") },
		"./low/x imports ./high/a: low is the floor")
	f("an import of the standard library", func(p *parts) { p.tree.pkgs[0].Imports = join("os") },
		"./low imports os: low is the floor")
	f("an import of another module, below its root", func(p *parts) { p.tree.pkgs[2].Imports = join("example.com/lib/sub") },
		"./high imports example.com/lib/sub: one home")
	f("an import of an import, by a deep rule", func(p *parts) { p.tree.pkgs[0].Deps = join("bytes", "net") },
		"./low links net: low is light")
	f("x/* is not x", func(p *parts) { p.tree.pkgs[0].Imports = join("./high") })
	f("a longer name is another package", func(p *parts) { p.tree.pkgs[0].Imports = join("osx", "./higher/a") })
	f("a forbidden name that is misspelled", func(p *parts) { p.rules[0].deny = join("oss") },
		"a rule names oss, which does not exist")
	f("a rule about a package that is gone", func(p *parts) { p.rules[0].from = join("./lo") },
		"a rule names ./lo, which does not exist")
	f("an exception that is gone", func(p *parts) { p.rules[1].except = join("./high/a", "./high/c") },
		"a rule names ./high/c, which does not exist")
	f("a rule without a reason", func(p *parts) { p.rules[0].why = "" },
		"the rule from [./low/...] has no reason")
}
