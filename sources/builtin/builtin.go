// Package builtin has the source types of urlfold: files, objects, stdin, Kafka and NATS. It links
// their clients; package sources, which defines other types, does not.
//
// Every program of package config/app has them. Not covered by the stability page.
package builtin

import (
	"errors"
	"os"
	"strings"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sources/file"
	"github.com/urlfold/urlfold/sources/kafka"
	"github.com/urlfold/urlfold/sources/nats"
	"github.com/urlfold/urlfold/sources/objects"
	"github.com/urlfold/urlfold/sources/s3"
)

// Types returns the types, sorted by name, in a new slice.
func Types() []kinds.Source {
	return []kinds.Source{
		kinds.NewSource("file", ptr(file.DefaultSettings), newFile),
		kinds.NewSource("jetstream", ptr(nats.DefaultJetStream), newJetStream),
		kinds.NewSource("kafka", kafka.Default, newKafka),
		kinds.NewSource("nats", ptr(nats.DefaultCore), newCore),
		kinds.NewSource("objects", ptr(objects.Default), newObjects),
		kinds.NewSource("s3", ptr(s3.Default), newS3),
		kinds.NewSource("stdin", ptr(file.DefaultStdin), newStdin),
	}
}

// host returns what the process provides to file sources.
func host(env kinds.SourceEnv) file.Host {
	h, _ := env.Files.(file.Host)
	return h
}

// ptr returns a function that returns a pointer to a result of f.
func ptr[C any](f func() C) func() *C {
	return func() *C { return new(f()) }
}

// watching returns what env has for a source that reads files. It also sets the value
// that only an environment variable changes: the distance between restart points in bytes.
func watching(env kinds.SourceEnv, every *field.Size) (c file.WatchConfig, err error) {
	if text := os.Getenv("URLFOLD_RESTART_POINT_EVERY"); text != "" {
		if err := every.UnmarshalText([]byte(text)); err != nil || *every <= 0 {
			return c, errors.New("URLFOLD_RESTART_POINT_EVERY: must be a size, such as 64MiB")
		}
	}
	return file.WatchConfig{
		Host: host(env), Name: env.Name, Framing: env.Framing, MaxRecord: env.MaxRecord, UntilEOF: env.UntilEOF, Logger: env.Logger,
	}, nil
}

func newFile(c file.Settings, env kinds.SourceEnv) (engine.Source, error) {
	w, err := watching(env, &c.RestartPointEvery)
	if err != nil {
		return nil, err
	}
	w.Settings = c
	return file.NewWatcher(w)
}

func newS3(c s3.Config, env kinds.SourceEnv) (engine.Source, error) {
	w, err := watching(env, &c.RestartPointEvery)
	if err != nil {
		return nil, err
	}
	return s3.New(c, w)
}

func newObjects(c objects.Config, env kinds.SourceEnv) (engine.Source, error) {
	w, err := watching(env, &c.RestartPointEvery)
	if err != nil {
		return nil, err
	}
	c.UntilEOF = env.UntilEOF
	return objects.New(c, w)
}

func newStdin(c file.StdinSettings, env kinds.SourceEnv) (engine.Source, error) {
	if env.Stdin == nil {
		env.Stdin = strings.NewReader("")
	}
	cfg := file.Config{Stdin: env.Stdin, Framing: env.Framing, MaxRecord: env.MaxRecord, Linger: env.Linger}
	return file.NewStdin(c, cfg, host(env).OnReport)
}

func newKafka(c kafka.Config, env kinds.SourceEnv) (engine.Source, error) {
	c.BatchBytes, c.BatchRecords, c.Linger, c.UntilEOF = env.BatchBytes, env.BatchRecords, env.Linger, env.UntilEOF
	return kafka.New(c, env.Logger)
}

func newJetStream(c nats.JetStreamConfig, env kinds.SourceEnv) (engine.Source, error) {
	c.UntilEOF, c.Delays, c.Logger, c.Batch.Linger, c.NATS.Domain = env.UntilEOF, env.Delays, env.Logger, env.Linger, c.Domain
	return nats.NewJetStream(c)
}

// errNoEnd is the error of a core NATS source in a run that is to end with its
// input.
var errNoEnd = errors.New("core NATS stores no messages, so a run cannot end with its input")

func newCore(c nats.CoreConfig, env kinds.SourceEnv) (engine.Source, error) {
	if env.UntilEOF {
		return nil, errNoEnd
	}
	c.Logger, c.Batch.Linger = env.Logger, env.Linger
	return nats.NewCore(c)
}
