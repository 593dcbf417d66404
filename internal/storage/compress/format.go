package compress

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"
)

// A Format is the format of a stream. The zero value is Plain.
type Format uint8

// The formats. Unsupported and later values are recognized but not
// decompressed. Stored restart points hold the numbers of the formats before
// Unsupported, so these numbers must not change.
const (
	Plain  Format = iota // not compressed
	Gzip                 // RFC 1952
	Zstd                 // RFC 8878, including skippable frames
	Bzip2                // bzip2 1.0
	XZ                   // the .xz file format 1.0.4
	LZ4                  // the LZ4 frame format, and its legacy form
	Snappy               // the snappy framing format
	S2                   // the snappy framing format with the extensions of S2
	Xerial               // snappy blocks in the framing of the xerial library and Kafka
	Zlib                 // RFC 1950
	Unsupported
	Parquet // Apache Parquet; can be read only as a Table
	Avro    // an Avro object container file; can be read only as a Table
)

var formatNames = [...]string{
	Plain: "plain", Gzip: "gzip", Zstd: "zstd", Bzip2: "bzip2", XZ: "xz", LZ4: "lz4",
	Snappy: "snappy", S2: "s2", Xerial: "xerial-snappy", Zlib: "zlib", Unsupported: "unsupported", Parquet: "parquet", Avro: "avro",
}

// String returns the name of the format in lower case, such as "gzip".
func (f Format) String() string {
	if int(f) < len(formatNames) {
		return formatNames[f]
	}
	return "unknown"
}

// A magic is the magic number of a format.
type magic struct {
	bytes  string
	format Format
	name   string // name of an unsupported format
}

// No entry is a prefix of another. The bzip2 entries include the following
// magic number, of a block or of the end of the stream, because a text may well
// begin with "BZh".
var magics = buildMagics()

// extractors maps the names of unsupported formats to programs that write the
// text to stdout.
var extractors = map[string]string{
	"zip": "unzip -p", "7-Zip": "7z x -so", "rar": "unrar p -inul", "lzop": "lzop -dc", "lzip": "lzip -dc",
	"compress (.Z)": "gzip -dc", "compress (LZH)": "gzip -dc",
}

func buildMagics() []magic {
	m := []magic{
		{"\x1f\x8b\x08", Gzip, ""},
		{"\x28\xb5\x2f\xfd", Zstd, ""},
		{"\xfd7zXZ\x00", XZ, ""},
		{"\x04\x22\x4d\x18", LZ4, ""},
		{"\x02\x21\x4c\x18", LZ4, ""},
		{"\xff\x06\x00\x00sNaPpY", Snappy, ""},
		{"\xff\x06\x00\x00S2sTwO", S2, ""},
		{"\x82SNAPPY\x00", Xerial, ""},
		{"PAR1", Parquet, ""},
		{encrypted, Parquet, ""},
		{"Obj\x01", Avro, ""},
		{"PK\x03\x04", Unsupported, "zip"},
		{"PK\x05\x06", Unsupported, "zip"},
		{"7z\xbc\xaf\x27\x1c", Unsupported, "7-Zip"},
		{"Rar!\x1a\x07", Unsupported, "rar"},
		{"\x1f\x9d", Unsupported, "compress (.Z)"},
		{"\x1f\xa0", Unsupported, "compress (LZH)"},
		{"\x89LZO\x00\r\n\x1a\n", Unsupported, "lzop"},
		{"LZIP\x01", Unsupported, "lzip"},
	}
	for b := byte(0x50); b <= 0x5f; b++ { // RFC 8878 section 3.1.2, skippable frames
		m = append(m, magic{string([]byte{b}) + skippableTail, Zstd, ""})
	}
	for level := byte('1'); level <= '9'; level++ {
		m = append(m,
			magic{"BZh" + string(rune(level)) + bzip2Block, Bzip2, ""},
			magic{"BZh" + string(rune(level)) + bzip2End, Bzip2, ""})
	}
	return m
}

const (
	// encrypted begins an encrypted Parquet file. A text may also begin with
	// these letters, as PARENT does, but in a Parquet file a page or a length
	// follows, and both contain control characters.
	encrypted = "PARE"

	skippableTail = "\x2a\x4d\x18"
	bzip2Block    = "\x31\x41\x59\x26\x53\x59"
	bzip2End      = "\x17\x72\x45\x38\x50\x90"

	maxMagic = 10 // length of the longest entry
)

// find returns the magic at the beginning of head. Without a magic, partial
// reports whether head is a non-empty prefix of one, so that more bytes could
// match.
func find(head []byte) (m magic, found, partial bool) {
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			if m.bytes != encrypted || slices.ContainsFunc(head[len(encrypted):min(len(head), maxMagic)], isControl) {
				return m, true, false
			}
			partial = len(head) < maxMagic
		}
		if n := len(head); 0 < n && n < len(m.bytes) && m.bytes[:n] == string(head) {
			partial = true
		}
	}
	if found, more := zlibStart(head); found {
		return magic{format: Zlib}, true, false
	} else if more {
		partial = true
	}
	return magic{}, false, partial
}

// Detect returns the format of a stream with the first bytes head. It returns
// Plain if head is shorter than the magic of its format.
func Detect(head []byte) Format {
	m, found, _ := find(head)
	if !found {
		return Plain
	}
	return m.format
}

// extensions maps file name extensions that are never used for text to their formats.
var extensions = map[string]Format{
	".gz": Gzip, ".tgz": Gzip, ".zst": Zstd, ".zstd": Zstd, ".tzst": Zstd, ".bz2": Bzip2, ".tbz2": Bzip2, ".xz": XZ, ".txz": XZ,
	".lz4": LZ4, ".sz": Snappy, ".s2": S2, ".snappy": Snappy, ".zz": Zlib, ".zlib": Zlib,
	".z": Unsupported, ".br": Unsupported, ".zip": Unsupported, ".lzma": Unsupported, ".lz": Unsupported, ".lzo": Unsupported,
	".7z": Unsupported, ".rar": Unsupported,
}

// formatOf returns the format that the extension of name means.
func formatOf(name string) Format { return extensions[strings.ToLower(filepath.Ext(name))] }

// Compressed reports whether the extension of name means a compressed format.
func Compressed(name string) bool { return formatOf(name) != Plain }

// textual reports whether head consists of printable ASCII and white space.
func textual(head []byte) bool {
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c > '~' {
			return false
		}
	}
	return true
}
