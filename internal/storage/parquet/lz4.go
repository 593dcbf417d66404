package parquet

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	codecs "github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/lz4"
	"github.com/parquet-go/parquet-go/format"

	"github.com/urlfold/urlfold/internal/storage/compress"
)

// An lz4Codec is the codec of LZ4_RAW pages, with a Decode that returns dst.
//
// Version 0.32.0 of the library loses the text of a page if Decode returns
// another slice of the same length, which its own codec does for most pages
// that compress to more than a third: their rows then hold what was in memory
// before (https://github.com/parquet-go/parquet-go/issues/608). For a damaged
// page, its codec allocates memory without an end.
type lz4Codec struct{ *lz4.Codec }

// Decode writes the text of src to dst, whose length is that of the page.
func (lz4Codec) Decode(dst, src []byte) ([]byte, error) {
	if len(dst) == 0 {
		return dst, nil
	}
	n, err := compress.LZ4Block(dst, src)
	return dst[:n], err
}

// setCodecs gives lz4Codec to the columns of f that are compressed with
// LZ4_RAW. The library decodes all pages of a column with the codec of its
// first row group, so it is an error if another one differs.
func setCodecs(f *parquet.File) error {
	if err := sameCodecs(f); err != nil {
		return err
	}
	return setCodec(f.Root())
}

// sameCodecs checks that the row groups of f are compressed alike.
func sameCodecs(f *parquet.File) error {
	groups := f.Metadata().RowGroups
	for i := range groups {
		for j := range min(len(groups[i].Columns), len(groups[0].Columns)) {
			first, codec := groups[0].Columns[j].MetaData.Codec, groups[i].Columns[j].MetaData.Codec
			if codec != first {
				return fmt.Errorf("column %d is compressed with %v in row group 1 and with %v in row group %d, which is not supported", j+1, first, codec, i+1)
			}
		}
	}
	return nil
}

// setCodec gives lz4Codec to c and the columns in it. The library has no
// function for that, so it sets the field.
func setCodec(c *parquet.Column) error {
	for _, child := range c.Columns() {
		if err := setCodec(child); err != nil {
			return err
		}
	}
	if codec := c.Compression(); codec == nil || codec.CompressionCodec() != format.Lz4Raw {
		return nil
	}
	field := reflect.ValueOf(c).Elem().FieldByName("compression")
	if !field.IsValid() || field.Type() != reflect.TypeFor[codecs.Codec]() {
		return fmt.Errorf("column %s is compressed with LZ4_RAW, which is not supported", c.Name())
	}
	*(*codecs.Codec)(unsafe.Pointer(field.UnsafeAddr())) = lz4Codec{new(lz4.Codec)}
	return nil
}
