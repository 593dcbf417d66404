package fault

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A Plan maps points to actions. Its methods may be called from any goroutine.
// A nil Plan does nothing.
type Plan struct {
	mu    sync.Mutex
	rules []rule
}

// A rule is one part of a plan.
type rule struct {
	name     string // without a trailing *
	prefix   bool
	what     action
	delay    time.Duration
	from, to int // first and last hit that the rule applies to, counted from 1
	hits     int // number of hits until now
}

type action uint8

const (
	kill action = iota
	noSpace
	ioError
	noFiles
	noFilesAnywhere
	noMemory
	stale
	delay
)

// errnoActions maps names to the actions that make an operation fail.
var errnoActions = map[string]action{
	"enospc": noSpace, "eio": ioError, "emfile": noFiles, "enfile": noFilesAnywhere, "enomem": noMemory, "estale": stale,
}

// errnos maps these actions to errors.
var errnos = map[action]syscall.Errno{
	noSpace: syscall.ENOSPC, ioError: syscall.EIO, noFiles: syscall.EMFILE, noFilesAnywhere: syscall.ENFILE,
	noMemory: syscall.ENOMEM, stale: syscall.ESTALE,
}

const always = int(^uint(0) >> 1)

// Parse parses a plan: rules separated by commas, each in one of the forms
//
//	NAME=ACTION      at every hit of the point NAME
//	NAME=ACTION@3    at the third hit
//	NAME=ACTION@5..9 from the fifth to the ninth hit; @5.. from the fifth on
//
// A NAME that ends in * applies to all points with that prefix, which share one
// count. An ACTION is kill (the process dies as if by kill -9), delay:DURATION,
// or a system error: enospc, eio, emfile, enfile, enomem, estale. An empty text
// is an empty plan.
func Parse(text string) (*Plan, error) {
	p := new(Plan)
	if text == "" {
		return p, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		r, err := parseRule(part)
		if err != nil {
			return nil, fmt.Errorf("fault: %q: %w", part, err)
		}
		p.rules = append(p.rules, r)
	}
	return p, nil
}

func parseRule(text string) (r rule, err error) {
	name, rest, ok := strings.Cut(strings.TrimSpace(text), "=")
	if !ok || name == "" {
		return r, fmt.Errorf("not NAME=ACTION")
	}
	r.name, r.prefix = strings.CutSuffix(name, "*")
	what, when, bounded := strings.Cut(rest, "@")
	switch length, timed := strings.CutPrefix(what, "delay:"); {
	case timed:
		r.what = delay
		r.delay, err = time.ParseDuration(length)
	case what == "kill":
		r.what = kill
	default:
		if r.what, ok = errnoActions[what]; !ok {
			err = fmt.Errorf("action must be kill, delay:DURATION, enospc, eio, emfile, enfile, enomem or estale")
		}
	}
	r.from, r.to = 1, always
	if bounded && err == nil {
		err = r.parseHits(when)
	}
	return r, err
}

// parseHits parses the part after the @.
func (r *rule) parseHits(text string) error {
	first, last, isRange := strings.Cut(text, "..")
	from, err := strconv.Atoi(first)
	to := from
	switch {
	case err != nil:
		return err
	case isRange && last == "":
		to = always
	case isRange:
		to, err = strconv.Atoi(last)
	}
	if err == nil && (from < 1 || to < from) {
		err = fmt.Errorf("hits are counted from 1")
	}
	r.from, r.to = from, to
	return err
}

// At performs the action of the plan for the point name. It returns the error
// with which the operation must fail, or nil.
func (p *Plan) At(name string) error {
	if p == nil {
		return nil
	}
	r, ok := p.hit(name)
	if !ok {
		return nil
	}
	switch r.what {
	case kill:
		die()
	case delay:
		<-time.After(r.delay)
	default:
		return &os.PathError{Op: "fault", Path: name, Err: errnos[r.what]}
	}
	return nil
}

// hit counts a hit and returns the first rule that applies to it.
func (p *Plan) hit(name string) (rule, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	found := -1
	for i := range p.rules {
		r := &p.rules[i]
		if name != r.name && !(r.prefix && strings.HasPrefix(name, r.name)) {
			continue
		}
		r.hits++
		if found < 0 && r.from <= r.hits && r.hits <= r.to {
			found = i
		}
	}
	if found < 0 {
		return rule{}, false
	}
	return p.rules[found], true
}

// die ends the process as kill -9 does: without flushing anything or running
// deferred functions.
func die() {
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Kill() // if this fails, the panic below ends the process
	}
	<-time.After(time.Minute) // wait for the signal
	panic("fault: the process cannot kill itself")
}
