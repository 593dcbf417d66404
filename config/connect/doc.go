// Package connect holds the connection settings that the sources and the sinks of a
// system share: brokers of Kafka, servers of NATS, encryption and login. Package
// config fills them; see package config/field.
package connect
