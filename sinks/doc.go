// Package sinks is the home of the sinks: one folder for each, none of which
// knows another. What every sink must keep is in contract_test.go here, one
// suite for all of them.
package sinks
