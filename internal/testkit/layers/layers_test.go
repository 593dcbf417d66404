package layers

// This file is structured in the following way:
//
//   - The table: rules.
//   - The checker, which returns complaints for a table and a list of packages.
//   - TestLayers, which checks this module, and TestCheck, which shows with an
//     artificial module that the checker can fail.

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

// A rule forbids imports in non-test code. Only direct imports count, unless
// the rule is deep: then all packages count that are linked with the package,
// as listed by go list -deps.
//
// Patterns name packages. "./x" is a package of this module, "x" a package of
// the standard library or of another module. "x/..." is x and everything below
// it, "x/*" everything below x without x itself.
type rule struct {
	from   []string // packages that the rule applies to
	except []string // exceptions among them
	deny   []string // packages that they must not import
	deep   bool     // nor link
	why    string
}

// Groups of packages, in the order of the arrow
//
//	cmd -> sources, sinks -> sources/*, sinks/* -> pipeline -> codec/record -> internal/record -> codec/surt, codec/iri, codec/safebrowsing -> codec -> codec/percent, codec/internal/idna, codec/internal/psl, codec/params, codec/template
var (
	// The packages below codec: escapes, host labels, public suffixes, and
	// parameters by policy. They know no URL, only the part of one that they
	// are given, so that each can be tested and fuzzed by itself. Only
	// codec/params and codec/template use another of them, codec/percent, for
	// escapes.
	leaves = []string{"./codec/percent", "./codec/internal/idna", "./codec/internal/psl", "./codec/params", "./codec/template"}
	// Forms of a URL that package codec does not need.
	forms = []string{"./codec/surt", "./codec/iri", "./codec/safebrowsing"}
	// The families of record formats, and the table of them.
	families = []string{"./internal/record/internal/textlog", "./internal/record/internal/jsonlines", "./internal/record/internal/table", "./internal/record/internal/markup", "./internal/record/internal/archive", "./internal/record/internal/wire", "./internal/record/internal/formats"}
	// The codec, and the records that it reads: bytes in, bytes out.
	pure       = []string{"./codec/...", "./internal/record/..."}
	components = []string{"./sources/...", "./sinks/..."}
	clients    = []string{"./internal/client/kafka/...", "./internal/client/nats/..."}

	// The program without its main function, so that another main package can
	// run it with its own sources, sinks and formats.
	program = []string{"./internal/app/daemon", "./internal/app/cli/..."}

	// The packages that read a configuration. Package config/field is not one
	// of them: it provides the types of values, which components use in their
	// structs.
	reader = []string{"./config"}

	kafkaClient = "github.com/segmentio/kafka-go/..."
	natsClient  = "github.com/nats-io/nats.go/..."
	s3Client    = "github.com/minio/minio-go/..."
)

var rules = []rule{
	// Imports point in one direction.
	{
		from: leaves,
		deny: join("./codec", forms, "./internal/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "the tables, the host labels and the parameters are the lowest layer: everything else depends on them",
	},
	{
		from: join("./codec/percent", "./codec/internal/idna", "./codec/internal/psl"),
		deny: leaves,
		why:  "a table is independent: its answers must not change with another table",
	},
	{
		from: join("./codec/internal/psl"),
		deny: join("fmt", "strconv", "reflect", "unsafe", "github.com/...", "golang.org/..."),
		why:  "a list lookup needs no other package: the package used before depended on net/http",
	},
	{
		from: join("./codec"),
		deny: join(forms, "./internal/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a crawler imports only the codec: a URL does not depend on the record that contains it",
	},
	{
		from:   join("./codec/internal/peer/..."),
		except: join("./codec/internal/peer/gsb", "./codec/internal/peer/purell"), // UTS 46 and Form C, which are stable
		deny:   join("./codec/internal/idna"),
		why:    "a package that reproduces another program has its own tables, of the version of Unicode that the program has",
	},
	{
		from: join("./codec/internal/peer/..."),
		deny: join("./codec", "./codec/percent", "./codec/internal/psl", "./codec/params", "./codec/template", forms, "./internal/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a package that reproduces another program shares no rule with the codec, so that no change of a rule changes its result",
	},
	{
		from: join(forms),
		deny: join(forms, "./internal/record/...", "./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a form of a URL is built from its exported parts, so that package codec need not know it",
	},
	{
		from: join("./internal/record/..."),
		deny: join("./pipeline/...", components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "a record format maps bytes to offsets: batches and lanes are the caller's concern",
	},
	{
		from: join("./internal/record/internal/..."),
		deny: join("./internal/record"),
		why:  "a format knows the contract, and not the way of a record that uses it",
	},
	{
		from: join("./internal/record/internal/locate"),
		deny: join("./internal/record/internal/..."),
		why:  "the contract knows no format",
	},
	{
		from: join("./internal/record/internal/textlog", "./internal/record/internal/jsonlines", "./internal/record/internal/table", "./internal/record/internal/markup"),
		deny: join(families),
		why:  "families of formats do not know one another: what two of them need is in the contract",
	},
	{
		from: join("./internal/record/internal/archive", "./internal/record/internal/wire"),
		deny: join("./internal/record/internal/textlog", "./internal/record/internal/table", "./internal/record/internal/formats"),
		why:  "archives and binary records contain JSON and HTML, and nothing else of another family",
	},
	{
		from: join("./pipeline/..."),
		deny: join(components, "./config/...", "./internal/storage/compress/...", clients, "./cmd/..."),
		why:  "the pipeline only moves data: it knows no source, no sink and no client library",
	},
	{
		from: join("./pipeline", "./pipeline/pipelinetest", "./sources", "./sinks"),
		deny: join(clients, kafkaClient, natsClient, s3Client, program, "github.com/spf13/cobra/...", "github.com/prometheus/..."),
		deep: true,
		why:  "a component of another module brings no client of a broker and no command along",
	},
	{
		from: join("./sources/*"),
		deny: join("./sources", "./sinks/...", reader, "./cmd/..."),
		why:  "a source knows neither sinks nor package sources, which registers it: a new source is one folder and one line",
	},
	{
		from: join("./sources/logs", "./codec/record"),
		deny: join("./pipeline/...", "./sinks/...", clients, kafkaClient, natsClient, s3Client, "github.com/spf13/..."),
		deep: true,
		why:  "a program that reads files links no client of a broker and no command line",
	},
	{
		from: join("./sinks/*"),
		deny: join("./sinks", "./sources/...", reader, "./cmd/..."),
		why:  "a sink knows neither sources nor package sinks, which registers it: a new sink is one folder and one line",
	},
	{
		from: join("./sources"),
		deny: join("./sinks/...", "./cmd/..."),
		why:  "packages sources and sinks meet only in the program",
	},
	{
		from: join("./sinks"),
		deny: join("./sources/...", "./cmd/..."),
		why:  "packages sources and sinks meet only in the program",
	},
	{
		from: join("./config/field"),
		deny: join("./...", "github.com/...", "golang.org/...", "net/...", "os/..."),
		why:  "a component outside this module needs the types of values and none of their dependencies",
	},
	{
		from: join("./config/connect"),
		deny: join("./config", components, "./pipeline/...", "./codec/...", "./internal/...", "./cmd/...", "crypto/...", "os/..."),
		why:  "settings of connections are data: clients open files and connections",
	},
	{
		from:   join("./config/..."),
		except: join("./config/app"), // the entry point of programs, which needs everything
		deny:   join(components, "./pipeline/...", "./internal/record/...", clients, "./internal/storage/compress/...", "./cmd/..."),
		why:    "the configuration is an envelope: it knows the codec, and each component defines its own settings",
	},
	{
		from:   join("./..."),
		except: join("./cmd/...", "./config/...", "./internal/app/recordconf", program), // recordconf is what both front ends share
		deny:   reader,
		why:    "user input is read in one place: everything below receives values",
	},
	{
		from:   join("./internal/..."),
		except: program,
		deny:   join(components, "./cmd/..."),
		why:    "components and the program call helpers, not the other way round",
	},
	{
		from: join("./internal/ground/..."),
		deny: join("./codec/...", "./internal/record/...", "./pipeline/...", "./config/...", "./internal/client/...", "./internal/storage/...", "./internal/report/...", "./internal/observe/...", "./internal/app/..."),
		why:  "every room uses ground, so ground uses none of them",
	},
	{
		from: join("./internal/client/..."),
		deny: join("./codec/...", "./internal/record/...", "./pipeline/...", "./internal/storage/...", "./internal/report/...", "./internal/observe/...", "./internal/app/..."),
		why:  "a client speaks a protocol: it knows messages, and neither records nor what becomes of them",
	},
	{
		from: join("./internal/storage/..."),
		deny: join("./internal/report/...", "./internal/observe/...", "./internal/app/..."),
		why:  "stored data does not depend on what reads it",
	},
	{
		from: join("./internal/report/..."),
		deny: join("./internal/observe/...", "./internal/app/..."),
		why:  "a report is the same whether the one-shot or the admin server asks for it",
	},
	{
		from: join("./internal/observe/..."),
		deny: join("./internal/app/..."),
		why:  "the program shows itself to its operator through values that it hands over",
	},
	{
		from:   join("./..."),
		except: join(program, "./config/app", "./cmd/..."),
		deny:   program,
		why:    "the program is the top layer: it knows all parts, and no part knows it",
	},

	// The codec is pure.
	{
		from:   join(pure),
		except: join("./codec/seen/kept"), // files are its purpose
		deny:   join("os/...", "io/fs", "io/ioutil", "net/...", "syscall", "plugin"),
		why:    "the codec does no I/O: no file and no network can change the meaning of a URL",
	},
	{
		from: join(pure),
		except: join(
			"./codec/internal/idna2003", "./codec/internal/peer/idna2008", // sync: they decode their tables once
			"./codec/seen",      // sync: a set of keys is for many goroutines, and computes no key
			"./codec/seen/kept", // and it notes the day of each key
			"./codec/record",    // time: a record has one
		),
		deny: join("time/...", "sync/...", "context", "math/rand/...", "crypto/rand", "hash/maphash"),
		why:  "the codec has no clock, no lock, no goroutine and no randomness: the same bytes give the same key at all times and on all systems",
	},
	{
		from:   join("./codec/...", "./internal/record/..."),
		except: join("./codec/seen/kept"), // it is beside codec/seen, where whoever needs it looks
		deny:   join("./codec/seen/kept", "./internal/storage/keyset", "./internal/storage/disk"),
		why:    "a single package below codec stores keys in files, and nothing of the codec needs it",
	},
	{
		from: join(pure),
		deny: join("log/...", "expvar", "flag"),
		why:  "the codec reports only through its results: URLs contain passwords, so it must not log any",
	},
	{
		from: join(pure),
		deny: join("regexp", "text/template/...", "html/template"),
		why:  "grammars are implemented as tables and loops: a regular expression per URL is too slow",
	},
	{
		from: join(pure),
		deny: join("github.com/spf13/cobra/...", "github.com/klauspost/compress/...",
			"github.com/bmatcuk/doublestar/v4/...", "golang.org/x/term/..."),
		why: "a program that imports the codec gets a hash and host tables with it, and nothing of the command",
	},
	{
		from: join(pure),
		deny: join("./internal/app/where", "github.com/expr-lang/..."),
		why:  "a condition is an interface of the record package: a program with conditions of its own links no parser of expressions",
	},
	{
		from:   join(pure),
		except: join("./internal/ground/scan"),
		deny:   join("golang.org/x/sys/..."),
		why:    "a single package detects the instructions of the processor",
	},

	// The dependencies of the codec are pure, too. Package fmt needs os, time
	// and syscall, so those are allowed.
	{
		from: join(pure),
		deny: join("net/...", "crypto/tls/...", "crypto/x509/...", "mime/..."),
		deep: true,
		why:  "the codec promises never to use the network: a program that links it must not contain code for that from any dependency, not even unused",
	},
	{
		from: join(pure),
		deny: join("os/exec", "os/signal", "os/user", "plugin", "runtime/cgo", "log/..."),
		deep: true,
		why:  "the codec starts no process, loads no plugin and logs nothing, and its dependencies must not do so for it",
	},

	{
		from: join("./config/app", "./cmd/urlfold"),
		deny: join("./internal/testkit/..."),
		deep: true,
		why:  "test servers are not part of the program",
	},

	// Each library is imported by one package.
	{
		from: join("./internal/storage/inflate"),
		deny: join("./codec/...", "./internal/record/...", "./pipeline/...", "./internal/storage/compress/...", "github.com/...", "compress/flate"),
		why:  "other decoders are compared with this package, so it must decode everything itself",
	},
	{
		from:   join("./..."),
		except: join("./internal/client/kafka", "./internal/testkit/kafkatest"), // kafkatest creates topics
		deny:   join(kafkaClient),
		why:    "the client library can be replaced only while a single package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/storage/objects/s3", "./internal/testkit/s3test"), // s3test creates buckets
		deny:   join(s3Client),
		why:    "the client library can be replaced only while a single package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/client/nats", "./internal/testkit/natsserver"), // natsserver is a separate program, which creates streams
		deny:   join(natsClient),
		why:    "the client library can be replaced only while a single package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/storage/compress/..."),
		deny: join("github.com/klauspost/compress/...", "github.com/pierrec/lz4/v4/...", "github.com/ulikunitz/xz/...",
			"compress/gzip", "compress/bzip2", "compress/flate", "compress/zlib", "compress/lzw"),
		why: "limits, verdicts and magic numbers apply to every stream only if internal/storage/compress reads all of them",
	},
	{
		from:   join("./..."),
		except: join("./internal/storage/parquet"),
		deny:   join("github.com/parquet-go/parquet-go/..."),
		why:    "the library can be replaced, and its memory bounded, only while a single package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/storage/arrow"),
		deny:   join("github.com/google/flatbuffers/..."),
		why:    "a single package knows the metadata of Arrow",
	},
	{
		from:   join("./..."),
		except: join("./internal/storage/avro"),
		deny:   join("github.com/twmb/avro/..."),
		why:    "the library can be replaced only while a single package knows it",
	},
	{
		from:   join("./..."),
		except: join("./internal/report/insight"),
		deny:   join("github.com/axiomhq/hyperloglog/..."),
		why:    "the library can be replaced only while a single package knows it",
	},
	{
		from: join("./internal/report/logreport"),
		deny: join("./pipeline/...", "./sources/...", "./sinks/...", "./internal/storage/...", clients, "os", "net/..."),
		why:  "it describes findings: the command knows where they come from and where the report goes",
	},
	{
		from: join("./internal/report/insight"),
		deny: join("./internal/storage/compress/...", "./sources/...", "./sinks/...", clients, "os", "net/..."),
		why:  "it counts: the command knows where the records come from and where the result goes",
	},
	{
		from: join("./internal/report/explain"),
		deny: join("./internal/record/...", "./pipeline/...", "./internal/storage/compress/...", clients),
		why:  "it explains a single URL, without a record or a lane",
	},
	{
		from: join("./internal/report/keydiff"),
		deny: join("./internal/storage/compress/...", clients, "os"),
		why:  "it compares keys: the command knows where the URLs come from",
	},
	{
		from:   join("./..."),
		except: join("./internal/app/manual"),
		deny:   join("./docs"),
		why:    "a single package reads the documents: everything else gets them rendered",
	},
	{
		from: join("./internal/app/manual"),
		deny: join("./codec/...", "./internal/record/...", "./pipeline/...", "./config/...", clients),
		why:  "it knows documents, not what they are about",
	},
	{
		from: join("./internal/ground/terminal"),
		deny: join("./..."),
		why:  "text for people has one style, whatever it is about",
	},
	{
		from:   join("./..."),
		except: join("./internal/ground/terminal"),
		deny:   join("golang.org/x/term/..."),
		why:    "a single package detects terminals",
	},
	{
		from:   join("./..."),
		except: join("./internal/app/cli/...", "./cmd/..."),
		deny:   join("github.com/spf13/cobra/..."),
		why:    "only the command uses a terminal",
	},
	{
		from: join("./internal/app/cli/command", "./internal/app/cli/escapes", "./internal/app/cli/help", "./internal/app/cli/service"),
		deny: join("./internal/app/cli", "./internal/app/cli/escapes", "./internal/app/cli/help", "./internal/app/cli/service"),
		why:  "the rooms of the command line share only package command",
	},
	{
		from:   join("./..."),
		except: join("./internal/observe/metrics"),
		deny:   join("github.com/prometheus/client_golang/..."),
		why:    "counting is cheap because one collector reads snapshots: a client counter in a component would add a cost per record",
	},
	{
		from:   join("./..."),
		except: join("./internal/observe/systemd"),
		deny:   join("github.com/coreos/go-systemd/v22/..."),
		why:    "a single package talks to systemd",
	},
	{
		from:   join("./..."),
		except: join("./internal/app/where"),
		deny:   join("github.com/expr-lang/..."),
		why:    "a single package parses expressions, so that they mean the same in flags and in configurations",
	},
	{
		from:   join("./..."),
		except: join("./config/..."),
		deny:   join("github.com/goccy/go-yaml/..."),
		why:    "a single package reads YAML, so that all of it is decoded strictly and all mistakes have a position",
	},
	{
		from: join("./internal/record/internal/..."),
		deny: join("./internal/record"),
		why:  "a format knows the contract, and not the way of a record that uses it",
	},
	{
		from: join("./internal/record/internal/locate"),
		deny: join("./internal/record/internal/..."),
		why:  "the contract knows no format",
	},
	{
		from: join("./internal/record/internal/textlog", "./internal/record/internal/jsonlines", "./internal/record/internal/table", "./internal/record/internal/markup"),
		deny: join(families),
		why:  "families of formats do not know one another: what two of them need is in the contract",
	},
	{
		from: join("./internal/record/internal/archive", "./internal/record/internal/wire"),
		deny: join("./internal/record/internal/textlog", "./internal/record/internal/table", "./internal/record/internal/formats"),
		why:  "archives and binary records contain JSON and HTML, and nothing else of another family",
	},
	{
		from: join("./pipeline/..."),
		deny: join("github.com/klauspost/compress/...", "github.com/bmatcuk/doublestar/v4/...", "net/...", "os/..."),
		why:  "only sources and sinks know where bytes come from and go to",
	},
}

// join flattens strings and lists of strings into one list.
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

// A pkg holds the fields of the output of go list that the checker uses.
type pkg struct {
	ImportPath string
	Imports    []string // direct imports
	Deps       []string // direct and indirect imports
}

// A tree is a module in the form that the checker uses. Packages of the module
// are written as in a rule, "./x".
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

// check returns a complaint for every forbidden import and for every pattern
// that matches no package, because a misspelled rule forbids nothing.
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

// checkNames returns complaints about the table itself.
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
			complaints = append(complaints, fmt.Sprintf("rule for %v has no reason", r.from))
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

// moduleRoot returns the folder that contains go.mod.
func moduleRoot(t *testing.T) string {
	t.Helper()
	gomod := goLines(t, ".", "env", "GOMOD")
	if len(gomod) != 1 || filepath.Base(gomod[0]) != "go.mod" {
		t.Fatalf("go env GOMOD returned %q: not inside a module", gomod)
	}
	return filepath.Dir(gomod[0])
}

// watch stats every Go file of the module. The go command records which files a
// test accesses, but not which files its child processes access: without this,
// the test cache would serve a result from before a new import.
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

// listPackages returns the packages of the module. It rewrites their names, and
// the names of the module's packages among their imports, as "./x".
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
		t.Fatalf("go list returned %d packages, want at least 2", len(pkgs))
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

// TestCheck checks a module of four packages that complies with a table of
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
	f("valid", func(*parts) {})
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
		"rule for [./low/...] has no reason")
}
