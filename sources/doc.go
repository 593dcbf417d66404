// Package sources is the home of the sources: one folder for each, none of which
// knows another. What every source must keep is in contract_test.go here, one
// suite for all of them.
package sources
