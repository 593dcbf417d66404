// Package s3test contains a store for tests that speaks the protocol of Amazon S3:
// listings, ranges, conditions and multipart uploads. It keeps objects in memory,
// checks no signatures, and is stricter than most stores about uploads: all parts
// but the last must have one length. [Program.Start] starts a store of another
// project instead.
package s3test

import (
	"cmp"
	"crypto/md5" //nolint:gosec // the protocol has MD5 sums as ETags
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// An Object is an object of a [Server].
type Object struct {
	Data  []byte
	ETag  string
	Class string // GLACIER: it cannot be read until restored
	run   string
	made  time.Time
}

// A Server is a store with a single bucket, called "bucket".
type Server struct {
	URL  string
	real http.Handler // a store of another project; nil: this one

	mu       sync.Mutex
	fault    Fault
	objects  map[string]*Object
	uploads  map[string]*upload
	requests map[string]int
	last     int // number of the last upload
}

// A Fault is called before each request, from several goroutines. If it answers
// the request, it returns true.
type Fault func(w http.ResponseWriter, r *http.Request) bool

// An upload is a multipart upload that is not complete.
type upload struct {
	key, run string
	parts    map[int][]byte
}

// New starts a server that ends with the test, and lets the environment of the
// test point to it.
func New(t testing.TB) *Server {
	t.Helper()
	s := &Server{objects: map[string]*Object{}, uploads: map[string]*upload{}, requests: map[string]int{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	s.setenv(t)
	return s
}

// setenv lets the environment of the test point to s.
func (s *Server) setenv(t testing.TB) {
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": s.URL, "AWS_ACCESS_KEY_ID": access, "AWS_SECRET_ACCESS_KEY": Secret, "AWS_REGION": region,
		"AWS_PROFILE": "", "AWS_SESSION_TOKEN": "",
	} {
		t.Setenv(name, value)
	}
}

const access, region = "KEY", "us-east-1"

// Secret is the secret key in the environment of the test.
const Secret = "the-secret-key-of-the-test"

// SetFault sets what is called before each request from now on.
func (s *Server) SetFault(f Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

// Archive archives an object, which then cannot be read until restored.
func (s *Server) Archive(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key].Class = "GLACIER"
}

// Put stores an object and returns it.
func (s *Server) Put(key string, data []byte) *Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(key, data, "")
}

func (s *Server) put(key string, data []byte, run string) *Object {
	sum := md5.Sum(data) //nolint:gosec // as above
	o := &Object{Data: data, ETag: hex.EncodeToString(sum[:]), run: run, made: time.Now()}
	s.objects[key] = o
	return o
}

// Get returns the content of an object, or nil if it does not exist.
func (s *Server) Get(key string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.objects[key]; o != nil {
		return o.Data
	}
	return nil
}

// Delete removes an object.
func (s *Server) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, key)
}

// Lose does what a request asks for, and breaks the connection instead of
// answering. It is for a Fault.
func (s *Server) Lose(_ http.ResponseWriter, r *http.Request) {
	s.serve(httptest.NewRecorder(), r)
	panic(http.ErrAbortHandler)
}

// Keys returns the keys of all objects, sorted.
func (s *Server) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Uploads returns the number of open uploads.
func (s *Server) Uploads() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.uploads)
}

// Requests returns how many requests with the method the server has received.
func (s *Server) Requests(method string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[method]
}

// Fail answers a request with an error.
func Fail(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, "<Error><Code>%s</Code><Message>%s of the test</Message></Error>", code, code)
}

// ServeHTTP implements [http.Handler].
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests[r.Method]++
	fault := s.fault
	s.mu.Unlock()
	if fault != nil && fault(w, r) {
		return
	}
	s.serve(w, r)
}

// serve answers a request.
func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	if s.real != nil {
		s.real.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != "bucket" {
		Fail(w, http.StatusNotFound, "NoSuchBucket")
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	q := r.URL.Query()
	switch {
	case r.Method == http.MethodGet && q.Has("uploads"):
		s.listUploads(w, q)
	case r.Method == http.MethodGet && key == "":
		s.list(w, q)
	case r.Method == http.MethodGet || r.Method == http.MethodHead:
		s.get(w, r, key)
	case r.Method == http.MethodDelete && !q.Has("uploadId"):
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case q.Has("uploads") || q.Has("uploadId"):
		s.multipart(w, r, key, body)
	case r.Method == http.MethodPut && !s.taken(w, r, key):
		w.Header().Set("ETag", `"`+s.put(key, body, r.Header.Get("x-amz-meta-urlfold-run")).ETag+`"`)
	}
}

// taken refuses a conditional request if an object has the key.
func (s *Server) taken(w http.ResponseWriter, r *http.Request, key string) bool {
	if r.Header.Get("If-None-Match") != "*" || s.objects[key] == nil {
		return false
	}
	Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
	return true
}

// get answers GET and HEAD of an object.
func (s *Server) get(w http.ResponseWriter, r *http.Request, key string) {
	o := s.objects[key]
	switch match := r.Header.Get("If-Match"); {
	case o == nil:
		Fail(w, http.StatusNotFound, "NoSuchKey")
		return
	case match != "" && match != `"`+o.ETag+`"`:
		Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
		return
	case o.Class == "GLACIER" && r.Method == http.MethodGet:
		Fail(w, http.StatusForbidden, "InvalidObjectState")
		return
	}
	h := w.Header()
	h.Set("ETag", `"`+o.ETag+`"`)
	h.Set("Last-Modified", o.made.UTC().Format(http.TimeFormat))
	if o.run != "" {
		h.Set("x-amz-meta-urlfold-run", o.run)
	}
	data, status := o.Data, http.StatusOK
	if first, last, ok := strings.Cut(strings.TrimPrefix(r.Header.Get("Range"), "bytes="), "-"); ok {
		a, _ := strconv.Atoi(first)
		b, _ := strconv.Atoi(last)
		data, status = data[a:min(b+1, len(data))], http.StatusPartialContent
		h.Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", a, a+len(data)-1, len(o.Data)))
	}
	h.Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(status)
	if r.Method == http.MethodGet {
		_, _ = w.Write(data)
	}
}

// pageKeys is the number of keys in a page of a listing.
const pageKeys = 100

// list answers ListObjectsV2.
func (s *Server) list(w http.ResponseWriter, q url.Values) {
	type content struct {
		Key, LastModified, ETag, StorageClass string
		Size                                  int
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		Contents              []content
		EncodingType          string
		IsTruncated           bool
		NextContinuationToken string
	}
	page.EncodingType = "url"
	after := cmp.Or(q.Get("continuation-token"), q.Get("start-after"))
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !strings.HasPrefix(key, q.Get("prefix")) || key <= after {
			continue
		}
		if page.IsTruncated = len(page.Contents) == pageKeys; page.IsTruncated {
			break
		}
		o := s.objects[key]
		page.Contents = append(page.Contents, content{url.QueryEscape(key), o.made.UTC().Format(time.RFC3339Nano), `"` + o.ETag + `"`, o.Class, len(o.Data)})
		page.NextContinuationToken = key
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// listUploads answers ListMultipartUploads.
func (s *Server) listUploads(w http.ResponseWriter, q url.Values) {
	type entry struct {
		Key      string
		UploadID string `xml:"UploadId"`
	}
	var page struct {
		XMLName xml.Name `xml:"ListMultipartUploadsResult"`
		Upload  []entry
	}
	for id, u := range s.uploads {
		if strings.HasPrefix(u.key, q.Get("prefix")) {
			page.Upload = append(page.Upload, entry{u.key, id})
		}
	}
	_ = xml.NewEncoder(w).Encode(page)
}

// multipart answers the requests about uploads.
func (s *Server) multipart(w http.ResponseWriter, r *http.Request, key string, body []byte) {
	q := r.URL.Query()
	id := q.Get("uploadId")
	u := s.uploads[id]
	switch {
	case q.Has("uploads"):
		s.last++
		id = fmt.Sprintf("upload-%d", s.last)
		s.uploads[id] = &upload{key: key, run: r.Header.Get("x-amz-meta-urlfold-run"), parts: map[int][]byte{}}
		_, _ = fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case u == nil || u.key != key:
		Fail(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut:
		n, _ := strconv.Atoi(q.Get("partNumber"))
		u.parts[n] = body
		w.Header().Set("ETag", fmt.Sprintf(`"part-%d"`, n))
	case r.Method == http.MethodDelete:
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case !s.taken(w, r, key):
		s.complete(w, id, u, body)
	}
}

// complete makes an object of the parts that the request lists.
func (s *Server) complete(w http.ResponseWriter, id string, u *upload, body []byte) {
	var list struct {
		Part []struct{ PartNumber int }
	}
	if xml.Unmarshal(body, &list) != nil || len(list.Part) == 0 {
		Fail(w, http.StatusBadRequest, "MalformedXML")
		return
	}
	var data []byte
	for i, p := range list.Part {
		part := u.parts[p.PartNumber]
		if part == nil || i < len(list.Part)-1 && len(part) != len(u.parts[list.Part[0].PartNumber]) {
			Fail(w, http.StatusBadRequest, "InvalidPart")
			return
		}
		data = append(data, part...)
	}
	o := s.put(u.key, data, u.run)
	delete(s.uploads, id)
	_, _ = fmt.Fprintf(w, "<CompleteMultipartUploadResult><Bucket>bucket</Bucket><Key>%s</Key><ETag>\"%s\"</ETag></CompleteMultipartUploadResult>", url.PathEscape(u.key), o.ETag)
}
