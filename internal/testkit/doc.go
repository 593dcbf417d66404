// Package testkit holds stand-ins for tests of sources and sinks: a Runtime that
// keeps what it is given and sees every broken promise. Only tests import it.
package testkit
