package parquet

import (
	"fmt"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// Limits bounds the memory and the time that a file may take, whatever it
// announces. The zero value means the defaults.
type Limits struct {
	// MaxPage is the maximum length of a decompressed page in bytes. The
	// columns with URLs share half of this: with n such columns, a page of each
	// may have MaxPage/2/n bytes. 0: 128 MiB. Option --max-window.
	MaxPage int64
	// MaxRatio is the maximum number of decompressed bytes of pages per
	// compressed byte, checked after 64 MiB; 0: 1000; negative: no limit. Option
	// --max-ratio.
	MaxRatio int64
	// MaxExpansion is the maximum number of bytes of text per byte of the file,
	// checked after 64 MiB; 0: 100 times MaxRatio; negative: no limit.
	// Dictionaries hold a value once however often it occurs, so the text can
	// be much longer than the pages.
	MaxExpansion int64
	// Expands enables MaxExpansion. A run that copies tables does not set it.
	Expands bool
	// Whole makes a Text also read the columns without URLs and the indexes, to
	// find damage in them before a Rewriter copies them.
	Whole bool
}

const (
	defaultMaxPage = 128 << 20
	limitGrace     = 64 << 20

	// expansionFactor admits 10 million rows of one URL in a file of 59 KB, whose
	// text is 5,745 times as long.
	expansionFactor = 100
)

func (l Limits) withDefaults() Limits {
	if l.MaxPage <= 0 {
		l.MaxPage = defaultMaxPage
	}
	if l.MaxRatio == 0 {
		l.MaxRatio = compress.DefaultMaxRatio
	}
	if l.MaxExpansion == 0 {
		l.MaxExpansion = expansionFactor * l.MaxRatio
	}
	return l
}

// An expansion counts the bytes of the pages that were decompressed.
type expansion struct{ compressed, decompressed int64 }

// add counts a page that is about to be decompressed.
func (e *expansion) add(compressed, decompressed, ratio int64) error {
	e.compressed += compressed
	e.decompressed += decompressed
	if ratio > 0 && e.decompressed > limitGrace && e.decompressed/ratio > e.compressed {
		return &compress.LimitError{Detail: fmt.Sprintf("compression ratio of the pages exceeds %d (--max-ratio)", ratio)}
	}
	return nil
}

// urlPage returns the maximum length of a page in n columns with URLs. One page of
// each of these columns is in memory all the time.
func (l Limits) urlPage(n int) int64 { return l.MaxPage / 2 / int64(n) }
