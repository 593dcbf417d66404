// Package layers contains the rules about imports between the packages of this
// module, and the test that checks them: see layers_test.go. It has no other
// code.
package layers
