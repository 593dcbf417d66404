package config

import (
	"cmp"
	"errors"
	"time"

	"github.com/urlfold/urlfold/config/connect"
	"github.com/urlfold/urlfold/config/field"
)

// Dedupe drops, or marks, records that have the same URL as an earlier record.
// For files, the set of keys is stored together with the checkpoints, so a
// crash loses no record and, with exactly_once, lets no duplicate pass. For a
// JetStream source, the set is in a bucket. Not covered by the stability page.
type Dedupe struct {
	// The output field that is compared. key means the key at the level
	// codec.key. Default: key.
	By string `yaml:"by" enum:"key,syntax,equivalent,fetch,page,shape,site,template"`
	// The URLs of a record that are compared: all of them, in order, or the first.
	// Default: all.
	URL string `yaml:"url" enum:"all,first"`
	// first writes only the first record of each key. mark writes all records, with
	// the field duplicate, which is true if an earlier record has the same key; it
	// requires codec.to jsonl, tsv, csv, keys or extend. Default: first.
	Keep string `yaml:"keep"`
	// The records that a record is compared with: all records of the source, or
	// only the same lane, which is a file or a partition. Default: all. A Kafka
	// source supports only lane, which is then the default: partition its topic
	// by the URL.
	Scope string `yaml:"scope" enum:"all,lane"`
	// What to do when the stored set does not fit the configuration, for example
	// because the profile, a parameter list or a sink has changed: reset starts
	// with an empty set, refuse rejects the configuration. Default: reset.
	OnChange string `yaml:"on_change" enum:"reset,refuse"`
	// With a jetstream source: the key-value bucket, on the servers of the
	// source, that holds the keys. It is created if it does not exist. All
	// instances that name the bucket share the keys.
	Bucket string `yaml:"bucket"`
	// With bucket: how long another instance may need to make a record durable.
	// After that, its claim on the key counts as abandoned, and the next record
	// with the key is written. Default: 1m.
	ClaimTimeout time.Duration `yaml:"claim_timeout" min:"1s"`
	// With bucket: how long a key is remembered after its record is durable. 0s:
	// forever. Requires nats-server 2.11, as window does. Default: 0s.
	TTL time.Duration `yaml:"ttl" min:"0s"`
	// The topic that holds the keys. Required for a Kafka source, whose partitions
	// move between instances. Default: the keys are in data_dir.
	Changelog *Changelog `yaml:"changelog"`
	// Compares only records of the same period, by the times of the records, and
	// forgets keys. Without it, keys are kept for ever.
	Window *DedupeWindow `yaml:"window"`
}

// DedupeWindow divides time into periods. The time of a record, never the clock
// of the machine, selects its period. Not covered by the stability page.
type DedupeWindow struct {
	// The length of a period. Periods are counted from 1970-01-01T00:00:00Z, so
	// periods of 24h are the days in UTC.
	Size time.Duration `yaml:"size,required" min:"1s" max:"8784h"`
	// How long after the end of a period its keys are kept, by the times of the records
	// of the partition, or of the file that lags behind most. Later records of the
	// period are all written. A time that is ahead of the last times of its file or
	// partition by more than the sum of size and lateness ends no period, and its
	// record is written. With bucket, a key is forgotten when its record has been
	// durable for the sum of size and lateness. Default: 1h.
	Lateness time.Duration `yaml:"lateness" min:"0s" max:"8784h"`
	// With files: how long a file without new records may delay the end of periods
	// while other files have new records. Default: 5m.
	Idle time.Duration `yaml:"idle" min:"1s" max:"24h"`
	// record uses the field time of the record. message uses the time of the message,
	// and requires a kafka or jetstream source. Default: record.
	Time string `yaml:"time" enum:"record,message"`
}

// defaultIdle is the default of DedupeWindow.Idle.
const defaultIdle = 5 * time.Minute

func (w *DedupeWindow) setDefaults() { w.Lateness, w.Idle, w.Time = time.Hour, defaultIdle, "record" }

// Validate checks that the durations have whole seconds.
func (w *DedupeWindow) Validate() error {
	for _, d := range []struct {
		key   string
		value time.Duration
	}{{"size", w.Size}, {"lateness", w.Lateness}} {
		if d.value%time.Second != 0 {
			return field.Wrong(d.key, "must be a whole number of seconds")
		}
	}
	return nil
}

// ByMessage reports whether the times of messages count.
func (w *DedupeWindow) ByMessage() bool { return w.Time == "message" }

// HasIdle reports whether idle is set.
func (w *DedupeWindow) HasIdle() bool { return w.Idle != defaultIdle }

// defaultClaim is the default of Dedupe.ClaimTimeout.
const defaultClaim = time.Minute

// setDefaults sets all defaults except scope, which resolveScope sets.
func (d *Dedupe) setDefaults() {
	d.By, d.URL, d.Keep, d.OnChange = "key", "all", "first", "reset"
	d.ClaimTimeout = defaultClaim
}

// resolveScope sets the default of scope, which depends on the type of the source.
func (d *Dedupe) resolveScope(source string) {
	if d.Scope == "" {
		d.Scope = "all"
		if source == "kafka" {
			d.Scope = "lane"
		}
	}
}

// Marks reports whether duplicates are written, with a mark.
func (d *Dedupe) Marks() bool { return d.Keep == "mark" }

// keeps explains why a value of keep is not possible in a daemon.
var keeps = map[string]string{
	"last":  `"last" is not possible in a daemon: whether a record is the last of its key is known only at the end of the input; use urlfold --dedupe=last`,
	"count": `"count" is not possible in a daemon: the number of records is known only at the end of the input; use urlfold --dedupe=count`,
}

// Validate checks keep, and the keys that belong together.
func (d *Dedupe) Validate() error {
	var errs field.Errors
	if d.Keep != "first" && !d.Marks() {
		errs.Wrong("keep", cmp.Or(keeps[d.Keep], `must be "first" or "mark"`))
	}
	switch {
	case d.Bucket == "" && d.ClaimTimeout != defaultClaim:
		errs.Wrong("claim_timeout", "requires bucket: only instances that share a bucket claim keys")
	case d.Bucket == "" && d.TTL != 0:
		errs.Wrong("ttl", "requires bucket; to forget keys without a bucket, set window")
	case d.TTL != 0 && d.Window != nil:
		errs.Wrong("ttl", "cannot be combined with window, whose size and lateness decide how long a key is remembered")
	case d.Bucket != "" && !isBucket(d.Bucket):
		errs.Wrong("bucket", "invalid name: may contain only letters, digits, - and _")
	case d.Bucket != "" && d.OnChange != "reset":
		errs.Wrong("on_change", "must be reset with bucket: a changed configuration starts with an empty set of keys there, and the sets of other configurations stay")
	case d.Bucket != "" && d.Scope == "lane":
		errs.Wrong("scope", "must be all with bucket: the lane of a JetStream source is the whole stream")
	case d.TTL != 0 && d.TTL < time.Second:
		errs.Wrong("ttl", "must be 0s or at least 1s, the minimum TTL of the server")
	case d.TTL%time.Second != 0:
		errs.Wrong("ttl", "must be whole seconds, the unit of the server")
	}
	return errors.Join(errs...)
}

// isBucket reports whether s can be the name of a bucket.
func isBucket(s string) bool {
	for _, c := range []byte(s) {
		if c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// Changelog configures the topic that holds the keys of a deduplicated Kafka
// topic. It is on the brokers of the source. Not covered by the stability page.
type Changelog struct {
	// The topic. It belongs to this deduplication alone, is compacted
	// (cleanup.policy=compact), and has as many partitions as the topic of the
	// source.
	Topic string `yaml:"topic,required" min:"1"`
	// Whether to create the topic if it does not exist. Default: true.
	Create bool `yaml:"create"`
	// Memory for the keys of the partitions of this instance, within memory_limit.
	// More keys move to temporary files in data_dir. Default: 256MiB.
	MaxMemory field.Size `yaml:"max_memory" min:"1MiB" max:"1TiB"`
}

// Validate checks the name of the topic.
func (c *Changelog) Validate() error {
	var errs field.Errors
	errs.Add("topic", connect.CheckTopic(c.Topic))
	return errors.Join(errs...)
}

// setDefaults sets the defaults.
func (c *Changelog) setDefaults() { c.Create, c.MaxMemory = true, 256*field.MiB }
