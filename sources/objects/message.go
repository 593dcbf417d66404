package objects

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	storage "github.com/urlfold/urlfold/internal/storage/objects"
)

// A Reference is a message of urlfold: it names an object. A dead letter of the
// source is a Reference, too, so that it can be published again.
type Reference struct {
	URL       string `json:"url"`                 // s3://BUCKET/KEY
	ETag      string `json:"etag,omitempty"`      // if another version is there, it is not read
	VersionID string `json:"versionId,omitempty"` // in a bucket with versions: the version to read
	Verdict   string `json:"verdict,omitempty"`   // in a dead letter: why the object was not read
	Detail    string `json:"detail,omitempty"`
	Message   string `json:"message,omitempty"` // in a dead letter: the message, if it names no object
}

// A named is the part of a notification that names an object.
type named struct {
	Bucket struct{ Name, ARN string }
	Object struct {
		Key, ETag, VersionID string

		Version string `json:"version-id"` // the name that EventBridge uses
	}
}

// A notification has the members of all messages that the source understands.
type notification struct {
	URL, ETag, VersionID, Verdict string // of a Reference

	// Members of notifications from Amazon S3, Ceph, MinIO and versitygw.
	Event   string // s3:TestEvent
	Records []struct {
		EventName string
		S3        named
	}

	// Members of notifications from Amazon EventBridge.
	DetailType string `json:"detail-type"`
	Detail     json.RawMessage

	// Members of messages from Amazon SNS, which wraps notifications.
	Type, Message string
}

// referencesIn returns the objects that a message names. A notification about
// anything other than new objects names no objects.
func referencesIn(text []byte) ([]Reference, error) {
	var n notification
	if err := json.Unmarshal(text, &n); err != nil {
		return nil, fmt.Errorf("must be JSON that names an object in a bucket: %w", err)
	}
	switch {
	case n.URL != "":
		if n.Verdict != "" { // a dead letter asks for another try
			n.ETag = ""
		}
		return one(Reference{URL: n.URL, ETag: n.ETag, VersionID: n.VersionID})
	case n.Type == "Notification" && n.Message != "":
		var inner json.RawMessage
		if err := json.Unmarshal([]byte(n.Message), &inner); err != nil || strings.Contains(n.Message, `"Notification"`) {
			return nil, errors.New("the SNS notification contains no S3 notification")
		}
		return referencesIn(inner)
	case n.DetailType != "":
		if n.DetailType != "Object Created" && n.DetailType != "Object Restore Completed" {
			return nil, nil
		}
		var d named
		if err := json.Unmarshal(n.Detail, &d); err != nil {
			return nil, fmt.Errorf("detail: %w", err)
		}
		return one(d.reference(d.Object.Key))
	case n.Event == "s3:TestEvent":
		return nil, nil
	case n.Records == nil:
		return nil, errors.New("neither a reference to an object nor an S3 notification")
	}
	var all []Reference
	for i, r := range n.Records {
		kind := strings.TrimPrefix(r.EventName, "s3:")
		if !strings.HasPrefix(kind, "ObjectCreated:") && kind != "ObjectRestore:Completed" {
			continue
		}
		key, err := r.S3.key()
		if err != nil {
			return nil, fmt.Errorf("entry %d of Records: %w", i+1, err)
		}
		ref, err := one(r.S3.reference(key))
		if err != nil {
			return nil, fmt.Errorf("entry %d of Records: %w", i+1, err)
		}
		all = append(all, ref...)
	}
	return all, nil
}

// key returns the key that a notification names.
func (n *named) key() (string, error) {
	key := n.Object.Key
	if strings.HasSuffix(n.Bucket.ARN, "/"+n.Bucket.Name+"/"+key) {
		return key, nil // versitygw does not encode keys, and adds them to the ARN
	}
	key, err := url.QueryUnescape(key)
	if err != nil {
		return "", errors.New("invalid percent-encoding in the key")
	}
	return key, nil
}

// reference returns a reference to the object with the key.
func (n *named) reference(key string) Reference {
	return Reference{
		URL: storage.Scheme + n.Bucket.Name + "/" + key, ETag: strings.Trim(n.Object.ETag, `"`),
		VersionID: cmp.Or(n.Object.VersionID, n.Object.Version),
	}
}

// one returns a list with only ref, which must name an object.
func one(ref Reference) ([]Reference, error) {
	if bucket, key := storage.Split(ref.URL); !storage.Is(ref.URL) || bucket == "" || key == "" {
		return nil, errors.New("the URL of the object must be s3://BUCKET/KEY")
	}
	return []Reference{ref}, nil
}
