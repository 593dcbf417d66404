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

// A File is a complete configuration: one pipeline and the settings of its
// process. Load and Parse create it. Absent keys have their defaults.
// Not covered by the stability page.
type File struct {
	// The version of the configuration format.
	Version int `yaml:"version" min:"1" max:"1"`
	// The directory of the checkpoints, the restart points of compressed files and
	// the lock.
	DataDir string `yaml:"data_dir" min:"1" path:"file"`
	// What to do when the state in data_dir is lost.
	State State `yaml:"state"`
	// The sources of records. Each has its own format.
	Sources []Component `yaml:"sources,required" min:"1"`
	// How URLs are normalized, and what is written.
	Codec Codec `yaml:"codec"`
	// An expression such as: status == 200 && site == "example.com". Only records
	// for which it is true are written; the others count as filtered. Quote an
	// expression that starts with an exclamation mark, which YAML reads as a tag.
	// Default: write all records.
	Where string `yaml:"where"`
	// Drop records that have the same URL as an earlier record. Requires a
	// single file or Kafka source and durable sinks.
	Dedupe *Dedupe `yaml:"dedupe"`
	// The sinks. Every record goes to all of them, unless route distributes the
	// records.
	Sinks []Component `yaml:"sinks,required" min:"1"`
	// Which sinks get which records: a list of branches. The first branch that takes
	// a record decides; the last branch must be else. Requires at least two sinks;
	// where applies first. Default: every sink gets every record.
	Route []Branch `yaml:"route" min:"1"`
	// The sink for rejected records.
	DeadLetter *Component `yaml:"dead_letter"`
	// What to do with records that cannot be processed or delivered.
	OnError OnError `yaml:"on_error"`
	// The number of workers. 0 means one per CPU.
	Workers int `yaml:"workers" min:"0" max:"1024"`
	// The order in which sinks receive records: none for any order, lane to keep
	// the order within each file, partition or consumer. Where headers or
	// directives are copied, none means lane.
	Order string `yaml:"order" enum:"none,lane"`
	// The limits of a batch. A batch is complete when it reaches any of them.
	Batch Batch `yaml:"batch"`
	// The maximum size of the input that has been read but is not yet durable in
	// every sink. At least batch.size.
	MaxInFlight field.Size `yaml:"max_in_flight" min:"64KiB" max:"64GiB"`
	// The time between two commits of what is durable.
	CommitInterval time.Duration `yaml:"commit_interval" min:"10ms" max:"1h"`
	// The soft limit of the memory of the process: at least 32MiB, or 0 for no
	// limit.
	MemoryLimit field.Size `yaml:"memory_limit"`
	// The maximum time from the signal to the exit of the process. After three
	// quarters of it, urlfold abandons the records that are not durable; the next
	// start reads them again.
	ShutdownTimeout time.Duration `yaml:"shutdown_timeout" min:"1s" max:"1h"`
	// The HTTP server for metrics, health checks and the status page.
	Admin Admin `yaml:"admin"`
	// Logging.
	Log Log `yaml:"log"`
	// A second profile whose keys are compared with the codec's while the
	// process runs: how many groups of URLs the second profile would merge or
	// split. The output does not change. Metrics and the status page show the
	// counts.
	Shadow *Shadow `yaml:"shadow"`
	// Test cases that "urlfold check -c" runs.
	Tests []Test `yaml:"tests"`

	d      *decoder
	stamps map[string]stamp // stamps of the files that it was loaded from
}

// State says what to do when stored state is lost.
// Not covered by the stability page.
type State struct {
	// What to do if no stored copy of the positions in data_dir is usable, or
	// if data_dir has no positions although outputs with exactly_once exist.
	// stop exits with code 78. reread reads all files again and writes their
	// records twice. The key applies only to file sources, because brokers
	// store the positions of other sources.
	OnLoss string `yaml:"on_loss" enum:"stop,reread"`
}

// Default returns a configuration in which all keys have their defaults.
// Not covered by the stability page.
func Default() *File {
	return &File{
		Version:         1,
		DataDir:         "/var/lib/urlfold",
		State:           State{OnLoss: "stop"},
		Codec:           Codec{Target: "request", Profile: "equiv", Hash: "xxh3-128", KeyFormat: "hex", Render: Render{Form: "rewrite"}, MaxRecord: field.MiB},
		OnError:         OnError{UnknownSchema: "reject"},
		Order:           "none",
		Batch:           Batch{Size: 128 * field.KiB, Linger: 50 * time.Millisecond},
		MaxInFlight:     64 * field.MiB,
		CommitInterval:  time.Second,
		MemoryLimit:     512 * field.MiB,
		ShutdownTimeout: 25 * time.Second,
		Admin:           Admin{Listen: "127.0.0.1:8686", ReadyWithin: 5 * time.Minute},
		Log:             Log{Level: "info", Format: "text", RepeatInterval: 10 * time.Second},
	}
}

// minMemory is the memory that the process needs without any records.
const minMemory = 32 * field.MiB

// Validate checks the limits against each other.
func (f *File) Validate() error {
	var errs field.Errors
	if f.MaxInFlight < f.Batch.Size {
		errs.Wrong("max_in_flight", "must be at least batch.size", "batch")
	}
	if 0 < f.MemoryLimit && f.MemoryLimit < minMemory {
		errs.Wrong("memory_limit", fmt.Sprintf("must be at least %v, or 0 for no limit", minMemory))
	}
	return errors.Join(errs...)
}

// Batch holds the limits of a batch. Not covered by the stability page.
type Batch struct {
	// The maximum size of a batch.
	Size field.Size `yaml:"size" min:"4KiB" max:"64MiB"`
	// The maximum time that a batch waits for more records.
	Linger time.Duration `yaml:"linger" max:"1m"`
}

// Admin is the HTTP server with /metrics, /healthz, /readyz and the status
// page. Not covered by the stability page.
type Admin struct {
	// The address to listen on: HOST:PORT, or unix: followed by the path of a socket.
	// An empty string disables the server. If this key is absent and another process
	// uses the default address, urlfold logs a warning and runs without the server.
	Listen string `yaml:"listen" path:"listen"`
	// The host names that requests may use in addition to localhost and IP addresses;
	// "*.example.com" matches all names below example.com. Requests for other names get
	// status 403, which prevents web pages from reading the server through a host name
	// of their own (DNS rebinding). If listen is an address of all interfaces, requests
	// for /metrics and the health checks may use any host, but requests for the other
	// pages must use localhost or a name of this list.
	AllowedHosts []string `yaml:"allowed_hosts"`
	// Whether to serve profiles of the process at /debug/pprof/.
	Pprof bool `yaml:"pprof"`
	// Whether to serve samples of the records at /tap, for "urlfold daemon tap". Passwords
	// and well-known secret parameters are redacted. Requires that listen is unix:PATH
	// or a loopback address.
	Tap bool `yaml:"tap"`
	// The process is not ready while any record that was read longer ago than this is
	// not durable yet.
	ReadyWithin time.Duration `yaml:"ready_within" min:"1s"`
}

// Validate checks the address and the host names.
func (a *Admin) Validate() error {
	var errs field.Errors
	for i, name := range a.AllowedHosts {
		if !hostName().MatchString(name) {
			errs.Wrong(element("allowed_hosts", i), "must be a host name without a port, such as urlfold.example.com or *.example.com")
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
	return field.Wrong("tap", "requires listen: unix:PATH or a loopback address such as 127.0.0.1:8686, because samples show records", "listen")
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
		return field.Wrong("listen", "must be HOST:PORT, such as 127.0.0.1:8686 or \"[::1]:8686\", or unix:PATH")
	}
	return nil
}

// Log configures logging. Not covered by the stability page.
type Log struct {
	// The minimum level of logged messages.
	Level string `yaml:"level" enum:"debug,info,warn,error"`
	// The format of log lines.
	Format string `yaml:"format" enum:"text,json"`
	// The interval in which a component logs the same event only once, even if
	// its attributes differ. In the next such event, the attribute suppressed
	// counts the events that were not logged. 0 disables the limit.
	RepeatInterval time.Duration `yaml:"repeat_interval" max:"1h"`
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
	// The level of the compared keys. Default: codec.key.
	Key string `yaml:"key" enum:"syntax,equivalent,fetch,page,match,shape"`
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
		return field.Wrong("key", "cannot be combined with url, only with same_key or different_key")
	}
	var errs field.Errors
	for i, name := range t.Flags {
		if _, err := codec.ParseFlag(name); err != nil {
			errs.Wrong(element("flags", i), noSuchFlag(codec.AllFlags().Names(), name))
		}
	}
	return errors.Join(errs...)
}

// Written reports whether the document has the key at a path.
func (f *File) Written(path string) bool {
	_, ok := f.d.places[path]
	return ok
}

// ErrorAt returns err with the file, line and column of the value at a path,
// such as "codec.profile", "tests[2].norm" or c.Path() + ".topics[0]". If the
// key is absent, the error has the position of the enclosing key. The text
// contains no URLs and no expanded values.
func (f *File) ErrorAt(path string, err error) *Error { return f.d.errorAt(path, err) }

// ShowAt is like ErrorAt but keeps URLs in the text, for use with the URLs of
// test cases. The caller must mask their passwords.
func (f *File) ShowAt(path string, err error) *Error {
	e := f.d.errorAt(path, err)
	e.Reason = strings.ReplaceAll(err.Error(), "\n", "; ")
	return e
}
