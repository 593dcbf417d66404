package objects

import (
	"context"
	"io"
	"iter"
	"strings"
	"time"
)

// Scheme is the beginning of paths that name objects: s3://BUCKET/KEY.
const Scheme = "s3://"

// Is reports whether path names objects.
func Is(path string) bool { return strings.HasPrefix(path, Scheme) }

// Split returns the bucket and the key, or the prefix of keys, that path names.
func Split(path string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(path, Scheme), "/")
	return bucket, key
}

// An Object is one version of an object.
type Object struct {
	Bucket, Key string
	Size        int64
	ETag        string // without quotes; it identifies the version
	Modified    time.Time
	Run         string // run of the [Writer] that made the object, if Head returned it
	Version     string // the id of this version, if Head was asked for it; empty: the current version
}

// Path returns the path that names o.
func (o Object) Path() string { return Scheme + o.Bucket + "/" + o.Key }

// StandsForFolder reports whether o only marks a folder: it is empty, and its key has
// the form of such a mark.
func (o Object) StandsForFolder() bool {
	return o.Size == 0 && (strings.HasSuffix(o.Key, "/") || strings.HasSuffix(o.Key, "_$folder$"))
}

// Stamp identifies the content of o.
func (o Object) Stamp() string { return o.ETag + " " + o.Modified.UTC().Format(time.RFC3339Nano) }

// A Part is an uploaded part of an object.
type Part struct {
	Number int // from 1
	ETag   string
}

// An Upload is an upload that is neither complete nor aborted.
type Upload struct{ Key, ID string }

// A Put says how an object is created.
type Put struct {
	New bool   // fail with [Exists] if there is an object with the key
	Run string // becomes [Object.Run]
}

// A Client sends requests to a store, each once. Its errors are of type
// [*Error], and contain no secret. All methods may be called concurrently.
type Client interface {
	// List returns the objects whose keys begin with prefix and sort after the
	// key after, in the order of their keys.
	List(ctx context.Context, bucket, prefix, after string) iter.Seq2[Object, error]
	// Head returns the version of an object that has the id version, or the
	// current version if version is empty.
	Head(ctx context.Context, bucket, key, version string) (Object, error)
	// Get returns a reader of n bytes of o from off on. If the store has
	// another version, the error is [Changed]. The reader may end early.
	Get(ctx context.Context, o Object, off, n int64) (io.ReadCloser, error)
	// Remove removes an object, if it exists.
	Remove(ctx context.Context, bucket, key string) error
	// Put creates an object. It does not keep data.
	Put(ctx context.Context, bucket, key string, data []byte, how Put) error
	// Create begins an upload.
	Create(ctx context.Context, bucket, key string, how Put) (id string, err error)
	// UploadPart uploads a part. It does not keep data.
	UploadPart(ctx context.Context, bucket, key, id string, number int, data []byte) (Part, error)
	// Complete makes an object of the parts.
	Complete(ctx context.Context, bucket, key, id string, parts []Part, how Put) error
	// Abort ends an upload and removes its parts.
	Abort(ctx context.Context, bucket, key, id string) error
	// Uploads returns the uploads of keys that begin with prefix.
	Uploads(ctx context.Context, bucket, prefix string) ([]Upload, error)
}
