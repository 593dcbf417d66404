package s3

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"

	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// TestContract: every store does what package objects relies on.
func TestContract(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		s3test.New(t)
		contract(t, "bucket")
	})
	for _, program := range s3test.Programs() {
		t.Run(program.Name, func(t *testing.T) {
			program.Start(t)
			contract(t, "bucket")
		})
	}
}

// TestVersions: the version that has an id is read, although it is not the current
// one.
func TestVersions(t *testing.T) {
	_, admin := s3test.Moto.Start(t)
	if err := admin.EnableVersioning(t.Context(), "bucket"); err != nil {
		t.Fatal(err)
	}
	first := ""
	for i, text := range []string{"one", "another"} {
		u, err := admin.PutObject(t.Context(), "bucket", "k", strings.NewReader(text), int64(len(text)), minio.PutObjectOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = u.VersionID
		}
	}
	settings, err := Parse("", env)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{first: "one", "": "another"} {
		o, err := c.Head(t.Context(), "bucket", "k", version)
		if err != nil {
			t.Fatal(err)
		}
		body, err := c.Get(t.Context(), o, 0, o.Size)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(body)
		if err != nil || string(got) != want || body.Close() != nil {
			t.Errorf("version %q: %q, %v", version, got, err)
		}
	}
}

// contract checks the store in the environment.
func contract(t *testing.T, bucket string) {
	settings, err := Parse("", env)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error, want objects.Kind) {
		t.Helper()
		if objects.KindOf(err) != want || err == nil {
			t.Errorf("got error %v of kind %d, want kind %d", err, objects.KindOf(err), want)
		}
	}

	// An object that exists once.
	text := []byte("one\ntwo\nthree\n")
	must(c.Put(ctx, bucket, "a/é +%&.log", text, objects.Put{New: true, Run: "r1"}))
	refused(c.Put(ctx, bucket, "a/é +%&.log", []byte("other"), objects.Put{New: true}), objects.Exists)
	o, err := c.Head(ctx, bucket, "a/é +%&.log", "")
	must(err)
	if o.Size != int64(len(text)) || o.Run != "r1" || o.ETag == "" {
		t.Errorf("head: %+v", o)
	}
	_, err = c.Head(ctx, bucket, "a/missing", "")
	refused(err, objects.NotFound)

	// A range of one version.
	read := func(o objects.Object, off, n int64) ([]byte, error) {
		body, err := c.Get(ctx, o, off, n)
		if err != nil {
			return nil, err
		}
		defer func() { _ = body.Close() }()
		return io.ReadAll(body)
	}
	got, err := read(o, 4, 3)
	must(err)
	if string(got) != "two" {
		t.Errorf("range: %q", got)
	}
	must(c.Put(ctx, bucket, "a/é +%&.log", []byte("another text\n"), objects.Put{}))
	_, err = read(o, 4, 3)
	refused(err, objects.Changed)
	_, err = read(objects.Object{Bucket: bucket, Key: "a/gone", ETag: "x", Size: 3}, 0, 3)
	refused(err, objects.Changed)

	// An upload appears when it is complete.
	part := make([]byte, 5<<20)
	for i := range part {
		part[i] = byte(rand.Uint32())
	}
	id, err := c.Create(ctx, bucket, "up/object", objects.Put{Run: "r2"})
	must(err)
	p2, err := c.UploadPart(ctx, bucket, "up/object", id, 2, []byte("end"))
	must(err)
	p1, err := c.UploadPart(ctx, bucket, "up/object", id, 1, part)
	must(err)
	_, err = c.Head(ctx, bucket, "up/object", "")
	refused(err, objects.NotFound)
	open, err := c.Uploads(ctx, bucket, "up/")
	must(err)
	if len(open) != 1 || open[0].Key != "up/object" {
		t.Errorf("uploads: %v", open)
	}
	must(c.Complete(ctx, bucket, "up/object", id, []objects.Part{p1, p2}, objects.Put{New: true}))
	o, err = c.Head(ctx, bucket, "up/object", "")
	must(err)
	if o.Size != int64(len(part)+3) || o.Run != "r2" {
		t.Errorf("completed: %+v", o)
	}
	got, err = read(o, 0, o.Size)
	must(err)
	if !bytes.Equal(got, append(part, "end"...)) {
		t.Error("the completed object has other bytes than its parts")
	}

	// A refused completion leaves the upload, which can be aborted.
	id, err = c.Create(ctx, bucket, "up/object", objects.Put{})
	must(err)
	p1, err = c.UploadPart(ctx, bucket, "up/object", id, 1, []byte("late"))
	must(err)
	refused(c.Complete(ctx, bucket, "up/object", id, []objects.Part{p1}, objects.Put{New: true}), objects.Exists)
	must(c.Abort(ctx, bucket, "up/object", id))
	if open, err = c.Uploads(ctx, bucket, "up/"); err != nil || len(open) != 0 {
		t.Errorf("uploads after the abort: %v, %v", open, err)
	}

	// Listings of several pages, from a key on.
	var want []string
	for i := range 1200 {
		key := fmt.Sprintf("list/%04d", i)
		want = append(want, key)
		if i%10 == 0 { // the others are in the listing of the test with many keys
			must(c.Put(ctx, bucket, key, nil, objects.Put{}))
		}
	}
	want = slices.DeleteFunc(want, func(k string) bool { return !strings.HasSuffix(k, "0") })
	for _, after := range []string{"", "list/0550"} {
		var keys []string
		for o, err := range c.List(ctx, bucket, "list/", after) {
			must(err)
			keys = append(keys, o.Key)
		}
		rest := slices.DeleteFunc(slices.Clone(want), func(k string) bool { return k <= after })
		if !slices.Equal(keys, rest) {
			t.Errorf("listing after %q: %d keys, want %d", after, len(keys), len(rest))
		}
	}
}
