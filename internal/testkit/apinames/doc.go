// Package apinames lists the exported names that the stability page covers, and has the
// test that keeps them few and used. It has no other code.
package apinames
