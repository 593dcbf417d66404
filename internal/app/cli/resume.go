package cli

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/internal/storage/disk"
	"github.com/urlfold/urlfold/sources/file"
)

// This file writes the record of finished outputs of --resume: a line for each, with a
// checksum. The line is written when the output is complete and synced but not yet at
// its final name, and names the file by its stamp. So even if the process is killed,
// the next run recognizes a line without its output, and ignores a torn line.

// recordHead is the first line of the record.
const recordHead = "urlfold outputs 1\n"

// A madeOutput says what an output was made from.
type madeOutput struct {
	Output   string `json:"output"` // its path below the folder, quoted as in Go
	Made     string `json:"made"`   // its stamp
	Input    string `json:"input"`  // the lane of its input
	Settings string `json:"settings"`
}

// A resumption holds the finished outputs of a folder, and records further ones.
type resumption struct {
	dir, settings string
	outputs       map[string]string // output by input
	inputs        map[string]string // the stamp of each input when reading began
	finished      []string          // inputs whose outputs are finished

	mu   sync.Mutex
	file *disk.File
}

// newResumption reads the record of finished outputs in the folder of outputs.
func newResumption(s *settings, source *file.Source, outputs map[string]string) (*resumption, error) {
	r := &resumption{dir: s.OutputDir, settings: s.fingerprint(), outputs: outputs, inputs: map[string]string{}}
	known, err := r.read()
	if err != nil {
		return nil, fmt.Errorf("--resume: %w", err)
	}
	var keep []madeOutput
	for input, output := range outputs {
		if o := source.Object(input); o != nil {
			r.inputs[input] = o.Stamp()
		} else if fi, err := os.Stat(input); err == nil {
			r.inputs[input] = file.Stamp(fi)
		} else {
			continue
		}
		m := known[r.name(output)]
		made, err := os.Lstat(output)
		if err == nil && m.Made == file.Stamp(made) && m.Input == r.inputs[input] && m.Settings == r.settings {
			r.finished, keep = append(r.finished, input), append(keep, m)
		}
	}
	slices.Sort(r.finished)
	if s.DryRun {
		return r, nil
	}
	return r, r.rewrite(keep)
}

// name returns the name of an output in the record.
func (r *resumption) name(output string) string {
	rel, err := filepath.Rel(r.dir, output)
	if err != nil {
		rel = output
	}
	return strconv.QuoteToASCII(filepath.ToSlash(rel))
}

// read returns the lines of the record by output. The last line about an output
// counts.
func (r *resumption) read() (map[string]madeOutput, error) {
	known := map[string]madeOutput{}
	text, err := os.ReadFile(filepath.Join(r.dir, disk.RecordName))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	for line := range bytes.Lines(bytes.TrimPrefix(text, []byte(recordHead))) {
		sum, body, _ := strings.Cut(string(line), " ")
		var m madeOutput
		if sum == fmt.Sprintf("%08x", crc32.ChecksumIEEE([]byte(body))) && json.Unmarshal([]byte(body), &m) == nil {
			known[m.Output] = m
		}
	}
	return known, err
}

// rewrite replaces the record by one with these lines, and opens it for more.
func (r *resumption) rewrite(lines []madeOutput) error {
	if err := disk.MkdirAll(r.dir, 0o777); err != nil {
		return err
	}
	name := filepath.Join(r.dir, disk.RecordName)
	f, err := disk.Recreate(name+".part", 0o600)
	if err != nil {
		return err
	}
	text := []byte(recordHead)
	for _, m := range lines {
		text = append(text, m.line()...)
	}
	if _, err = f.Write(text); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = disk.Publish(name+".part", name)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file = f
	return nil
}

// line returns the line of the record about m.
func (m madeOutput) line() string {
	body, _ := json.Marshal(m) // cannot fail: all members are strings
	body = append(body, '\n')
	return fmt.Sprintf("%08x %s", crc32.ChecksumIEEE(body), body)
}

// made records that the output of an intact input is complete in the file part.
func (r *resumption) made(input, part string) error {
	fi, err := os.Lstat(part)
	if err != nil {
		return err
	}
	m := madeOutput{Output: r.name(r.outputs[input]), Made: file.Stamp(fi), Input: r.inputs[input], Settings: r.settings}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, err = r.file.WriteString(m.line())
	return err
}

// fingerprint returns a hash of what the outputs depend on besides the inputs.
func (s *settings) fingerprint() string {
	o := *s.options
	o.Exclude, o.AllowEmpty, o.SkipUnknown, o.Output, o.OutputDir, o.Force, o.Resume, o.DryRun, o.Report = nil, false, false, "", "", false, false, false, ""
	o.MaxMemory, o.TempDir, o.Jobs, o.Index, o.FailOn, o.Quiet, o.Progress, o.LogLevel, o.LineBuffered = 0, "", 0, "", nil, false, "", "", false
	n := s.record.Normalizer
	key, _ := s.hmacKey()                // resolve has reported the error
	profile, _ := os.ReadFile(s.Profile) // empty unless the profile is a file
	text, err := json.Marshal([]any{
		version(), builtin, fmt.Sprintf("%+v", n.Profile()), profile, n.PolicyVersions(s.record.Level), n.KeyFunction(s.record.Level), fmt.Sprintf("%x", sha256.Sum256(key)),
		o.Format, o.Codec, o.inputOptions, o.codecOptions, o.outputOptions, o.limitOptions, o.runOptions,
	})
	if err != nil {
		panic("BUG: settings cannot be written: " + err.Error())
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))[:32]
}
