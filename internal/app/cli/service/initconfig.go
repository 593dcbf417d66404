package service

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// A plan describes the configuration that init writes, or that run uses.
type plan struct {
	input, output, dataDir string // a path, or a URL of a broker
	format, urlField       string
	to, fields             string
	profile, key, where    string
	follow                 bool // read files as they grow
	local                  bool // listen on no port, and write dead letters to dataDir
}

// A place is where records come from or go to: a file, a Kafka topic, or a stream or
// subject of JetStream.
type place struct {
	kind   string // file, kafka or jetstream
	server string // host and port of a broker, or the URL of a NATS server
	name   string // the path, topic, stream or subject
}

// parsePlace reads kafka://HOST:PORT/TOPIC, nats://HOST:PORT/NAME or a path.
func parsePlace(text string) (place, error) {
	scheme, _, found := strings.Cut(text, "://")
	if !found {
		return place{kind: "file", name: text}, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return place{}, fmt.Errorf("not a URL such as %s", placeForms)
	}
	name := strings.Trim(u.Path, "/")
	kind := map[string]string{"kafka": "kafka", "nats": "jetstream", "tls": "jetstream"}[scheme]
	switch {
	case u.User != nil:
		return place{}, errors.New("contains credentials: write them into the configuration, as ${NAME} or ${file:PATH}")
	case kind == "":
		return place{}, fmt.Errorf("unknown scheme %q: must be %s, or a path", scheme, placeForms)
	case u.Host == "" || name == "" || strings.Contains(name, "/"):
		return place{}, fmt.Errorf("must have a host and one topic, stream or subject, such as %s", placeForms)
	case kind == "kafka":
		return place{kind, u.Host, name}, nil
	}
	return place{kind, scheme + "://" + u.Host, name}, nil
}

const placeForms = "kafka://localhost:9092/topic or nats://localhost:4222/stream"

// text returns the configuration as YAML, with comments.
func (p *plan) text() (string, error) {
	in, err := parsePlace(p.input)
	if err != nil {
		return "", fmt.Errorf("the input: %w", err)
	}
	out, err := parsePlace(p.output)
	if err != nil {
		return "", fmt.Errorf("--output: %w", err)
	}
	y := &yamlText{}
	y.line(`# Written by urlfold init. Check it:  urlfold check -c FILE
# Run it:  urlfold run -c FILE       every key:  urlfold help config`)
	y.line("version: 1")
	y.comment("data_dir: "+quote(p.dataDir), "positions of what was read; keep it over restarts")
	y.line("\nsources:")
	y.source(in, p.follow)
	y.comment("      from: "+quote(p.format), "'urlfold help formats' lists all")
	y.some("      url_field: ", p.urlField)
	y.line("\ncodec:")
	y.comment("  profile: "+quote(p.profile), "the rules; 'urlfold help profiles' lists all")
	y.some("  key: ", p.key)
	y.codecOutput(p.to, p.fields)
	if p.where != "" {
		y.comment("where: "+quote(p.where), "keeps these records")
	}
	y.line("\nsinks:")
	y.sink(out, "output", out.name, in.kind == "file")
	y.line("\n# Records that cannot be parsed or delivered, with the reason.\ndead_letter:")
	if p.local {
		out = place{kind: "file"}
	}
	y.deadLetter(out, p.dataDir)
	if p.to != "jsonl" { // in jsonl, a rejected record would become an object without the fields
		y.line("on_error: {unparsed: dead-letter, rejected: pass-through}")
	}
	y.line("")
	y.comment("order: lane", "the order within each file, partition or consumer; none is faster")
	if !p.local {
		y.comment(`admin: {listen: "127.0.0.1:8686"}`, "health, metrics and the status page")
	}
	return y.String(), nil
}

// A yamlText collects lines of YAML.
type yamlText struct{ strings.Builder }

func (y *yamlText) line(text string) { y.WriteString(text + "\n") }

// commentColumn is where comments begin.
const commentColumn = 38

// comment adds a line with a comment.
func (y *yamlText) comment(text, about string) {
	y.line(fmt.Sprintf("%-*s # %s", commentColumn, text, about))
}

// some adds a key unless its value is empty.
func (y *yamlText) some(key, value string) {
	if value != "" {
		y.line(key + quote(value))
	}
}

// source adds a source.
func (y *yamlText) source(p place, follow bool) {
	switch p.kind {
	case "kafka":
		y.line("  - kafka:\n      name: input\n      brokers: [" + quote(p.server) + "]\n      topics: [" + quote(p.name) + "]")
		y.comment("      group: urlfold", "Kafka stores the offsets under this name")
		y.comment("      start: earliest", "of a new group; or latest")
	case "jetstream":
		y.line("  - jetstream:\n      name: input\n      servers: [" + quote(p.server) + "]\n      stream: " + quote(p.name))
		y.comment("      durable: urlfold", "the consumer; the server stores its position")
	default:
		y.line("  - file:\n      name: input\n      include: [" + quote(p.name) + "]")
		mode := "batch"
		if follow {
			mode = "tail"
		}
		y.comment("      mode: "+mode, "tail: follow the files; batch: read them once, then exit")
	}
}

// codecOutput adds the output format and fields of the codec.
func (y *yamlText) codecOutput(to, fields string) {
	switch {
	case fields != "":
		list := strings.Split(fields, ",")
		for i, f := range list {
			list[i] = quote(strings.TrimSpace(f))
		}
		y.line("  to: {" + to + ": {fields: [" + strings.Join(list, ", ") + "]}}")
	default:
		y.comment("  to: "+quote(to), "rewrite: change nothing but URLs; jsonl: an object for each URL")
	}
}

// sink adds a sink. perInput reports whether a folder gets one output for each input.
func (y *yamlText) sink(p place, name, to string, perInput bool) {
	switch p.kind {
	case "kafka":
		y.line("  - kafka:\n      name: " + name + "\n      brokers: [" + quote(p.server) + "]\n      topic: " + quote(to))
	case "jetstream":
		y.line("  - jetstream:\n      name: " + name + "\n      servers: [" + quote(p.server) + "]\n      subject: " + quote(to))
	default:
		if strings.HasSuffix(to, "/") && perInput {
			to += "{source.relpath}"
		} else if strings.HasSuffix(to, "/") {
			to += "urls"
		}
		y.line("  - file:\n      name: " + name + "\n      path: " + quote(to))
	}
}

// deadLetter adds the output of dead letters: beside a topic or subject, else in the data
// directory.
func (y *yamlText) deadLetter(p place, dataDir string) {
	switch p.kind {
	case "kafka":
		y.line("  kafka: {brokers: [" + quote(p.server) + "], topic: " + quote(p.name+".dlq") + "}")
	case "jetstream":
		y.line("  jetstream: {servers: [" + quote(p.server) + "], subject: " + quote(p.name+".dlq") + "}")
	default:
		y.line("  file: {path: " + quote(strings.TrimSuffix(dataDir, "/")+"/dead-letters.jsonl") + "}")
	}
}

// quote returns text as a double-quoted scalar, or unchanged if it is a word.
func quote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_") == "" {
		return text
	}
	return strconv.Quote(strings.ReplaceAll(text, "${", "$${"))
}
