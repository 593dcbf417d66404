package compress

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// A web archive can begin with a skippable frame with the dictionary of all
// other frames. The dictionary can be compressed itself
// (https://iipc.github.io/warc-specifications/specifications/warc-zstd/).
const (
	dictionaryFrame = "\x5d" + skippableTail
	dictionaryMagic = "\x37\xa4\x30\xec" // RFC 8878 section 5

	// maxDictionary is the maximum length of a dictionary, compressed or not: what
	// the specification requires.
	maxDictionary = 8 << 20
)

// readDictionary returns the dictionary at the start of in, or nil. It consumes
// the frame with the dictionary.
func readDictionary(in *input) ([]byte, error) {
	const sizeAt, dataAt = 4, 8
	head, _ := in.br.Peek(dataAt + len(dictionaryMagic))
	if len(head) < dataAt+len(dictionaryMagic) || string(head[:sizeAt]) != dictionaryFrame {
		return nil, nil
	}
	plain, packed := string(head[dataAt:]) == dictionaryMagic, string(head[dataAt:]) == magicOf[Zstd]
	size := binary.LittleEndian.Uint32(head[sizeAt:])
	if !plain && !packed {
		return nil, nil // a skippable frame that holds no dictionary
	}
	tooLong := &finding{Verdict{Kind: Limit, Cut: true, Detail: fmt.Sprintf("the zstd dictionary at the start of the file is longer than %d bytes", maxDictionary)}}
	if size > maxDictionary {
		return nil, tooLong
	}
	frame := make([]byte, dataAt+size)
	if _, err := io.ReadFull(in, frame); err != nil {
		return nil, noEOF(err)
	}
	dictionary := frame[dataAt:]
	if packed {
		dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxDictionary))
		if err == nil {
			defer dec.Close()
			dictionary, err = dec.DecodeAll(dictionary, nil)
		}
		switch {
		case errors.Is(err, zstd.ErrDecoderSizeExceeded):
			return nil, tooLong
		case err != nil:
			return nil, damagedDictionary(err)
		}
	}
	if len(dictionary) < dataAt || !bytes.HasPrefix(dictionary, []byte(dictionaryMagic)) {
		return nil, damagedDictionary(errors.New("wrong magic number"))
	}
	return dictionary, nil
}

func damagedDictionary(err error) error {
	return &finding{Verdict{Kind: Corrupt, Cut: true, Detail: "the zstd dictionary at the start of the file is damaged: " + err.Error()}}
}

// dictionaryOf returns the dictionary at the start of the file src.
func dictionaryOf(src io.ReadSeeker) ([]byte, error) {
	if _, err := src.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("seek to the dictionary: %w", err)
	}
	dictionary, err := readDictionary(newInput(src, bufferSize))
	if err != nil {
		return nil, fmt.Errorf("read the dictionary: %w", err)
	}
	return dictionary, nil
}
