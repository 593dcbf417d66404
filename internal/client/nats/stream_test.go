package nats

import "github.com/nats-io/nats.go/jetstream"

// streamConfig is what a stream of a test is made of.
func streamConfig(name, subjects string) jetstream.StreamConfig {
	return jetstream.StreamConfig{Name: name, Subjects: []string{subjects}}
}
