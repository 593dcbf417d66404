package config

import (
	"regexp"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// moved maps the path of each former key to the path of the current key, with an
// explanation after a comma, or to "removed: " and the reason. The path of a key of a
// component starts with its type; the keys of jetstream are listed under nats.
var moved = map[string]string{
	"batch.bytes":                  "batch.size",
	"batch.records":                "removed: batch.size and batch.linger limit a batch",
	"codec.base":                   "base, in each source",
	"codec.base_field":             "base_field, in each source",
	"codec.delimiter":              "delimiter, in each source",
	"codec.dialect":                "dialect, in each source",
	"codec.escape":                 "escape, in each source",
	"codec.format":                 "from, in each source",
	"codec.map":                    "map, in each source",
	"codec.max_quoted":             "max_quoted, in each source",
	"codec.no_header":              "input_header, in each source: no instead of true",
	"codec.quote":                  "quote, in each source",
	"codec.timezone":               "timezone, in each source",
	"codec.url":                    "url, in each source",
	"codec.url_field":              "url_field, in each source",
	"codec.year":                   "year, in each source",
	"codec.on_unparsed":            "on_error.unparsed",
	"codec.registry.on_unknown":    "on_error.unknown_schema",
	"codec.registry.user":          "username",
	"kafka.fetch_wait":             "removed: the value is always 500ms",
	"kafka.sasl.user":              "username",
	"nats.user":                    "username",
	"codec.reading":                "codec.standard",
	"codec.render":                 "codec.to",
	"codec.repairs":                "codec.repair",
	"codec.secrets":                "codec.secret",
	"dedupe.key_of":                "dedupe.url",
	"dedupe.remember":              "dedupe.ttl",
	"dedupe.take_over":             "dedupe.claim_timeout",
	"file.mode":                    "permissions",
	"file.limits.zstd_max_window":  "limits.max_window",
	"stdin.limits.zstd_max_window": "limits.max_window",
	"file.readers":                 "max_readers",
	"filter":                       "where",
	"kafka.compression":            "compress",
	"kafka.batch_bytes":            "batch_size",
	"kafka.fetch_bytes":            "fetch_size",
	"kafka.max_batch_bytes":        "max_batch_size",
	"kafka.headers.add":            "add_headers",
	"kafka.headers.flags":          "headers, a list such as [input, flags, source]",
	"kafka.headers.input":          "headers, a list such as [input, flags, source]",
	"kafka.headers.source":         "headers, a list such as [input, flags, source]",
	"nats.headers.flags":           "headers, a list such as [input, flags, source]",
	"nats.headers.input":           "headers, a list such as [input, flags, source]",
	"nats.headers.source":          "headers, a list such as [input, flags, source]",
	"kafka.key":                    "message_key",
	"log.rate_limit":               "log.repeat_interval",
	"memory.limit":                 "memory_limit, at the top level",
	"pipeline.batch":               "batch, at the top level",
	"pipeline.commit_interval":     "commit_interval, at the top level",
	"pipeline.max_in_flight":       "max_in_flight, at the top level",
	"pipeline.max_record_bytes":    "codec.max_record",
	"pipeline.on_oversize":         "on_error.oversize",
	"pipeline.on_refused":          "on_error.refused",
	"pipeline.on_reject":           "on_error.rejected",
	"pipeline.ordering":            "order, at the top level",
	"pipeline.workers":             "workers, at the top level",
	"ready.max_unresolved":         "admin.ready_within",
	"route.when":                   "route[].where",
	"file.fingerprint_bytes":       "removed: the first 1 KiB of a file identifies it",
	"file.inflate":                 "removed: urlfold has only one decoder",
	"file.restart_point_every":     "removed: the environment variable URLFOLD_RESTART_POINT_EVERY changes it",
	"s3.sync_bytes":                "removed: a sink syncs after 4 MiB, or after sync_interval if that is earlier",
	"s3.inflate":                   "removed: urlfold has only one decoder",
	"s3.restart_point_every":       "removed: the environment variable URLFOLD_RESTART_POINT_EVERY changes it",
	"file.sync_bytes":              "removed: a sink syncs after 4 MiB, or after sync_interval if that is earlier",
	"kafka.heartbeat_interval":     "removed: the value is 3s, or a third of session_timeout if that is less",
	"kafka.partition_refresh":      "removed: the value is always 30s",
	"kafka.rebalance_timeout":      "removed: session_timeout and drain_timeout determine the value",
	"nats.batch":                   "removed: batch, at the top level, limits a batch",
	"nats.consumer.max_deliver":    "removed: poison.after decides about messages that are delivered again and again",
	"nats.domain":                  "removed: core NATS has no domains; set domain in a jetstream source or sink",
	"nats.nak_delay":               "removed: the value is always 5s",
	"nats.ping_interval":           "removed: the value is always 10s",
	"nats.prefetch":                "removed: the limits are always 2000 messages and four times the max_payload of the server",
	"nats.publish.ordered":         "removed: order, at the top level, sets the order of messages",
	"nats.reconnect_wait":          "removed: the value is always 1s",
	"nats.tls.enabled":             "removed: write a tls:// URL in servers",
	"shutdown.timeout":             "shutdown_timeout, at the top level",
}

// movedTo returns the entry of moved for a path, or "".
func movedTo(path string) string {
	path = indexes.ReplaceAllString(path, "")
	if section, rest, ok := strings.Cut(path, "."); ok && (section == "sources" || section == "sinks" || section == "dead_letter") {
		path = rest
	}
	if now := moved[path]; now != "" {
		return now
	}
	return moved[strings.Replace(path, "jetstream.", "nats.", 1)]
}

// indexes matches the indexes of list elements in a path.
var indexes = regexp.MustCompile(`\[\d+\]`)

// former records an error if key is a former key, otherwise for each former key
// in value, if that is a mapping. It reports whether there was a former key.
func (d *decoder) former(key, value ast.Node, path string) (found bool) {
	if now := movedTo(path); now != "" {
		if !strings.HasPrefix(now, "removed: ") {
			now = "use " + now
		}
		d.failAt(key, unknown("key", path[strings.LastIndexByte(path, '.')+1:])+": "+now)
		return true
	}
	return isMapping(value) && d.formerIn(value, path)
}

// formerIn records an error for each former key in a mapping.
func (d *decoder) formerIn(n ast.Node, at string) (found bool) {
	for _, kv := range d.values(n) {
		if name := kv.Key.GetToken().Value; d.former(kv.Key, kv.Value, in(at, name)) {
			found = true
		}
	}
	return found
}
