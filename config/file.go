package config

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
)

// A File is a complete configuration: one linear pipeline and the settings of
// its process. Load and Parse create it. Absent keys have their defaults.
// Not covered by the stability page.
type File struct {
	// The version of the configuration format.
	Version int `yaml:"version" min:"1" max:"1"`
	// The directory of the checkpoints, the restart points of compressed files and
	// the lock.
	DataDir string `yaml:"data_dir" min:"1"`
	// The sources of records.
	Sources []Component `yaml:"sources,required" min:"1"`
	// How records are parsed, how their URLs are normalized, and what is written.
	Codec Codec `yaml:"codec,required"`
	// An expression such as: status == 200 && site == "example.com". Only records
	// for which it is true are written; the others count as filtered. Quote an
	// expression that begins with an exclamation mark, which YAML reads as a tag.
	// Default: write all records.
	Filter string `yaml:"filter"`
	// Drop records that have the same URL as an earlier one. Requires a single file
	// or Kafka source and durable sinks.
	Dedupe *Dedupe `yaml:"dedupe"`
	// The sinks. Every record goes to all of them, unless route distributes the
	// records.
	Sinks []Component `yaml:"sinks,required" min:"1"`
	// Which sinks get which records: a list of branches. The first branch that takes
	// a record decides; the last one must be else. Requires at least two
	// sinks; a filter applies first. Default: every sink gets every record.
	Route []Branch `yaml:"route" min:"1"`
	// The sink for rejected records.
	DeadLetter *Component `yaml:"dead_letter"`
	// Batches, workers, ordering and commits.
	Pipeline Pipeline `yaml:"pipeline"`
	// The shutdown of the process.
	Shutdown Shutdown `yaml:"shutdown"`
	// The HTTP server for metrics, health checks and the status page.
	Admin Admin `yaml:"admin"`
	// Logging.
	Log Log `yaml:"log"`
	// The conditions under which the process reports that it is not ready.
	Ready Ready `yaml:"ready"`
	// The memory of the process.
	Memory Memory `yaml:"memory"`
	// A second profile whose keys are compared with those of the codec while the
	// process runs: how many groups of URLs it would merge or split. It changes no
	// output. Metrics and the status page show the counts.
	Shadow *Shadow `yaml:"shadow"`
	// Test cases that "urlfold check -c" runs.
	Tests []Test `yaml:"tests"`

	d *decoder
}

// Default returns a configuration in which all keys have their defaults.
// Not covered by the stability page.
func Default() *File {
	return &File{
		Version: 1,
		DataDir: "/var/lib/urlfold",
		Codec:   Codec{MaxQuoted: field.MiB, Target: "request", Profile: "equiv", Hash: "xxh3-128", KeyFormat: "hex", Render: Render{Form: "rewrite"}},
		Pipeline: Pipeline{
			Ordering:       "none",
			Batch:          Batch{Bytes: 128 * field.KiB, Records: 1000, Linger: 50 * time.Millisecond},
			MaxInFlight:    MaxInFlight{Batches: 64, Bytes: 64 * field.MiB},
			CommitInterval: time.Second,
			MaxRecordBytes: field.MiB,
		},
		Shutdown: Shutdown{Timeout: 30 * time.Second},
		Admin:    Admin{Listen: "127.0.0.1:8686"},
		Log:      Log{Level: "info", Format: "text", RateLimit: 10 * time.Second},
		Ready:    Ready{MaxUnresolved: 5 * time.Minute},
		Memory:   Memory{Limit: 512 * field.MiB},
	}
}

// Pipeline configures how records flow through the process.
// Not covered by the stability page.
type Pipeline struct {
	// The number of workers. 0 means one per CPU.
	Workers int `yaml:"workers" min:"0" max:"1024"`
	// The order in which sinks receive records: none for any order, per_lane to
	// keep the order within each file, partition or consumer.
	Ordering string `yaml:"ordering" enum:"none,per_lane"`
	// The limits of a batch. A batch is complete when it reaches any of them.
	Batch Batch `yaml:"batch"`
	// The maximum amount of input that has been read but is not yet durable in
	// every sink.
	MaxInFlight MaxInFlight `yaml:"max_in_flight"`
	// The time between two commits of what is durable.
	CommitInterval time.Duration `yaml:"commit_interval" min:"10ms" max:"1h"`
	// The maximum length of a record. on_oversize decides about longer ones.
	MaxRecordBytes field.Size `yaml:"max_record_bytes" min:"1KiB" max:"256MiB"`
	// The disposition of records longer than max_record_bytes: dead_letter writes
	// them to the dead letter, truncate cuts them, pass_through passes them on
	// unparsed, and stop ends the run as soon as all earlier records of the same
	// file, partition or stream are durable. Default: dead_letter, or pass_through
	// if no dead_letter is configured.
	OnOversize string `yaml:"on_oversize" enum:"dead_letter,truncate,pass_through,stop"`
	// The disposition of records whose URL cannot be parsed or is rejected.
	// Default: dead_letter, or pass_through if no dead_letter is configured.
	OnReject string `yaml:"on_reject" enum:"dead_letter,pass_through"`
	// The disposition of records that a sink refuses permanently, for example
	// because the broker finds them too large or because the topic requires a key.
	// dead_letter writes them to the dead letter, but after three consecutive
	// batches were refused completely with the same code, it blocks the lane.
	// block retries the record until the sink accepts it; meanwhile its file,
	// partition or stream waits and the process is not ready. drop discards the
	// record, counts it, and makes a finished run exit with code 4. Default:
	// dead_letter, or block if no dead_letter is configured.
	OnRefused string `yaml:"on_refused" enum:"dead_letter,block,drop"`
}

// Batch holds the limits of a batch. Not covered by the stability page.
type Batch struct {
	// The maximum size of a batch.
	Bytes field.Size `yaml:"bytes" min:"4KiB" max:"64MiB"`
	// The maximum number of messages in a batch. It does not apply to files.
	Records int `yaml:"records" min:"1" max:"1000000"`
	// The maximum time that a batch waits for more records.
	Linger time.Duration `yaml:"linger" max:"1m"`
}

// MaxInFlight limits the input that is not yet durable.
// Not covered by the stability page.
type MaxInFlight struct {
	// The number of batches.
	Batches int `yaml:"batches" min:"4" max:"65536"`
	// The size of their input.
	Bytes field.Size `yaml:"bytes" min:"64KiB" max:"64GiB"`
}

// Validate checks the limits against each other.
func (p *Pipeline) Validate() error {
	if p.MaxInFlight.Bytes < p.Batch.Bytes {
		return &field.Error{Field: "max_in_flight.bytes", With: []string{"batch.bytes"}, Err: errors.New("must be at least batch.bytes")}
	}
	return nil
}

// Shutdown configures the shutdown of the process. Not covered by the stability page.
type Shutdown struct {
	// The maximum time from the signal to the exit of the process. After three
	// quarters of it, urlfold abandons the records that are not durable; the next
	// start reads them again.
	Timeout time.Duration `yaml:"timeout" min:"1s" max:"1h"`
}

// Admin is the HTTP server with /metrics, /healthz, /readyz and the status
// page. Not covered by the stability page.
type Admin struct {
	// The address to listen on: HOST:PORT, or unix: followed by the path of a
	// socket. An empty string disables the server.
	Listen string `yaml:"listen"`
	// The host names that requests may use in addition to localhost and IP
	// addresses; "*.example.com" matches all names below example.com. Requests for
	// other names get status 403, which prevents web pages from reading the server
	// through a host name of their own (DNS rebinding).
	AllowedHosts []string `yaml:"allowed_hosts"`
	// Whether to serve profiles of the process at /debug/pprof/.
	Pprof bool `yaml:"pprof"`
	// Whether to serve samples of the records at /tap, for "urlfold daemon tap". Passwords
	// and well-known secret parameters are masked. Requires that listen is unix:PATH
	// or a loopback address.
	Tap bool `yaml:"tap"`
}

// Validate checks the address and the host names.
func (a *Admin) Validate() error {
	var errs []error
	for i, name := range a.AllowedHosts {
		if !hostName().MatchString(name) {
			errs = append(errs, &field.Error{Field: element("allowed_hosts", i), Err: errors.New("must be a host name without a port, such as urlfold.example.com or *.example.com")})
		}
	}
	return errors.Join(append(errs, a.validateListen(), a.validateTap())...)
}

// validateTap checks that samples are served only on this host.
func (a *Admin) validateTap() error {
	if !a.Tap || a.validateListen() != nil || strings.HasPrefix(a.Listen, "unix:") {
		return nil
	}
	host, _, _ := net.SplitHostPort(a.Listen) // an empty address disables the server
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsLoopback() || host == "localhost" {
		return nil
	}
	return &field.Error{Field: "tap", With: []string{"listen"}, Err: errors.New("requires listen: unix:PATH or a loopback address such as 127.0.0.1:8686, because samples show records")}
}

// hostName matches a host name, optionally with the prefix "*.".
var hostName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*\.?$`)
})

func (a *Admin) validateListen() error {
	path, isUnix := strings.CutPrefix(a.Listen, "unix:")
	if a.Listen == "" || isUnix && path != "" {
		return nil
	}
	_, port, err := net.SplitHostPort(a.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil || isUnix {
		return &field.Error{Field: "listen", Err: errors.New("must be HOST:PORT, such as 127.0.0.1:8686 or \"[::1]:8686\", or unix:PATH")}
	}
	return nil
}

// Log configures logging. Not covered by the stability page.
type Log struct {
	// The minimum level of logged messages.
	Level string `yaml:"level" enum:"debug,info,warn,error"`
	// The format of log lines.
	Format string `yaml:"format" enum:"text,json"`
	// The interval in which a component logs the same event only once, even with
	// other attributes; the next time, "suppressed" counts the others. 0 disables
	// the limit.
	RateLimit time.Duration `yaml:"rate_limit" max:"1h"`
}

// Ready configures the readiness check. Not covered by the stability page.
type Ready struct {
	// The process is not ready while the oldest record that is not durable was
	// read longer ago than this.
	MaxUnresolved time.Duration `yaml:"max_unresolved" min:"1s"`
}

// Memory configures the memory of the process. Not covered by the stability page.
type Memory struct {
	// The soft limit of the memory of the process: at least 32MiB, or 0 for no
	// limit.
	Limit field.Size `yaml:"limit"`
}

// minMemory is the memory that the process needs without any records.
const minMemory = 32 * field.MiB

// Validate checks that the limit is 0 or at least minMemory.
func (m *Memory) Validate() error {
	if 0 < m.Limit && m.Limit < minMemory {
		return &field.Error{Field: "limit", Err: fmt.Errorf("must be at least %v, or 0 for no limit", minMemory)}
	}
	return nil
}

// A Test is a test case for "urlfold check -c": either a URL with the expected
// result, or URLs whose keys must be equal or different.
// Not covered by the stability page.
type Test struct {
	// The input URL. Requires norm, flags or reject.
	URL string `yaml:"url"`
	// The expected normal form.
	Norm string `yaml:"norm"`
	// All expected flags. An empty list means that the URL must have none.
	Flags []string `yaml:"flags"`
	// The expected reason for rejecting the URL.
	Reject string `yaml:"reject"`
	// URLs that must all have the same key.
	SameKey []string `yaml:"same_key" min:"2"`
	// URLs that must all have different keys.
	DifferentKey []string `yaml:"different_key" min:"2"`
	// The level of the compared keys. Default: that of the codec.
	Key string `yaml:"key" enum:"k0,k1,k2,k3,match,surface"`
}

// Validate checks that the keys of the case fit together and that its flags
// exist.
func (t *Test) Validate() error {
	count := 0
	for _, is := range []bool{t.URL != "", t.SameKey != nil, t.DifferentKey != nil} {
		if is {
			count++
		}
	}
	expects := t.Norm != "" || t.Flags != nil || t.Reject != ""
	switch {
	case count != 1:
		return errors.New("must have exactly one of url, same_key and different_key")
	case t.URL != "" && !expects:
		return errors.New("no expected result: set norm, flags or reject")
	case t.URL == "" && expects:
		return errors.New("norm, flags and reject require url")
	case t.Norm != "" && t.Reject != "":
		return errors.New("norm and reject cannot be combined: a rejected URL has no normal form")
	case t.Key != "" && t.URL != "":
		return &field.Error{Field: "key", Err: errors.New("cannot be combined with url, only with same_key or different_key")}
	}
	var errs []error
	for i, name := range t.Flags {
		if _, err := codec.ParseFlag(name); err != nil {
			errs = append(errs, &field.Error{Field: element("flags", i), Err: errors.New(noSuchFlag(codec.AllFlags().Names(), name))})
		}
	}
	return errors.Join(errs...)
}

// ErrorAt returns err with the file, line and column of the value at a path,
// such as "codec.format", "tests[2].norm" or c.Path() + ".topics[0]". If the
// key is absent, the position is that of the enclosing key. The text contains
// no URLs and no expanded values.
func (f *File) ErrorAt(path string, err error) *Error { return f.d.errorAt(path, err) }

// ShowAt is like ErrorAt but keeps URLs in the text, for use with the URLs of
// test cases. The caller must mask their passwords.
func (f *File) ShowAt(path string, err error) *Error {
	e := f.d.errorAt(path, err)
	e.Reason = strings.ReplaceAll(err.Error(), "\n", "; ")
	return e
}
