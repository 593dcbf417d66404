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

// A Reference is what another decoder makes of a file.
type Reference struct {
	Text    []byte // all that it gives
	Refused bool   // it says that the file is damaged
}

// A Referee runs the program that reads a format. It belongs to one goroutine.
type Referee struct {
	command []string
	snappy  *snappyProcess // of that format
}

// NewReferee returns the Referee of a format, and an error that wraps ErrNoProgram
// if its program is not there. S2 has none.
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

// Close ends the program, if it runs.
func (r *Referee) Close() {
	if r.snappy != nil {
		r.snappy.close()
	}
}

// Read returns what the program makes of a file. The exit code 2 of gzip is a
// warning.
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
		return Reference{Text: out.Bytes(), Refused: r.command[0] != "gzip" || exit.ExitCode() != 2}, nil
	}
	return Reference{}, fmt.Errorf("%s: %w", r.command[0], err)
}

// A snappyProcess is a Python that runs python-snappy on one file after the other.
type snappyProcess struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// snappyScript says 1, then takes the length of a file, in four bytes, and the
// file, and answers with a byte that says whether it was refused, the length of
// the text, and the text, as far as it came, piece by piece.
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
	_ = p.cmd.Wait() // its exit code says nothing
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

// LibraryReference is the twin of a program, for a machine that does not have it,
// and for S2. A library may give less than the program does.
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
	defer func() { // a library that panics refuses, too
		if recover() != nil {
			ref = Reference{Text: out.Bytes(), Refused: true}
		}
	}()
	_, err = io.Copy(&out, struct{ io.Reader }{r})
	return Reference{Text: out.Bytes(), Refused: err != nil}
}
