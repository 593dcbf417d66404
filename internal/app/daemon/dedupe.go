package daemon

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
	"github.com/urlfold/urlfold/internal/observe/memory"
	"github.com/urlfold/urlfold/internal/observe/metrics"
	"github.com/urlfold/urlfold/internal/record"
	"github.com/urlfold/urlfold/internal/storage/checkpoint"
	"github.com/urlfold/urlfold/internal/storage/keyset"
	"github.com/urlfold/urlfold/internal/storage/keyset/table"
	"github.com/urlfold/urlfold/internal/storage/unique"
	"github.com/urlfold/urlfold/internal/storage/unique/changelog"
	"github.com/urlfold/urlfold/pipeline/engine"
	sinkfile "github.com/urlfold/urlfold/sinks/file"
	sinkkafka "github.com/urlfold/urlfold/sinks/kafka"
	sinknats "github.com/urlfold/urlfold/sinks/nats"
	"github.com/urlfold/urlfold/sources/kafka"
)

// This file connects dedupe with the pipeline. It rejects configurations that would
// lose records, describes what the set of keys depends on, and opens the set of a run.

// dedupeSources explains, by type, why a source cannot be deduplicated.
var dedupeSources = map[string]string{
	"jetstream": "requires bucket with a JetStream source, because a set of keys on disk cannot follow acknowledgments of single messages; without dedupe, msg_id: key in a jetstream sink drops duplicates within the window of the stream",
	"nats":      "requires a file, s3, objects, kafka or jetstream source: core NATS cannot deliver a lost message again, so if the first record of a key were lost, dedupe would drop all others",
	"stdin":     "requires a file, s3, objects, kafka or jetstream source: stdin has no position that could be stored with the keys; for a pipe, use urlfold --dedupe",
}

// dedupeSinks explains, by type, why records cannot be deduplicated for a sink.
var dedupeSinks = map[string]string{
	"nats":   "core NATS delivers at most once: if the first record of a key is lost, dedupe would drop or mark all others",
	"stdout": "stdout is not durable: if the first record of a key is lost in the pipe, dedupe would drop or mark all others",
}

// checkDedupe rejects configurations in which dedupe could lose records.
func (k *checker) checkDedupe() {
	f := k.file
	if f.Dedupe == nil {
		return
	}
	wrong := func(path, text string) { k.wrong(path, "dedupe "+text) }
	for i, c := range each(f.Sources) {
		switch {
		case !k.isSound(c), c.Type == "jetstream" && k.inBucket() && i == 0:
		case c.Type == "jetstream" && k.inBucket():
			wrong(c.Path(), "requires a single source: run a second instance with the same bucket")
		case isFiles(c.Type) && k.inBucket():
			wrong(c.Path(), "with bucket requires a jetstream source; for files, the keys are stored in data_dir: remove bucket")
		case c.Type == "kafka":
			k.checkDedupeKafka(c, wrong)
		case !isFiles(c.Type):
			why, known := dedupeSources[c.Type]
			if !known {
				why = "requires a file or kafka source, which stores its positions together with the keys"
			}
			wrong(c.Path(), why)
		case i > 0:
			wrong(c.Path(), "requires a single source: the positions of two sources cannot be stored in one step; merge their include patterns")
		}
	}
	if f.Dedupe.Changelog != nil && !slices.ContainsFunc(f.Sources, func(c config.Component) bool { return c.Type == "kafka" }) {
		wrong("dedupe.changelog", "requires a kafka source; the keys of files are in data_dir")
	}
	if k.inBucket() && k.sound("dedupe") && f.Dedupe.Changelog != nil {
		wrong("dedupe.bucket", "cannot combine bucket with changelog, which would have no effect: remove changelog")
	}
	if f.Dedupe.Marks() {
		for _, c := range each(f.Sinks) {
			if s, ok := c.Config.(*sinknats.JetStreamConfig); ok && (s.MsgID == "key" || s.MsgID == "subject") {
				wrong(c.Path()+".msg_id", "cannot be combined with keep: mark: the stream would drop the marked records; set msg_id: position")
			}
		}
		if name := unique.MarkNote.Name; slices.Contains(f.Codec.Render.Names(), name) {
			wrong("codec.to.extend."+name, "adds a field of this name with keep: mark; choose another name")
		}
	}
	for _, c := range k.outputs() {
		if why, bad := dedupeSinks[c.Type]; bad {
			wrong(c.Path(), "cannot be combined with this sink: "+why)
		} else if brokerSinks[c.Type] && f.DeadLetter == nil && f.OnError.Refused != "drop" {
			wrong(c.Path(), "requires a dead_letter: if this sink refused the first record of a key, the record would be lost, because its duplicates are dropped or marked")
		}
	}
	if f.OnError.Refused == "drop" {
		wrong("on_error.refused", "cannot be combined with drop: if a sink refuses the first record of a key, no record with the key is written, or only records that are marked as duplicates")
	}
	if len(f.Route) > 0 {
		wrong("route", "cannot be combined with route: the first record of a key may go to another sink than its duplicates")
	}
	if c := k.fixedBatches(); c != nil {
		wrong(c.Path(), "cannot be combined with msg_id: batch: after a crash, a batch may hold other records, which the stream would drop; set msg_id: position with framing: records")
	}
}

// checkDedupeKafka rejects configurations in which the keys of a Kafka topic
// could not move with its partitions.
func (p *plan) checkDedupeKafka(c *config.Component, wrong func(path, text string)) {
	d, log := p.file.Dedupe, p.file.Dedupe.Changelog
	topics := c.Config.(*kafka.Config).Topics
	if len(p.file.Sources) > 1 {
		wrong(c.Path(), "requires a single source: each key is compared only with keys of the same partition")
	}
	if p.inBucket() {
		wrong("dedupe.bucket", "requires a jetstream source; the keys of Kafka are in dedupe.changelog")
	}
	if d.Scope != "lane" {
		wrong("dedupe.scope", "with Kafka requires scope: lane (the default), because several instances share the partitions; partition the topic by the URL, so that equal URLs are in the same partition")
	}
	if log == nil {
		wrong(c.Path(), "with Kafka requires changelog: a topic that holds the keys, so that the keys move with the partitions")
		return
	}
	if len(topics) > 1 {
		wrong(c.Path()+".topics", "supports only one topic, whose partitions correspond to the partitions of dedupe.changelog")
	}
	if d.OnChange == "refuse" {
		wrong("dedupe.on_change", "requires on_change: reset with a changelog: a changelog may hold the keys of several configurations, and each configuration ignores the keys of the others")
	}
	taken := slices.Contains(topics, log.Topic)
	for _, out := range p.outputs() {
		s, ok := out.Config.(*sinkkafka.Config)
		taken = taken || ok && s.Topic == log.Topic
	}
	if taken {
		wrong("dedupe.changelog.topic", "requires a topic that no source or sink uses")
	}
}

// dedupeScope returns the scope of the set.
func (p *plan) dedupeScope() engine.Scope {
	if p.file.Dedupe.Scope == "lane" {
		return engine.ScopeLane
	}
	return engine.ScopeAll
}

// dedupeWindow returns the windows of the set, or nil.
func (p *plan) dedupeWindow() *engine.Window {
	w := p.file.Dedupe.Window
	if w == nil {
		return nil
	}
	return &engine.Window{Size: w.Size, Lateness: w.Lateness, Idle: w.Idle, ByMessage: w.ByMessage()}
}

// checkWindow rejects windows for records without times, and keys of windows that
// would have no effect.
func (k *checker) checkWindow() {
	w := k.file.Dedupe.Window
	if w == nil || !k.sound("dedupe.window") || len(k.file.Sources) == 0 {
		return
	}
	files := isFiles(k.file.Sources[0].Type)
	switch {
	case files && w.ByMessage():
		k.wrong("dedupe.window.time", "requires a kafka or jetstream source: a file stores no time beside its records")
	case !files && w.HasIdle():
		k.wrong("dedupe.window.idle", "requires a file source: only files wait for each other")
	case !w.ByMessage() && k.hasJob(func(job *record.Job) bool { return job.Lacks(slices.Index(record.FieldNames(), "time"), nil) }):
		or := ": remove window"
		if !files {
			or = ": remove window, or set time: message for the time of the message"
		}
		k.wrong("dedupe.window", fmt.Sprintf("records of the format %s have no time, so they belong to no window%s", k.file.Sources[0].Format.From, or))
	}
}

// keyIdentity returns everything that the set of keys depends on.
func (p *plan) keyIdentity() (keyset.Identity, error) {
	rc, err := p.catalog.recordConfig(p.file, &p.file.Sources[0], nil, allSound)
	if err != nil {
		return nil, err
	}
	d, n := p.file.Dedupe, rc.Normalizer
	id := keyset.Identity{"by": d.By, "key_of": d.URL, "scope": d.Scope, "profile": n.Profile().Name, "target": p.file.Codec.Target, "unicode": codec.UnicodeVersion}
	if d.Marks() {
		id["keep"] = d.Keep // a set without marks must not continue as a set with marks
	}
	if d.Window != nil {
		id["window"] = d.Window.Size.String()
		if d.Window.ByMessage() {
			id["window"] += " by message"
		}
	}
	level := rc.Level
	for _, lv := range []codec.Level{codec.LevelSyntax, codec.LevelEquivalent, codec.LevelFetch, codec.LevelPage, codec.LevelShape} {
		if lv.String() == d.By {
			level = lv
		}
	}
	switch d.By {
	case "site":
		id["public suffix list"] = codec.SiteListVersion()
	case "template":
		id["lists"] = n.Policy().Versions()
	default:
		id["by"] = level.String()
		id["key function"], id["hash"], id["lists"] = n.KeyFunction(level), p.file.Codec.Hash, n.PolicyVersions(level)
		if p.file.Codec.HMACKey.Reveal() != "" {
			id["hmac key"] = keyCheck(n, level)
		}
	}
	if c := &p.file.Sources[0]; c.Type == "kafka" {
		if k, ok := c.Config.(*kafka.Config); ok {
			id["group"], id["topics"] = k.Group, strings.Join(k.Topics, ", ")
		}
	}
	var sinks []string
	for _, c := range each(p.file.Sinks) {
		sinks = append(sinks, strings.TrimSpace(c.Name+" "+targetOf(c)))
	}
	id["sinks"] = strings.Join(sinks, ", ")
	return id, nil
}

// keyCheck returns a text that differs for different HMAC keys: the first bytes
// of the key of a fixed URL.
func keyCheck(n *codec.Normalizer, level codec.Level) string {
	var r codec.Result
	if _, err := n.Append(nil, []byte("http://check.invalid/"), &r); err != nil {
		return ""
	}
	return hex.EncodeToString(r.Key(level).AppendTo(nil)[:8])
}

// targetOf returns the target that a sink writes to.
func targetOf(c *config.Component) string {
	switch s := c.Config.(type) {
	case *sinkfile.LogConfig:
		return s.Path
	case interface{ Target() string }:
		return s.Target()
	}
	return c.Type
}

// checkStoredKeys returns an error if the stored set belongs to another configuration
// and dedupe.on_change is refuse.
func (p *plan) checkStoredKeys(store *checkpoint.Store) error {
	d := p.file.Dedupe
	if d == nil || d.OnChange != "refuse" || store == nil {
		return nil
	}
	if err := unique.CheckIdentity(store, p.identity); err != nil {
		return p.file.ErrorAt("dedupe.on_change", fmt.Errorf("%w; set on_change: reset to begin with an empty set", err))
	}
	return nil
}

// keys are the keys of a run: a [engine.KeySet] or a [engine.LaneKeySet].
type keys interface {
	metrics.Extra
	Count(of func() *engine.DedupeSnapshot)
	Close() error
}

// openKeys opens the keys of a run, with files in dir.
func (p *plan) openKeys(ctx context.Context, c *parts, store *checkpoint.Store, dir string, log *slog.Logger) (err error) {
	if p.file.Dedupe == nil || p.inBucket() {
		return nil
	}
	if p.file.Dedupe.Changelog != nil {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return p.file.ErrorAt("data_dir", fmt.Errorf("temporary files of dedupe: %w", err))
		}
		set, err := changelog.Open(ctx, p.changelog(dir, log))
		if err != nil {
			return p.file.ErrorAt("dedupe.changelog.topic", err)
		}
		c.keys = set
		return nil
	}
	if err := p.checkStoredKeys(store); err != nil {
		return err
	}
	set, err := unique.OpenDurable(store, dir, p.identity, log)
	if err != nil {
		return err
	}
	set.SetTable(p.budget.Keys)
	if p.file.Dedupe.Window != nil {
		set.Forget(p.dedupeWindow())
	}
	c.keys = set
	return nil
}

func init() { table.Outside = memory.Outside }

// keyTables returns the maximum memory outside the heap that a set of keys
// takes, in bytes.
func (p *plan) keyTables() int64 {
	switch d := p.file.Dedupe; {
	case d == nil || p.inBucket():
		return 0
	case d.Changelog != nil:
		return int64(d.Changelog.MaxMemory)
	}
	return keyset.MaxTable
}

// changelog returns the configuration of the topic that holds the keys. dir is for
// temporary files.
func (p *plan) changelog(dir string, log *slog.Logger) changelog.Config {
	source, d := p.file.Sources[0].Config.(*kafka.Config), p.file.Dedupe.Changelog
	return changelog.Config{
		Connection: source.Kafka, Topic: d.Topic, Create: d.Create, Input: source.Topics[0],
		Identity: p.identity, Window: p.dedupeWindow(), MaxMemory: p.budget.Keys, Dir: dir, Log: log,
	}
}

// checkChangelog checks the topic that holds the keys, if there is one. It creates
// nothing.
func (p *plan) checkChangelog(ctx context.Context) error {
	if p.file.Dedupe == nil || p.file.Dedupe.Changelog == nil {
		return nil
	}
	if err := changelog.Check(ctx, p.changelog("", discardLog)); err != nil {
		return p.file.ErrorAt("dedupe.changelog.topic", err)
	}
	return nil
}

// closeKeys closes the set of keys.
func (p *parts) closeKeys() error {
	switch {
	case p.keys != nil:
		return p.keys.Close()
	case p.claims != nil:
		return p.claims.Close()
	}
	return nil
}
