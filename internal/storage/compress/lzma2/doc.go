// Package lzma2 decodes the data of an xz block: LZMA2, as named in section
// 5.3.1 of the .xz file format 1.0.4 and written by XZ Utils.
//
// It exists for one property that no library has: a [Reader] of truncated or
// damaged data returns every byte that can be decoded before the damage, as xz
// does. github.com/ulikunitz/xz drops the whole current chunk, up to 2 MiB, and
// reads one byte more than the last symbol needs; the ports of XZ Embedded stop
// 21 bytes before the end of the available data. Neither exports the state that
// would allow a fix from outside.
//
// The package only decodes. Package compress reads the container with its
// checks, sizes and indexes.
package lzma2
