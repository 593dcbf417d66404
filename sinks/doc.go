// Package sinks defines types of sinks that a configuration can name: see [Define]. Every
// program of package config/app has those of this module, too: each has a folder of its own
// here, which does not import the others. One test suite holds the requirements for all.
package sinks
