// Package connect holds the connection settings that sources and sinks share:
// Kafka brokers, NATS servers, encryption and credentials. Package config fills
// them; see package config/field.
//
// Not covered by the stability page.
package connect
