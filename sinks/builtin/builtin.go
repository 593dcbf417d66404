// Package builtin holds the sink types of urlfold: files, objects, stdout,
// Kafka, NATS and discard. It links their clients; package sinks, which defines
// other types, does not.
//
// Every program that uses package config/app has these types.
// Not covered by the stability page.
package builtin

import (
	"io"

	"github.com/urlfold/urlfold/internal/kinds"
	"github.com/urlfold/urlfold/pipeline/engine"
	"github.com/urlfold/urlfold/sinks/discard"
	"github.com/urlfold/urlfold/sinks/file"
	"github.com/urlfold/urlfold/sinks/kafka"
	"github.com/urlfold/urlfold/sinks/nats"
	"github.com/urlfold/urlfold/sinks/s3"
)

// Types returns the types, sorted by name, in a new slice.
func Types() []kinds.Sink {
	return []kinds.Sink{
		kinds.NewSink("discard", func() *discard.Config { return new(discard.Config) }, newDiscard),
		kinds.NewSink("file", ptr(file.DefaultLogConfig), newFile),
		kinds.NewSink("jetstream", ptr(nats.DefaultJetStream), newJetStream),
		kinds.NewSink("kafka", kafka.Default, newKafka),
		kinds.NewSink("nats", ptr(nats.DefaultCore), newCore),
		kinds.NewSink("s3", ptr(s3.Default), newS3),
		kinds.NewSink("stdout", func() *file.StdoutConfig { return new(file.StdoutConfig) }, newStdout),
	}
}

// ptr returns a function that returns a pointer to the result of f.
func ptr[C any](f func() C) func() *C {
	return func() *C { return new(f()) }
}

func newFile(c file.LogConfig, env kinds.SinkEnv) (engine.Sink, error) {
	return file.NewLog(*provide(&c, env))
}

func newS3(c s3.Config, env kinds.SinkEnv) (engine.Sink, error) {
	return s3.New(c, provide(c.Files(env.DataDir, env.Name), env))
}

// provide adds what the process provides to the configuration of a file sink.
func provide(c *file.LogConfig, env kinds.SinkEnv) *file.LogConfig {
	c.Resume, c.Lost, c.SourceNames, c.Batches, c.Logger = env.Resume, env.Lost, env.SourceNames, env.Batches, env.Logger
	c.ExactlyOnce, c.OpenFiles = c.ExactlyOnce || env.ExactlyOnce, env.OpenFiles
	c.DeadLetter, c.Header, c.Quoted = env.DeadLetter, env.Header, env.CSV
	return c
}

func newStdout(c file.StdoutConfig, env kinds.SinkEnv) (engine.Sink, error) {
	if env.Stdout == nil {
		env.Stdout = io.Discard
	}
	c.Header = env.Header
	return file.NewStdout(c, env.Stdout)
}

func newKafka(c kafka.Config, env kinds.SinkEnv) (engine.Sink, error) {
	c.ExactlyOnce, c.Name, c.Resume = c.ExactlyOnce || env.ExactlyOnce, env.Name, env.Resume
	return kafka.New(c, env.Logger)
}

func newJetStream(c nats.JetStreamConfig, env kinds.SinkEnv) (engine.Sink, error) {
	c.Logger, c.NATS.Domain, c.Publish.Ordered = env.Logger, c.Domain, c.Publish.Ordered || env.Ordered
	return nats.NewJetStream(c)
}

func newCore(c nats.CoreConfig, env kinds.SinkEnv) (engine.Sink, error) {
	c.Logger = env.Logger
	return nats.NewCore(c)
}

func newDiscard(c discard.Config, _ kinds.SinkEnv) (engine.Sink, error) { return discard.New(c), nil }
