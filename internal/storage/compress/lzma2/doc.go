// Package lzma2 decodes the data of an xz block: LZMA2, as the .xz file format
// 1.0.4, section 5.3.1, names it and XZ Utils write it.
//
// It exists for one property that no library has: a [Reader] of truncated or
// damaged data returns every byte that can be decoded before the damage, as xz
// does. github.com/ulikunitz/xz drops all of the current chunk, up to 2 MiB, and
// reads one byte further than the last symbol needs; the ports of XZ Embedded stop
// 21 bytes before the end of what there is. Both keep their state to themselves.
//
// It decodes and does nothing else: checks, sizes and indexes belong to the
// container, which is read by package compress.
package lzma2
