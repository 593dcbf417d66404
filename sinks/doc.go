// Package sinks defines types of sinks that a configuration can name: see [Define]. The
// types of this module are in the subfolders, which do not import each other. A program
// that uses package config/app has all of them. One test suite tests all types.
package sinks
