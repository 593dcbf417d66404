package config

import (
	"errors"
	"fmt"
	"net"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config/field"
)

// A File is a whole configuration: one linear pipeline, and how it is run. Load
// and Parse make it; what was not written has its default.
type File struct {
	// The version of this layout.
	Version int `yaml:"version" min:"1" max:"1"`
	// The folder of checkpoints, restart points and the lock.
	DataDir string `yaml:"data_dir" min:"1"`
	// Where records come from.
	Sources []Component `yaml:"sources,required" min:"1"`
	// How records are read, what is done with their URLs, and what is written.
	Codec Codec `yaml:"codec,required"`
	// Where records go, each of them to all of these.
	Sinks []Component `yaml:"sinks,required" min:"1"`
	// Where records go that are rejected.
	DeadLetter *Component `yaml:"dead_letter"`
	// Batches, workers, order and commits.
	Pipeline Pipeline `yaml:"pipeline"`
	// The end of a run.
	Shutdown Shutdown `yaml:"shutdown"`
	// The HTTP server for metrics, health and status.
	Admin Admin `yaml:"admin"`
	// What is logged, and how.
	Log Log `yaml:"log"`
	// When the process says that it is not ready.
	Ready Ready `yaml:"ready"`
	// The memory of the process.
	Memory Memory `yaml:"memory"`
	// Cases that "urlfold test" runs.
	Tests []Test `yaml:"tests"`

	d *decoder
}

// Default returns a configuration in which nothing is written.
func Default() *File {
	return &File{
		Version: 1,
		DataDir: "/var/lib/urlfold",
		Codec:   Codec{Target: "request", Profile: "equiv", Hash: "xxh3-128", KeyFormat: "hex", Render: Render{Form: "rewrite"}},
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

// Pipeline is how records flow.
type Pipeline struct {
	// The number of workers; 0 is one for each core.
	Workers int `yaml:"workers" min:"0" max:"1024"`
	// The order in which a sink gets records: any, or that of each file, partition or consumer.
	Ordering string `yaml:"ordering" enum:"none,per_lane"`
	// When a batch is full.
	Batch Batch `yaml:"batch"`
	// How much is read before what was read before it is durable in every sink.
	MaxInFlight MaxInFlight `yaml:"max_in_flight"`
	// The time between two commits of what is durable.
	CommitInterval time.Duration `yaml:"commit_interval" min:"10ms" max:"1h"`
	// The longest record.
	MaxRecordBytes field.Size `yaml:"max_record_bytes" min:"1KiB" max:"256MiB"`
	// What becomes of a record that is longer: it goes to the dead letter, is cut, passes through unread, or ends the run, when all before it in its file, partition or stream is durable. Default: dead_letter, and pass_through if none is configured.
	OnOversize string `yaml:"on_oversize" enum:"dead_letter,truncate,pass_through,stop"`
	// What becomes of a record without a reading. Default: dead_letter, and pass_through if none is configured.
	OnReject string `yaml:"on_reject" enum:"dead_letter,pass_through"`
	// What becomes of a record that a sink refuses for good: a broker finds it too long, or without the key that its topic needs. dead_letter writes it there; after three consecutive batches that were refused as a whole with one code, the lane blocks nevertheless. block retries the record until the sink takes it: its file, partition or stream waits, and the process is not ready. drop loses the record, counts it, and ends a run with exit code 4. Default: dead_letter, and block if none is configured.
	OnRefused string `yaml:"on_refused" enum:"dead_letter,block,drop"`
}

// Batch says when a batch is full.
type Batch struct {
	// It has so many bytes.
	Bytes field.Size `yaml:"bytes" min:"4KiB" max:"64MiB"`
	// It has so many messages. Files have no limit of records.
	Records int `yaml:"records" min:"1" max:"1000000"`
	// It has waited so long for more.
	Linger time.Duration `yaml:"linger" max:"1m"`
}

// MaxInFlight bounds what is not durable yet.
type MaxInFlight struct {
	// The number of batches.
	Batches int `yaml:"batches" min:"4" max:"65536"`
	// The bytes of their input.
	Bytes field.Size `yaml:"bytes" min:"64KiB" max:"64GiB"`
}

// Validate looks for contradictions.
func (p *Pipeline) Validate() error {
	if p.MaxInFlight.Bytes < p.Batch.Bytes {
		return &field.Error{Field: "max_in_flight.bytes", With: []string{"batch.bytes"}, Err: errors.New("is less than one batch (batch.bytes)")}
	}
	return nil
}

// Shutdown is the end of a run.
type Shutdown struct {
	// The time from the signal to the end of the process. After three quarters of it, what is not durable is given up, and read again after the next start.
	Timeout time.Duration `yaml:"timeout" min:"1s" max:"1h"`
}

// Admin is the HTTP server with /metrics, /healthz, /readyz and the status page.
type Admin struct {
	// The address, HOST:PORT, or unix: and the path of a socket; the empty text turns the server off.
	Listen string `yaml:"listen"`
	// The host names under which a request is answered, besides localhost and IP addresses; "*.example.com" stands for all names below example.com. A request that asks for another name is answered with 403, so that no web page can read the server through a name of its own (DNS rebinding).
	AllowedHosts []string `yaml:"allowed_hosts"`
	// Whether profiles of the process are served, at /debug/pprof/.
	Pprof bool `yaml:"pprof"`
}

// Validate checks the address and the names.
func (a *Admin) Validate() error {
	var errs []error
	for i, name := range a.AllowedHosts {
		if !hostName.MatchString(name) {
			errs = append(errs, &field.Error{Field: element("allowed_hosts", i), Err: errors.New("must be a host name without a port, such as urlfold.example.com or *.example.com")})
		}
	}
	return errors.Join(append(errs, a.validateListen())...)
}

// hostName is a name that a Host header may have, or *. and one.
var hostName = regexp.MustCompile(`^(\*\.)?[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([-A-Za-z0-9_]*[A-Za-z0-9_])?)*\.?$`)

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
		return &field.Error{Field: "listen", Err: errors.New("an address is HOST:PORT, such as 127.0.0.1:8686 or \"[::1]:8686\", or unix:PATH")}
	}
	return nil
}

// Log is what is logged, and how.
type Log struct {
	// The least level that is logged.
	Level string `yaml:"level" enum:"debug,info,warn,error"`
	// The form of a line.
	Format string `yaml:"format" enum:"text,json"`
	// The time in which one message is logged once; 0 turns the limit off.
	RateLimit time.Duration `yaml:"rate_limit" max:"1h"`
}

// Ready says when the process is not ready.
type Ready struct {
	// A record that was read so long ago is not durable yet.
	MaxUnresolved time.Duration `yaml:"max_unresolved" min:"1s"`
}

// Memory is the memory of the process.
type Memory struct {
	// How much the process should need at most, 32MiB or more; 0 is no limit.
	Limit field.Size `yaml:"limit"`
}

// minMemory is what the program needs before there is a record in it.
const minMemory = 32 * field.MiB

// Validate checks that the program itself fits.
func (m *Memory) Validate() error {
	if 0 < m.Limit && m.Limit < minMemory {
		return &field.Error{Field: "limit", Err: fmt.Errorf("must be at least %v, which the program needs without records, or 0 for no limit", minMemory)}
	}
	return nil
}

// A Test is a case that "urlfold test" runs: a URL and what becomes of it, or
// URLs that have, or have not, one key.
type Test struct {
	// The URL. It goes with norm, flags and reject.
	URL string `yaml:"url"`
	// Its normal form.
	Norm string `yaml:"norm"`
	// Its flags, all of them; an empty list says that it has none.
	Flags []string `yaml:"flags"`
	// Why it is rejected.
	Reject string `yaml:"reject"`
	// URLs that all have the same key.
	SameKey []string `yaml:"same_key" min:"2"`
	// URLs of which no two have the same key.
	DifferentKey []string `yaml:"different_key" min:"2"`
	// The level of the keys. Default: that of the codec.
	Key string `yaml:"key" enum:"k0,k1,k2,k3"`
}

// Validate checks that the case is one, and that its names exist.
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
		return errors.New("a case has one of url, same_key and different_key")
	case t.URL != "" && !expects:
		return errors.New("nothing is expected of the url: norm, flags and reject say what")
	case t.URL == "" && expects:
		return errors.New("norm, flags and reject go with url")
	case t.Norm != "" && t.Reject != "":
		return errors.New("what is rejected has no norm")
	case t.Key != "" && t.URL != "":
		return &field.Error{Field: "key", Err: errors.New("goes with same_key and different_key")}
	}
	return t.checkNames()
}

func (t *Test) checkNames() error {
	var errs []error
	for i, name := range t.Flags {
		if _, err := codec.ParseFlag(name); err != nil {
			errs = append(errs, &field.Error{Field: element("flags", i), Err: errors.New(noSuchFlag(codec.AllFlags().Names(), name))})
		}
	}
	return errors.Join(errs...)
}

// ErrorAt returns an error about what is written at a path, such as
// "codec.format", "tests[2].norm" or c.Path() + ".topics[0]", with file, line and
// column. If it is not written, the place is that of the key around it. What
// looks like a URL, and values that were put in, are not in the text.
func (f *File) ErrorAt(path string, err error) *Error { return f.d.errorAt(path, err) }

// ShowAt is as ErrorAt, and shows URLs in the text: those of a case, which are
// written to be looked at. The caller hides their passwords.
func (f *File) ShowAt(path string, err error) *Error {
	e := f.d.errorAt(path, err)
	e.Reason = strings.ReplaceAll(err.Error(), "\n", "; ")
	return e
}
