package s3

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strings"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/urlfold/urlfold/internal/storage/objects"
)

// A client is an [objects.Client].
type client struct {
	core     minio.Core
	creds    *credentials.Credentials
	settings Settings
}

// New returns a client. It finds the credentials, and sends no request to the
// store.
func New(s Settings) (objects.Client, error) {
	host, secure, err := s.host()
	if err != nil {
		return nil, err
	}
	creds, err := s.credentials(env)
	if err != nil {
		return nil, err
	}
	transport, err := minio.DefaultTransport(secure)
	if err != nil {
		return nil, err
	}
	transport.MaxIdleConnsPerHost = transport.MaxIdleConns // requests go to one host
	lookup := minio.BucketLookupAuto
	if s.PathStyle {
		lookup = minio.BucketLookupPath
	}
	core, err := minio.NewCore(host, &minio.Options{Creds: creds, Secure: secure, Region: s.Region, BucketLookup: lookup, MaxRetries: 1, Transport: transport})
	if err != nil {
		return nil, err
	}
	return &client{core: *core, creds: creds, settings: s}, nil
}

// payer is the header by which the requester accepts the costs.
const payer = "x-amz-request-payer"

// List implements [objects.Client].
func (c *client) List(ctx context.Context, bucket, prefix, after string) iter.Seq2[objects.Object, error] {
	opt := minio.ListObjectsOptions{Prefix: prefix, StartAfter: after, Recursive: true, FetchOwner: new(bool)}
	if c.settings.RequesterPays {
		opt.Set(payer, "requester")
	}
	return func(yield func(objects.Object, error) bool) {
		for o := range c.core.ListObjectsIter(ctx, bucket, opt) {
			if o.Err != nil {
				yield(objects.Object{}, c.explain(o.Err))
				return
			}
			if !yield(object(bucket, o.Key, o), nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil { // the listing is not complete
			yield(objects.Object{}, err)
		}
	}
}

// object returns the object that the store describes as o.
func object(bucket, key string, o minio.ObjectInfo) objects.Object {
	return objects.Object{Bucket: bucket, Key: key, Size: o.Size, ETag: strings.Trim(o.ETag, `"`), Modified: o.LastModified, Run: o.Metadata.Get("x-amz-meta-" + runKey)}
}

// runKey is the name of [objects.Object.Run] in the metadata of an object.
const runKey = "urlfold-run"

// Head implements [objects.Client].
func (c *client) Head(ctx context.Context, bucket, key, version string) (objects.Object, error) {
	info, err := c.core.StatObject(ctx, bucket, key, c.reading(version))
	if err != nil {
		return objects.Object{}, c.explain(err)
	}
	o := object(bucket, key, info)
	o.Version = version
	return o, nil
}

// reading returns the options of a request that reads.
func (c *client) reading(version string) (opt minio.GetObjectOptions) {
	opt.VersionID = version
	if c.settings.RequesterPays {
		opt.Set(payer, "requester")
	}
	return opt
}

// Get implements [objects.Client]. It also checks what the store answers,
// because some stores ignore conditions or ranges.
func (c *client) Get(ctx context.Context, o objects.Object, off, n int64) (io.ReadCloser, error) {
	opt := c.reading(o.Version)
	opt.Set("Range", fmt.Sprintf("bytes=%d-%d", off, off+n-1))
	opt.Set("If-Match", `"`+o.ETag+`"`)
	body, got, header, err := c.core.GetObject(ctx, o.Bucket, o.Key, opt)
	if err != nil {
		err = c.explain(err)
		if kind := objects.KindOf(err); kind == objects.Exists || kind == objects.NotFound {
			return nil, &objects.Error{Kind: objects.Changed}
		}
		return nil, err
	}
	span, all := header.Get("Content-Range"), off == 0 && n == o.Size
	switch {
	case strings.Trim(got.ETag, `"`) != o.ETag,
		span != "" && span != fmt.Sprintf("bytes %d-%d/%d", off, off+n-1, o.Size):
		err = &objects.Error{Kind: objects.Changed}
	case span == "" && !all, got.Size != n:
		err = &objects.Error{Kind: objects.Temporary, Detail: "the store sent another range than was requested"}
	}
	if err != nil {
		_ = body.Close() // the body is not needed
		return nil, err
	}
	return body, nil
}

// Remove implements [objects.Client].
func (c *client) Remove(ctx context.Context, bucket, key string) error {
	err := c.explain(c.core.RemoveObject(ctx, bucket, key, minio.RemoveObjectOptions{}))
	if objects.KindOf(err) == objects.NotFound {
		return nil
	}
	return err
}

// putting returns the options of a request that creates an object.
func putting(how objects.Put) minio.PutObjectOptions {
	opt := minio.PutObjectOptions{UserMetadata: map[string]string{runKey: how.Run}, DisableContentSha256: true}
	conditional(&opt, how)
	return opt
}

// conditional adds the condition of how to a request.
func conditional(opt *minio.PutObjectOptions, how objects.Put) {
	if how.New {
		opt.SetMatchETagExcept("*")
	}
}

// Put implements [objects.Client].
func (c *client) Put(ctx context.Context, bucket, key string, data []byte, how objects.Put) error {
	_, err := c.core.PutObject(ctx, bucket, key, bytes.NewReader(data), int64(len(data)), "", sum(data), putting(how))
	return c.explain(err)
}

// sum returns the checksum by which the store verifies data.
func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}

// Create implements [objects.Client].
func (c *client) Create(ctx context.Context, bucket, key string, how objects.Put) (string, error) {
	how.New = false // CompleteMultipartUpload has the condition
	id, err := c.core.NewMultipartUpload(ctx, bucket, key, putting(how))
	return id, c.explain(err)
}

// UploadPart implements [objects.Client].
func (c *client) UploadPart(ctx context.Context, bucket, key, id string, number int, data []byte) (objects.Part, error) {
	p, err := c.core.PutObjectPart(ctx, bucket, key, id, number, bytes.NewReader(data), int64(len(data)), minio.PutObjectPartOptions{Sha256Hex: sum(data), DisableContentSha256: true})
	return objects.Part{Number: number, ETag: p.ETag}, c.explain(err)
}

// Complete implements [objects.Client].
func (c *client) Complete(ctx context.Context, bucket, key, id string, parts []objects.Part, how objects.Put) error {
	list := make([]minio.CompletePart, len(parts))
	for i, p := range parts {
		list[i] = minio.CompletePart{PartNumber: p.Number, ETag: p.ETag}
	}
	var opt minio.PutObjectOptions
	conditional(&opt, how)
	_, err := c.core.CompleteMultipartUpload(ctx, bucket, key, id, list, opt)
	return c.explain(err)
}

// Abort implements [objects.Client].
func (c *client) Abort(ctx context.Context, bucket, key, id string) error {
	return c.explain(c.core.AbortMultipartUpload(ctx, bucket, key, id))
}

// Uploads implements [objects.Client].
func (c *client) Uploads(ctx context.Context, bucket, prefix string) (list []objects.Upload, err error) {
	var key, id string
	for {
		page, err := c.core.ListMultipartUploads(ctx, bucket, prefix, key, id, "", 1000)
		if err != nil {
			return nil, c.explain(err)
		}
		for _, u := range page.Uploads {
			list = append(list, objects.Upload{Key: u.Key, ID: u.UploadID})
		}
		if !page.IsTruncated {
			return list, nil
		}
		key, id = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// Error codes of stores, grouped by meaning.
var (
	deniedCodes    = []string{"AccessDenied", "AllAccessDisabled", "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "AccountProblem"}
	temporaryCodes = []string{"SlowDown", "SlowDownRead", "SlowDownWrite", "Throttling", "ThrottlingException", "RequestLimitExceeded", "RequestTimeout", "InternalError", "ServiceUnavailable", "ConditionalRequestConflict", "OperationAborted"}
	regionCodes    = []string{"AuthorizationHeaderMalformed", "InvalidRegion"}
)

// explain returns an error of the client library as an [*objects.Error], or nil.
func (c *client) explain(err error) error {
	if err == nil {
		return nil
	}
	r := minio.ToErrorResponse(err)
	if r.Code == "" && r.StatusCode == 0 {
		return &objects.Error{Kind: objects.Unreachable, Detail: cause(err)}
	}
	kind, detail := objects.Failed, r.Code
	if r.Message != "" && r.Message != r.Code {
		detail += ": " + strings.ToValidUTF8(r.Message, "?")
	}
	switch {
	case r.Code == "ExpiredToken" || r.Code == "ExpiredTokenException":
		c.creds.Expire() // the next request gets new credentials
		kind = objects.Temporary
	case slices.Contains(deniedCodes, r.Code):
		kind = objects.Denied
		if !c.settings.RequesterPays && r.Code == "AccessDenied" {
			detail += " (if the requester pays for this bucket, use --s3 requester-pays, or requester_pays: true in a configuration)"
		}
		if r.Region != "" && c.settings.Region == "" {
			kind = objects.Temporary // the library now knows the region, so a retry succeeds
		}
	case r.Code == "RequestTimeTooSkewed":
		kind, detail = objects.Denied, "the clock of this machine differs too much from the clock of the store"
	case r.Code == "InvalidObjectState":
		kind = objects.Archived
	case r.Code == "NoSuchUpload":
		kind = objects.NoUpload
	case r.Code == "NotImplemented" || r.StatusCode == http.StatusNotImplemented:
		kind = objects.Unsupported
	case r.Code == "NoSuchKey", r.Code == "NoSuchBucket", r.StatusCode == http.StatusNotFound:
		kind, detail = objects.NotFound, r.Code
	case r.StatusCode == http.StatusPreconditionFailed || r.Code == "PreconditionFailed":
		kind = objects.Exists
	case slices.Contains(temporaryCodes, r.Code), slices.Contains(regionCodes, r.Code) && c.settings.Region == "",
		r.StatusCode >= 500, r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusRequestTimeout:
		kind = objects.Temporary
	}
	return &objects.Error{Kind: kind, Detail: detail}
}
