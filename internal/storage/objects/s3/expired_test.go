package s3

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urlfold/urlfold/internal/storage/objects"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// TestExpired: after a request that fails because the credentials have expired, the
// next one has those that the profile contains then. The error about a wrong clock
// names the clock.
func TestExpired(t *testing.T) {
	srv := s3test.New(t)
	etag := srv.Put("k", []byte("text")).ETag
	file := filepath.Join(t.TempDir(), "credentials")
	profile := func(id string) {
		if err := os.WriteFile(file, []byte("[p]\naws_access_key_id="+id+"\naws_secret_access_key=secret\n"), 0o600); err != nil {
			t.Error(err)
		}
	}
	profile("FIRST")
	t.Setenv("AWS_SHARED_CREDENTIALS_FILE", file)
	srv.SetFault(func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/bucket/skewed":
			s3test.Fail(w, http.StatusForbidden, "RequestTimeTooSkewed")
		case strings.Contains(r.Header.Get("Authorization"), "FIRST"):
			s3test.Fail(w, http.StatusBadRequest, "ExpiredToken")
		default:
			return false
		}
		return true
	})
	settings, err := Parse("profile=p", env)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	get := func(key string) error {
		body, err := c.Get(t.Context(), objects.Object{Bucket: "bucket", Key: key, ETag: etag, Size: 4}, 0, 4)
		if err == nil {
			err = body.Close()
		}
		return err
	}
	if err := get("k"); objects.KindOf(err) != objects.Temporary {
		t.Errorf("with expired credentials: %v", err)
	}
	profile("SECOND")
	if err := get("k"); err != nil {
		t.Errorf("with other credentials: %v", err)
	}
	if err := get("skewed"); objects.KindOf(err) != objects.Denied || !strings.Contains(err.Error(), "clock") {
		t.Errorf("with another clock: %v", err)
	}
}
