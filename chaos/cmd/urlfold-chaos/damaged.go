package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/urlfold/urlfold/chaos"
)

var harms = []experiment{
	{
		name: "damaged", no: "3", about: "500 damaged files of each compression format, compared with the output of the reference program; one-shot, one file at a time, and daemon",
		bound: "exit code 0 never for a file that the reference rejects; at least the reference's records before the damage; garbage is damage and padding a warning",
		run:   damaged,
	},
}

// damaged damages archives of every format.
func damaged(ctx context.Context, l *lab) error {
	bin, err := l.program(ctx)
	if err != nil {
		return err
	}
	for i, format := range chaos.ArchiveFormats {
		rng := rand.New(rand.NewPCG(l.seed, uint64(i)))
		archives, err := chaos.Archives(rng, format, 150<<10)
		if errors.Is(err, chaos.ErrNoProgram) {
			l.did("%s: skipped: %v", format, err)
			continue
		} else if err != nil {
			return err
		}
		if err := l.damagedFormat(ctx, bin, rng, format, archives); err != nil {
			return err
		}
	}
	return nil
}

// A patient is a damaged archive and the expectations about it.
type patient struct {
	archive *chaos.Archive
	text    []byte // output for the undamaged archive
	name    string
	packed  []byte
	harm    chaos.Harm
	ref     *chaos.Reference
}

func (l *lab) damagedFormat(ctx context.Context, bin string, rng *rand.Rand, format string, archives []chaos.Archive) error {
	dir := l.path("in", format)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	texts := make([][]byte, len(archives))
	for i, a := range archives {
		plain := l.path(fmt.Sprintf("%s-%d.txt", format, i))
		if err := os.WriteFile(plain, a.Text, 0o644); err != nil {
			return err
		}
		var code int
		var err error
		if texts[i], code, err = oneShot(ctx, bin, plain); err != nil || code != 0 {
			return fmt.Errorf("%s: exit code %d: %w", plain, code, err)
		}
	}
	referee, err := chaos.NewReferee(format)
	if err != nil && !errors.Is(err, chaos.ErrNoProgram) {
		return err
	}
	compared := "with the reference program"
	if err != nil {
		referee, compared = nil, "with the original text: "+err.Error()
	} else {
		defer referee.Close()
	}
	var all []patient
	for i := range l.times(20, 500) {
		a := &archives[i%len(archives)]
		p := patient{archive: a, text: texts[i%len(archives)], name: fmt.Sprintf("%04d%s", i, a.Ext)}
		p.packed, p.harm = chaos.Damage(rng, a)
		if referee != nil {
			ref, err := referee.Read(ctx, p.packed)
			if err != nil {
				return err
			}
			p.ref = &ref
		}
		if err := os.WriteFile(filepath.Join(dir, p.name), p.packed, 0o644); err != nil {
			return err
		}
		all = append(all, p)
	}
	if err := l.oneByOne(ctx, bin, dir, all); err != nil {
		return err
	}
	l.did("%s: %d files of %d kinds, compared %s", format, len(all), len(archives), compared)
	return l.damagedDaemon(ctx, format, all)
}

// oneShot runs the program on one file and returns its output.
func oneShot(ctx context.Context, bin, file string) (out []byte, code int, err error) {
	var buf bytes.Buffer
	cmd := exec.CommandContext(ctx, bin, "--quiet", "-f", "lines", file)
	cmd.Stdout = &buf
	err = cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Exited() {
		return buf.Bytes(), exit.ExitCode(), nil
	}
	return buf.Bytes(), 0, err
}

// oneByOne runs the program on each file, two at a time.
func (l *lab) oneByOne(ctx context.Context, bin, dir string, all []patient) error {
	var mu sync.Mutex
	var wg sync.WaitGroup
	var failed error
	refused := 0
	for worker := range 2 {
		wg.Go(func() {
			for i := worker; i < len(all); i += 2 {
				p := &all[i]
				out, code, err := oneShot(ctx, bin, filepath.Join(dir, p.name))
				wrong := ""
				if code != 0 && code != 3 && code != 4 {
					wrong = fmt.Sprintf("exit code %d", code)
				} else {
					wrong = p.archive.Judge(p.harm, p.packed, p.ref, chaos.Outcome{Lines: out, Damage: code != 0}, p.text)
				}
				mu.Lock()
				failed = errors.Join(failed, err)
				if p.ref != nil && p.ref.Refused {
					refused++
				}
				l.check(wrong == "", "%s, %s, %s: %s", p.name, p.archive.Name, p.harm, wrong)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	l.figure(filepath.Base(dir)+": files that the reference rejects", refused)
	return failed
}

// damagedDaemon lets the daemon read the same files together. It checks only
// the output, not the verdicts in the log.
func (l *lab) damagedDaemon(ctx context.Context, format string, all []patient) error {
	s := &setup{
		dir: l.path("daemon-" + format), in: l.path("in", format, "*"), spec: chaos.Spec{Format: chaos.Lines},
		out: "{source.relpath}.log", source: quickSource, more: "log: {format: json, repeat_interval: 0s}\n",
	}
	p, err := s.begin(ctx, l)
	if err != nil {
		return err
	}
	if err := l.ends(ctx, p, 4); err != nil {
		return err
	}
	for i := range all {
		one := &all[i]
		out, err := os.ReadFile(filepath.Join(s.outDir, strings.TrimSuffix(one.name, one.archive.Ext)+".log"))
		if err != nil && !errors.Is(err, os.ErrNotExist) { // without output records, there is no output file
			return err
		}
		wrong := one.archive.Judge(one.harm, one.packed, one.ref, chaos.Outcome{Lines: out, Damage: true}, one.text)
		l.check(wrong == "" || strings.HasPrefix(wrong, "zero padding"), "%s, %s, %s, by the daemon: %s", one.name, one.archive.Name, one.harm, wrong)
	}
	return nil
}
