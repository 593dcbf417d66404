package file

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urlfold/urlfold/config/field"
	"github.com/urlfold/urlfold/internal/storage/compress"
)

// This file reads the members of zip and tar archives. ARCHIVE:NAME names a member. No
// member is extracted to disk, so names with .. or / do no harm.

// A Member is a file in an archive.
type Member struct {
	Name string
	Size int64 // decompressed
	Err  error // why it cannot be read
}

const (
	// maxDirectory bounds the directory of a zip archive in bytes, and so the number of its
	// members and the memory that they take.
	maxDirectory = 16 << 20
	// maxSearched bounds the text of a tar archive that is read to list its members.
	maxSearched = 256 << 20
	// shownMembers is the number of members that an error names.
	shownMembers = 5
)

// An archive reads the members of an archive one after the other.
type archive struct {
	file *os.File
	zip  *zip.Reader
	next int // member of zip
	zr   *compress.Reader
	tar  *tar.Reader
	most compress.Limits
}

// ErrNoArchive reports that a file is neither a zip nor a tar archive.
var ErrNoArchive = errors.New("neither a zip nor a tar archive")

// openArchive opens the archive at path.
func openArchive(path string, opt compress.Options) (a *archive, err error) {
	a = &archive{most: opt.Limits}
	if a.file, err = os.Open(path); err != nil {
		return nil, err
	}
	if err := a.begin(opt); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// begin detects the kind of the archive.
func (a *archive) begin(opt compress.Options) error {
	fi, err := a.file.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return ErrNoArchive
	}
	head := make([]byte, 4)
	_, _ = a.file.ReadAt(head, 0) // a shorter file is no archive
	if compress.IsZip(head) {
		limited := &directory{ReaderAt: a.file, left: maxDirectory}
		a.zip, err = zip.NewReader(limited, fi.Size())
		limited.left = -1
		return err
	}
	opt.Archive = true
	a.zr = compress.NewReader(a.file, opt)
	start := make([]byte, 512)
	n, _ := io.ReadFull(a.zr, start)
	if !compress.IsTar(start[:n]) {
		return ErrNoArchive
	}
	a.tar = tar.NewReader(io.MultiReader(strings.NewReader(string(start)), onlyRead{a.zr}))
	return nil
}

// A directory reads a zip archive, but at most left bytes of it. A negative left means
// no limit.
type directory struct {
	io.ReaderAt
	left int
}

// ReadAt implements [io.ReaderAt].
func (d *directory) ReadAt(p []byte, off int64) (int, error) {
	if d.left >= 0 {
		if d.left -= len(p); d.left < 0 {
			d.left = 0
			return 0, fmt.Errorf("the directory of the zip archive is longer than %d bytes", maxDirectory)
		}
	}
	return d.ReaderAt.ReadAt(p, off)
}

// member returns the next member that is a file, and its text. At the end, err is
// io.EOF. At the end of a compressed tar archive that is not intact, err is the damage.
func (a *archive) member() (m Member, text io.Reader, err error) {
	if a.zip != nil {
		for ; a.next < len(a.zip.File); a.next++ {
			f := a.zip.File[a.next]
			if !f.Mode().IsRegular() {
				continue
			}
			a.next++
			m = Member{Name: f.Name, Size: int64(f.UncompressedSize64)}
			if f.Flags&1 != 0 {
				m.Err = errors.New("the member is encrypted")
				return m, nil, nil
			}
			in, err := f.Open()
			if m.Err = err; err != nil {
				return m, nil, nil
			}
			return m, &bounded{in: in, packed: int64(f.CompressedSize64), most: a.most}, nil
		}
		return m, nil, io.EOF
	}
	for {
		h, err := a.tar.Next()
		if err == io.EOF {
			_, _ = io.Copy(io.Discard, onlyRead{a.zr}) // what follows the end mark is checked, too
		}
		if err != nil {
			return m, nil, a.damage(err)
		}
		if h.Typeflag == tar.TypeReg {
			return Member{Name: h.Name, Size: h.Size}, a.tar, nil
		}
	}
}

// damage returns the damage of the compressed tar archive, or err.
func (a *archive) damage(err error) error {
	if v := a.zr.Verdict(); v.Damage() {
		return fmt.Errorf("the archive is damaged: %s", v)
	}
	return err
}

// close closes the archive.
func (a *archive) close() {
	if a.zr != nil {
		a.zr.Close()
	}
	_ = a.file.Close() // opened for reading only
}

// A bounded reads a member of a zip archive up to the limits of compressed files.
type bounded struct {
	in          io.Reader
	out, packed int64
	most        compress.Limits
}

// Read implements [io.Reader].
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	b.out += int64(n)
	if exceeded := b.most.Exceeded(b.out, b.packed); exceeded != "" {
		return 0, errors.New(exceeded)
	}
	return n, err
}

// A memberReader reads a member. In a tar archive, it then reads the rest of the
// archive, because the checksum follows all members.
type memberReader struct {
	*archive
	text io.Reader
}

// Read implements [io.Reader].
func (r memberReader) Read(p []byte) (int, error) {
	n, err := r.text.Read(p)
	if r.zr == nil || err == nil {
		return n, err
	}
	if err == io.EOF {
		_, _ = io.Copy(io.Discard, onlyRead{r.zr}) // the verdict reports an error
	}
	return n, r.damage(err)
}

// Close implements [io.Closer].
func (r memberReader) Close() error {
	r.close()
	return nil
}

// openMember opens the member called name. The error for an unknown name lists others.
func openMember(path, name string, opt compress.Options) (io.ReadCloser, error) {
	a, err := openArchive(path, opt)
	if err != nil {
		return nil, err
	}
	var names []string
	for {
		m, text, err := a.member()
		switch {
		case err == io.EOF:
			err = fmt.Errorf("no such member in the archive; %s", enumerate(names))
		case err == nil && m.Name == name:
			err = m.Err
			if err == nil {
				return memberReader{a, text}, nil
			}
		case err == nil:
			names = append(names, m.Name)
			continue
		}
		a.close()
		return nil, err
	}
}

// enumerate returns the first names for an error.
func enumerate(names []string) string {
	text := fmt.Sprintf("the files in it are %q", names[:min(len(names), shownMembers)])
	if len(names) > shownMembers {
		text += " and more"
	}
	return text
}

// remedy adds the names of members to the verdict that an input is not
// supported, if the input is an archive.
func (s *Source) remedy(in *input, v compress.Verdict) compress.Verdict {
	if v.Kind != compress.UnsupportedFormat || in.size < 0 || in.object != nil {
		return v
	}
	var names []string
	searched := int64(0)
	_ = Members(in.path, s.cfg.Limits, func(m Member, _ io.Reader) bool { // list the readable names, even if others cannot be read
		names = append(names, m.Name)
		searched += m.Size
		return len(names) <= shownMembers && searched < maxSearched
	})
	if len(names) > 0 {
		v.Detail = fmt.Sprintf("archives are read by member: name one, such as %s:%s; %s", filepath.Base(in.path), names[0], enumerate(names))
	}
	return v
}

// member adds the member of an archive if path names one.
func (e *expander) member(path string) bool {
	archive, member, ok := cutMember(path)
	if ok {
		// The relative path becomes the path of an output, so a member named
		// ../x must not lead out of the folder.
		rel := filepath.Base(archive) + ":" + strings.NewReplacer("/", "_", `\`, "_").Replace(member)
		e.keep(path, true, found{path: path, rel: rel, archive: archive, member: member})
	}
	return ok
}

// cutMember cuts ARCHIVE:MEMBER, if there is such an archive.
func cutMember(path string) (archive, member string, ok bool) {
	for i := range path {
		if path[i] != ':' || i == 0 {
			continue
		}
		a, err := openArchive(path[:i], compress.Options{})
		if err == nil {
			a.close()
		}
		if !errors.Is(err, ErrNoArchive) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return path[:i], path[i+1:], true
		}
	}
	return "", "", false
}

// OnDisk returns the file that is read for an input: the archive if path names
// a member of an archive, and otherwise path.
func OnDisk(path string) string {
	if _, err := os.Lstat(path); err != nil {
		if archive, _, ok := cutMember(path); ok {
			return archive
		}
	}
	return path
}

// Members calls visit for each member of the archive at path that is a file, until visit
// returns false. If the file is no archive, the error is [ErrNoArchive].
func Members(path string, l field.Limits, visit func(m Member, text io.Reader) bool) error {
	a, err := openArchive(path, decoding(l, path))
	if err != nil {
		return err
	}
	defer a.close()
	for {
		m, text, err := a.member()
		if err == io.EOF {
			return nil
		}
		if err != nil || !visit(m, text) {
			return err
		}
	}
}
