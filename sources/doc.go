// Package sources defines types of sources that a configuration can name: see [Define].
// Every program of package config/app has the types of this module, too: each is in a
// separate folder here, which does not import the others. One test suite holds the
// requirements for all.
package sources
