// Package sqs is a client for Amazon SQS and services that speak its JSON
// protocol.
package sqs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// A Client sends requests about one queue. It does not repeat a request that
// fails. It is safe for concurrent use.
type Client struct {
	queue, endpoint string
	signer          Signer
	http            *http.Client
}

// A Signer signs requests.
type Signer struct {
	// Sign returns a signed copy of r, whose body is body.
	Sign func(r *http.Request, body []byte) (*http.Request, error)
	// Expire is called when the credentials have expired.
	Expire func()
}

// A Message is a delivered message.
type Message struct {
	Body    string
	Receipt string // identifies this delivery
	Count   int    // number of deliveries, including this one
}

const (
	// answerTimeout limits a request beyond the time that it waits for messages.
	answerTimeout = 20 * time.Second
	// maxAnswer limits an answer in bytes. A message has at most 1 MiB, and an
	// answer ten messages, in which JSON may escape bytes.
	maxAnswer = 64 << 20
)

// Region returns the region in the URL of a queue, or an empty text.
func Region(queue string) string {
	u, err := url.Parse(queue)
	if err != nil {
		return ""
	}
	rest, ok := strings.CutPrefix(u.Hostname(), "sqs.")
	region, _, dot := strings.Cut(rest, ".amazonaws.com")
	if !ok || !dot {
		return ""
	}
	return region
}

// Check returns an error unless queue is the URL of a queue.
func Check(queue string) error {
	u, err := url.Parse(queue)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.Trim(u.Path, "/") == "" || u.RawQuery != "" {
		return errors.New("must be the URL of a queue, such as https://sqs.eu-west-1.amazonaws.com/111122223333/NAME")
	}
	return nil
}

// New returns a client for queue, a URL that Check has accepted. It sends no
// request.
func New(queue string, signer Signer) (*Client, error) {
	u, err := url.Parse(queue)
	if err != nil {
		return nil, err
	}
	u.Path = "/"
	return &Client{queue: queue, endpoint: u.String(), signer: signer, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // a signature is valid for one host only
	}}, nil
}

// Receive waits for messages for up to wait, and returns at most n of them; n
// must not exceed 10. The queue does not deliver these messages again before
// visible has passed.
func (c *Client) Receive(ctx context.Context, n int, wait, visible time.Duration) ([]Message, error) {
	var out struct {
		Messages []struct {
			Body, ReceiptHandle string
			Attributes          map[string]string
		}
	}
	err := c.call(ctx, "ReceiveMessage", wait, map[string]any{
		"MaxNumberOfMessages": n, "WaitTimeSeconds": int(wait.Seconds()), "VisibilityTimeout": int(visible.Seconds()),
		"AttributeNames": []string{"ApproximateReceiveCount"},
	}, &out)
	var list []Message
	for _, m := range out.Messages {
		count, _ := strconv.Atoi(m.Attributes["ApproximateReceiveCount"]) // 0: unknown
		list = append(list, Message{m.Body, m.ReceiptHandle, count})
	}
	return list, err
}

// Send adds at most 10 messages to the queue. After an error, some of them may be in
// the queue. In a FIFO queue, each message is a group of its own, since a group is
// delivered one message after the other.
func (c *Client) Send(ctx context.Context, texts []string) error {
	var list []map[string]string
	for i, text := range texts {
		m := map[string]string{"Id": strconv.Itoa(i), "MessageBody": text}
		if strings.HasSuffix(c.queue, ".fifo") {
			sum := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
			m["MessageGroupId"], m["MessageDeduplicationId"] = sum, sum
		}
		list = append(list, m)
	}
	var out struct {
		Failed []struct{ Code, Message string }
	}
	if err := c.call(ctx, "SendMessageBatch", 0, map[string]any{"Entries": list}, &out); err != nil {
		return err
	}
	if len(out.Failed) > 0 {
		return fmt.Errorf("SendMessageBatch: %s: %.200s", out.Failed[0].Code, strings.ToValidUTF8(out.Failed[0].Message, "?"))
	}
	return nil
}

// Delete acknowledges a message.
func (c *Client) Delete(ctx context.Context, receipt string) error {
	return c.call(ctx, "DeleteMessage", 0, map[string]any{"ReceiptHandle": receipt}, nil)
}

// Hide makes the queue not deliver a message again before visible has passed
// from now on.
func (c *Client) Hide(ctx context.Context, receipt string, visible time.Duration) error {
	return c.call(ctx, "ChangeMessageVisibility", 0, map[string]any{"ReceiptHandle": receipt, "VisibilityTimeout": int(visible.Seconds())}, nil)
}

// call sends a request and reads the answer into out. The service may delay the
// answer by wait.
func (c *Client) call(ctx context.Context, action string, wait time.Duration, in map[string]any, out any) error {
	ctx, cancel := context.WithTimeout(ctx, wait+answerTimeout)
	defer cancel()
	in["QueueUrl"] = c.queue
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "AmazonSQS."+action)
	if req, err = c.signer.Sign(req, body); err != nil {
		return err
	}
	res, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // leave out the URL, which is in the configuration
			err = u.Err
		}
		return fmt.Errorf("%s: %w", action, err)
	}
	defer func() { _ = res.Body.Close() }() // the body has been read
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", action, err)
	case res.StatusCode != http.StatusOK:
		return c.refused(action, res.StatusCode, text)
	case len(text) > maxAnswer:
		return fmt.Errorf("%s: the answer is longer than %d MiB", action, maxAnswer>>20)
	case out == nil || len(text) == 0:
		return nil
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("%s: the answer is not JSON", action)
	}
	return nil
}

// refused returns the error in an answer.
func (c *Client) refused(action string, status int, text []byte) error {
	var e struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &e) != nil || e.Type == "" {
		return fmt.Errorf("%s: HTTP status %d", action, status)
	}
	_, code, found := strings.Cut(e.Type, "#")
	if !found {
		code = e.Type
	}
	if strings.HasPrefix(code, "ExpiredToken") {
		c.signer.Expire()
	}
	return fmt.Errorf("%s: %s: %.200s", action, code, strings.ToValidUTF8(e.Message, "?"))
}
