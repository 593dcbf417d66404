package nats

import "github.com/nats-io/nats.go/jetstream"

// streamConfig returns the configuration of a test stream.
func streamConfig(name, subjects string) jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: name, Subjects: []string{subjects}}
}
