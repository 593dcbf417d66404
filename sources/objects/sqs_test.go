package objects

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/internal/testkit/s3test"
)

// A fakeSQS answers the calls of the client. Handles are numbers of deliveries.
type fakeSQS struct {
	mu       sync.Mutex
	messages map[string]*fakeMessage
	requests []string
	fail     string // code of the error of all calls
}

type fakeMessage struct {
	handle  string
	count   int
	visible time.Time
}

func (f *fakeSQS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	action := strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "AmazonSQS.")
	f.requests = append(f.requests, action+" "+r.Header.Get("Authorization"))
	var in struct {
		QueueURL, ReceiptHandle string
		VisibilityTimeout       int
		MaxNumberOfMessages     int
	}
	if json.Unmarshal(body, &in) != nil || !strings.HasSuffix(in.QueueURL, "/1/q") {
		f.fail = "InvalidParameterValue"
	}
	if f.fail != "" {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"__type":"com.amazonaws.sqs#`+f.fail+`","message":"no"}`)
		return
	}
	until := time.Now().Add(time.Duration(in.VisibilityTimeout) * time.Second)
	type message struct {
		Body, ReceiptHandle string
		Attributes          map[string]string
	}
	var out struct{ Messages []message }
	for text, m := range f.messages {
		switch {
		case action == "ReceiveMessage" && len(out.Messages) < in.MaxNumberOfMessages && time.Now().After(m.visible):
			m.count++
			m.handle, m.visible = text+string(rune('0'+m.count)), until
			out.Messages = append(out.Messages, message{text, m.handle, map[string]string{"ApproximateReceiveCount": string(rune('0' + m.count))}})
		case action == "ChangeMessageVisibility" && m.handle == in.ReceiptHandle:
			m.visible = until
		case action == "DeleteMessage" && m.handle == in.ReceiptHandle:
			delete(f.messages, text)
		}
	}
	if action == "SendMessageBatch" {
		_, _ = io.WriteString(w, `{"Failed":[{"Id":"1","Code":"InternalError","Message":"full"}]}`)
		return
	}
	_ = json.NewEncoder(w).Encode(out) // the client detects a short answer
}

// TestSQS: the calls of the queue have their effects in the in-process fake, which
// sees requests signed for the service and the region.
func TestSQS(t *testing.T) {
	credentials(t)
	fake := &fakeSQS{messages: map[string]*fakeMessage{"a": {}, "b": {}}}
	srv := httptest.NewServer(fake)
	defer srv.Close()
	q := sqsAt(t, srv.URL+"/1/q")
	useQueue(t, q)
	if err := q.client.Send(t.Context(), []string{"a", "b"}); err == nil || err.Error() != "SendMessageBatch: InternalError: full" {
		t.Errorf("a message that was refused: %v", err)
	}
	fake.mu.Lock()
	for _, r := range fake.requests {
		if !strings.Contains(r, "Credential=KEY/") || !strings.Contains(r, "/eu-west-1/sqs/aws4_request") || strings.Contains(r, "SECRET-KEY") {
			t.Errorf("request %s", r)
		}
	}
	fake.fail = "QueueDoesNotExist"
	fake.mu.Unlock()
	if _, err := q.fetch(t.Context(), 1); err == nil || err.Error() != "ReceiveMessage: QueueDoesNotExist: no" || q.health() == nil {
		t.Errorf("a missing queue: %v, health %v", err, q.health())
	}

	other := httptest.NewServer(http.NotFoundHandler())
	defer other.Close()
	away := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	if _, err := sqsAt(t, away.URL+"/1/q").fetch(t.Context(), 1); err == nil || !strings.Contains(err.Error(), "HTTP status 307") {
		t.Errorf("a redirect is followed: %v", err)
	}
}

// useQueue receives two messages, keeps and acknowledges one, and gives the other
// back.
func useQueue(t *testing.T, q *sqs) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	fetch := func(want int) (all []*message) {
		t.Helper()
		for range 20 { // a queue may return fewer messages than it has
			list, err := q.fetch(ctx, 10)
			if err != nil {
				t.Fatal(err)
			}
			if all = append(all, list...); len(all) >= want {
				break
			}
		}
		if len(all) != want {
			t.Fatalf("%d messages, want %d", len(all), want)
		}
		return all
	}
	list := fetch(2)
	for i, err := range []error{q.keep(ctx, list[0]), q.ack(ctx, list[0]), q.giveBack(ctx, list[1])} {
		if err != nil {
			t.Fatalf("call %d: %v", i, err)
		}
	}
	again := fetch(1)
	if string(again[0].text) != string(list[1].text) || again[0].deliveries != 2 {
		t.Errorf("%q delivered %d times", again[0].text, again[0].deliveries)
	}
	if err := q.ack(ctx, again[0]); err != nil {
		t.Fatal(err)
	}
	if list, err := q.fetch(ctx, 1); err != nil || len(list) > 0 || !q.empty(ctx) || q.health() != nil {
		t.Errorf("the empty queue: %d messages, %v", len(list), err)
	}
}

// credentials sets credentials in the environment.
func credentials(t *testing.T) {
	for name, value := range map[string]string{"AWS_ACCESS_KEY_ID": "KEY", "AWS_SECRET_ACCESS_KEY": "SECRET-KEY", "AWS_REGION": "eu-west-1", "AWS_PROFILE": "", "AWS_SESSION_TOKEN": ""} {
		t.Setenv(name, value)
	}
}

// sqsAt returns the queue with a URL, which does not wait for messages.
func sqsAt(t *testing.T, url string) *sqs {
	t.Helper()
	q := &sqs{cfg: SQS{URL: url, VisibilityTimeout: 30 * time.Second}, store: connect.S3{}}
	if err := q.open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return q
}

// TestSQSMoto is TestSQS with moto, an implementation of SQS by others.
func TestSQSMoto(t *testing.T) {
	srv, _ := s3test.Moto.Start(t)
	for name, attributes := range map[string]string{"q": `{}`, "q.fifo": `{"FifoQueue":"true"}`} {
		srv.SQS(t, "CreateQueue", `{"QueueName":"`+name+`","Attributes":`+attributes+`}`)
		q := sqsAt(t, srv.URL+"/123456789012/"+name)
		if err := q.publish(t.Context(), []Reference{{URL: "a"}, {URL: "b"}}); err != nil {
			t.Fatal(err)
		}
		useQueue(t, q)
	}
}
