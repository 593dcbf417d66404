package config

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/urlfold/urlfold/config/field"
)

// The structs of this file stand for those of components, and have all that a
// struct may have.

// A kafkaConfig is like that of a Kafka client.
type kafkaConfig struct {
	// The first brokers.
	Brokers []string `yaml:"brokers,required" min:"1" commas:"yes"`
	kafkaIO          // inline
	// The consumer group.
	Group string `yaml:"group"`
	// Where to begin.
	Start startAt `yaml:"start"`
	// The time after which a silent member is out.
	SessionTimeout time.Duration `yaml:"session_timeout" min:"1s" max:"5m"`
	// The time to drain in.
	DrainTimeout time.Duration `yaml:"drain_timeout"`
	// Encryption.
	TLS *tlsConfig `yaml:"tls"`
	// Who we are.
	SASL *saslConfig `yaml:"sasl"`
	// How partitions are chosen.
	PartitionBy string `yaml:"partition_by" enum:"key,record,round_robin"`
	// The compression.
	Compression string `yaml:"compress" enum:"none,gzip,snappy,lz4,zstd"`
	// Weights of brokers.
	Weights map[string]uint8 `yaml:"weights"`
	// A share.
	Share float64 `yaml:"share" min:"0" max:"1"`

	Ignored chan int // has no key
}

// kafkaIO is what source and sink have apart.
type kafkaIO struct {
	// What is read.
	Topics []string `yaml:"topics"`
	// What is written to.
	Topic string `yaml:"topic"`
}

func (c *kafkaConfig) Validate() error {
	var errs []error
	if (c.Topic == "") == (len(c.Topics) == 0) {
		errs = append(errs, errors.New("has topics, or a topic"))
	}
	if c.DrainTimeout > c.SessionTimeout {
		errs = append(errs, &field.Error{Field: "drain_timeout", With: []string{"session_timeout"}, Err: errors.New("is above session_timeout")})
	}
	return errors.Join(errs...)
}

type tlsConfig struct {
	// The file of the authorities.
	CAFile string `yaml:"ca_file"`
	// The file of the key.
	KeyFile string `yaml:"key_file"`
}

func (c *tlsConfig) Validate() error {
	if c.CAFile == "" {
		return &field.Error{Field: "ca_file", Err: errors.New("is missing")}
	}
	return nil
}

type saslConfig struct {
	// The mechanism.
	Mechanism string `yaml:"mechanism" enum:"PLAIN,SCRAM-SHA-512"`
	// The name.
	Username string `yaml:"username"`
	// The password.
	Password field.Secret `yaml:"password,required"`
}

type startAt string

func (s *startAt) UnmarshalText(text []byte) error {
	word, at, _ := strings.Cut(string(text), ":")
	if word == "timestamp" {
		if _, err := time.Parse(time.RFC3339, at); err != nil {
			return err // the error repeats the text
		}
	} else if word != "earliest" && word != "latest" {
		return errors.New("must be earliest, latest or timestamp:TIME")
	}
	*s = startAt(text)
	return nil
}

// A jetstreamConfig is like that of a NATS client.
type jetstreamConfig struct {
	// The servers.
	Servers []string `yaml:"servers,required" min:"1"`
	// The file of the credentials.
	CredsFile string `yaml:"creds_file"`
	// The stream.
	Stream string `yaml:"stream"`
	// The durable consumer.
	Durable string `yaml:"durable"`
	// The subject.
	Subject string `yaml:"subject"`
	// What the id of a message is made of.
	MsgID string `yaml:"msg_id" enum:"position,key"`
	// The consumer.
	Consumer consumerConfig `yaml:"consumer"`
	// What is fetched ahead.
	Prefetch prefetchConfig `yaml:"prefetch"`
	// How is published.
	Publish publishConfig `yaml:"publish"`
}

type consumerConfig struct {
	// The subjects.
	FilterSubjects []string `yaml:"filter_subjects"`
	// The time to acknowledge in.
	AckWait time.Duration `yaml:"ack_wait"`
	// Messages under way.
	MaxAckPending int `yaml:"max_ack_pending"`
	// Tries.
	MaxDeliver int `yaml:"max_deliver" min:"-1"`
}

type prefetchConfig struct {
	// Messages.
	Messages int `yaml:"messages"`
	// Bytes.
	Bytes field.Size `yaml:"bytes"`
}

type publishConfig struct {
	// Messages under way.
	MaxPending int `yaml:"max_pending"`
	// The time to wait.
	AckTimeout time.Duration `yaml:"ack_timeout"`
}

// UnmarshalText reads a word, which no method gives back.
func (c *compressConfig) UnmarshalText(text []byte) error {
	if string(text) != "none" {
		return errors.New("is none, or a mapping")
	}
	return nil
}

// A fileConfig is like that of the file source and sink.
type fileConfig struct {
	// What is read.
	Include []string `yaml:"include"`
	// What is not.
	Exclude []string `yaml:"exclude"`
	// Whether it ends.
	Mode string `yaml:"mode" enum:"batch,tail"`
	// What damage leads to.
	OnDamage string `yaml:"on_damage" enum:"emit-and-report,skip-file,stop"`
	// The distance of restart points.
	RestartPointEvery field.Size `yaml:"restart_point_every"`
	// Limits.
	Limits limitsConfig `yaml:"limits"`
	// What becomes of a file.
	OnFinish onFinish `yaml:"on_finish" enum:"keep,delete"`
	// The path.
	Path string `yaml:"path"`
	// The compression.
	Compress compressConfig `yaml:"compress"`
	// Whether nothing is doubled.
	ExactlyOnce bool `yaml:"exactly_once"`
}

type limitsConfig struct {
	// The ratio.
	MaxRatio int64 `yaml:"max_ratio"`
	// The window.
	MaxWindow field.Size `yaml:"max_window"`
}

type onFinish struct {
	word string
	// The folder.
	MoveTo string `yaml:"move_to,required"`
}

func (o *onFinish) UnmarshalText(text []byte) error {
	o.word = string(text)
	return nil
}

func (o onFinish) MarshalText() ([]byte, error) { return []byte(o.word), nil }

type compressConfig struct {
	// Zstandard.
	Zstd *levelConfig `yaml:"zstd"`
	// Gzip.
	Gzip *levelConfig `yaml:"gzip"`
}

type levelConfig struct {
	// The level.
	Level int `yaml:"level" min:"1" max:"22"`
}

func doubles() Types {
	all := map[string]func() any{
		"kafka": func() any {
			return &kafkaConfig{Start: "latest", SessionTimeout: 45 * time.Second, DrainTimeout: 15 * time.Second, Compression: "zstd", PartitionBy: "key"}
		},
		"jetstream": func() any {
			return &jetstreamConfig{MsgID: "position", Publish: publishConfig{4000, 30 * time.Second}}
		},
		"file": func() any { return &fileConfig{Mode: "tail", OnFinish: onFinish{word: "keep"}} },
	}
	return Types{Sources: all, Sinks: all}
}

const secret = "hunter2-and-more"

// testEnv has some variables, and files by their base names.
func testEnv() Env {
	vars := map[string]string{"N": "3", "YES": "true", "EMPTY": "", "SECRET": secret, "HTTP": "http://user:" + secret + "@h/",
		"STRUCTURE": "a: b\n- " + secret, "TWICE": "${SECRET}"}
	contents := map[string]string{"kafka": secret + "\n", "crlf": "a\r\n", "two": "a\n\n", "partners.txt": "partner_*",
		"good.yaml": "name: good\nbase: crawler\n", "bad.yaml": "name: good\nbase: crawlr\nkey: k9\n"}
	read := func(name string) ([]byte, error) {
		text, ok := contents[path.Base(name)]
		if !ok {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
		}
		return []byte(text), nil
	}
	return Env{
		Lookup: func(name string) (string, bool) {
			v, ok := vars[name]
			return v, ok
		},
		ReadFile: read, ReadValue: read,
	}
}
