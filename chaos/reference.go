package chaos

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os/exec"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"github.com/ulikunitz/xz"
)

// A Reference is the result of another decoder for a file.
type Reference struct {
	Text    []byte // all decoded text
	Refused bool   // the decoder reported damage
}

// A Referee runs the reference program for a format. Only one goroutine at a
// time may use it.
type Referee struct {
	command []string
	snappy  *snappyProcess // only for snappy
}

// NewReferee returns the Referee for a format. The error wraps ErrNoProgram if
// the program is not installed; S2 never has one.
func NewReferee(format string) (*Referee, error) {
	if format == "snappy" {
		p, err := startSnappy()
		return &Referee{snappy: p}, err
	}
	command := map[string][]string{
		"gzip": {"gzip", "-dc"}, "zstd": {"zstd", "-dcq"}, "bzip2": {"bzip2", "-dc"}, "xz": {"xz", "-dcq"}, "lz4": {"lz4", "-dcq"},
	}[format]
	if command == nil {
		return nil, fmt.Errorf("a program for %s: %w", format, ErrNoProgram)
	}
	if _, err := exec.LookPath(command[0]); err != nil {
		return nil, fmt.Errorf("the program %s: %w", command[0], ErrNoProgram)
	}
	return &Referee{command: command}, nil
}

// Close ends the program if it is running.
func (r *Referee) Close() {
	if r.snappy != nil {
		r.snappy.close()
	}
}

// Read returns the result of the program for a file.
func (r *Referee) Read(ctx context.Context, packed []byte) (Reference, error) {
	if r.snappy != nil {
		return r.snappy.read(packed)
	}
	cmd := exec.CommandContext(ctx, r.command[0], r.command[1:]...)
	cmd.Stdin = bytes.NewReader(packed)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Reference{Text: out.Bytes()}, nil
	case errors.As(err, &exit) && exit.Exited():
		return Reference{Text: out.Bytes(), Refused: true}, nil
	}
	return Reference{}, fmt.Errorf("%s: %w", r.command[0], err)
}

// A snappyProcess is a Python process that runs python-snappy on one file after
// another.
type snappyProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// snappyScript first writes 1. Then it repeatedly reads the length of a file,
// in four bytes, and the file, and writes one byte that reports whether the
// file was rejected, the length of the decoded text, and the text.
const snappyScript = `
import struct, sys
try:
    import snappy
except ImportError:
    sys.exit(1)
i, o = sys.stdin.buffer, sys.stdout.buffer
o.write(b"1")
o.flush()
while True:
    head = i.read(4)
    if len(head) < 4:
        break
    data = i.read(struct.unpack("<I", head)[0])
    text, refused, d = b"", 0, snappy.StreamDecompressor()
    try:
        for at in range(0, len(data), 256):
            text += d.decompress(data[at:at+256])
        d.flush()
    except Exception:
        refused = 1
    o.write(struct.pack("<BI", refused, len(text)) + text)
    o.flush()
`

func startSnappy() (*snappyProcess, error) {
	missing := fmt.Errorf("python-snappy: %w", ErrNoProgram)
	p := &snappyProcess{cmd: exec.Command("python3", "-c", snappyScript)}
	in, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, missing
	}
	p.in, p.out = in, bufio.NewReader(out)
	if _, err := p.out.ReadByte(); err != nil {
		p.close()
		return nil, missing
	}
	return p, nil
}

func (p *snappyProcess) close() {
	_ = p.in.Close()
	_ = p.cmd.Wait() // the exit code is irrelevant
}

func (p *snappyProcess) read(packed []byte) (Reference, error) {
	if _, err := p.in.Write(append(binary.LittleEndian.AppendUint32(nil, uint32(len(packed))), packed...)); err != nil {
		return Reference{}, fmt.Errorf("python-snappy: %w", err)
	}
	var head [5]byte
	if _, err := io.ReadFull(p.out, head[:]); err != nil {
		return Reference{}, fmt.Errorf("python-snappy: %w", err)
	}
	text := make([]byte, binary.LittleEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(p.out, text); err != nil {
		return Reference{}, fmt.Errorf("python-snappy: %w", err)
	}
	return Reference{Text: text, Refused: head[0] == 1}, nil
}

// LibraryReference is used instead of a Referee where the program is not
// installed, and for S2. A library may return less than the program does.
func LibraryReference(format string, packed []byte) (ref Reference) {
	var r io.Reader
	var err error
	src := bytes.NewReader(packed)
	switch format {
	case "gzip":
		r, err = gzip.NewReader(src)
	case "zstd":
		r, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1))
	case "bzip2":
		r = bzip2.NewReader(src)
	case "xz":
		r, err = xz.NewReader(src)
	case "lz4":
		r = lz4.NewReader(src)
	default:
		r = s2.NewReader(src)
	}
	if err != nil {
		return Reference{Refused: true}
	}
	var out bytes.Buffer
	defer func() { // a panic of the library counts as a rejection
		if recover() != nil {
			ref = Reference{Text: out.Bytes(), Refused: true}
		}
	}()
	_, err = io.Copy(&out, struct{ io.Reader }{r})
	return Reference{Text: out.Bytes(), Refused: err != nil}
}
