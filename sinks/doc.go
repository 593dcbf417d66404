// Package sinks contains the built-in sinks, one package each, and the registry
// from which a configuration selects them. The sink packages do not depend on
// each other. The contract that every sink must fulfill is tested by the suite
// in contract_test.go.
package sinks
