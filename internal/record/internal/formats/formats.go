// Package formats is the table of the built-in formats, and finds the format of an input.
// It also combines formats: it reads lines of one format behind a prefix or in records of
// another, such as syslog+combined.
package formats

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/suggest"
	"github.com/urlfold/urlfold/internal/record/internal/archive"
	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
	"github.com/urlfold/urlfold/internal/record/internal/markup"
	"github.com/urlfold/urlfold/internal/record/internal/table"
	"github.com/urlfold/urlfold/internal/record/internal/textlog"
	"github.com/urlfold/urlfold/internal/record/internal/wire"
)

// Builtin holds the formats of this package, in the order in which they are
// listed.
var Builtin = append([]locate.Format{
	textlog.LinesFormat{},
	textlog.ProseFormat{},
	textlog.AnyLogFormat{},
	markup.HTMLFormat{},
	markup.Sitemap,
	markup.Feed,
	markup.MailFormat{},
	textlog.LogFormat{ID: "clf"},
	textlog.LogFormat{ID: "combined", Quoted: true},
	textlog.LogFormat{ID: "vhost_combined", Quoted: true, Vhost: true},
	textlog.LogFormat{ID: "vhost_common", Vhost: true},
	jsonlines.Format{},
	jsonlines.DocumentFormat{},
	table.Format{ID: "csv", Sep: ','},
	table.Format{ID: "csv-semicolon", Sep: ';'},
	table.Format{ID: "csv-pipe", Sep: '|'},
	table.Format{ID: "tsv", Sep: '\t'},
	textlog.W3CFormat{},
	textlog.ZeekFormat{},
	textlog.LogfmtFormat{},
	textlog.LTSVFormat{},
	textlog.CEFFormat{},
	archive.CDXFormat{},
	archive.CDXJFormat{},
	table.GCSFormat{},
	textlog.Fixed("aws-alb"),
	textlog.Fixed("aws-elb"),
	textlog.Fixed("aws-s3"),
	textlog.Fixed("haproxy"),
	textlog.Fixed("squid"),
	textlog.Fixed("envoy"),
	textlog.Fixed("istio"),
	textlog.Fixed("uwsgi"),
	textlog.Fixed("confluence"),
	textlog.Fixed("nginx-proxy-manager"),
	archive.WATFormat{}, // before warc, because WAT files are WARC files, too
	archive.WARCFormat{},
	archive.ARCFormat{},
	wire.JournalFormat{},
	wire.MsgpackFormat{},
	wire.ProtobufFormat{},
	wire.AvroFormat{},
}, jsonlines.LogFormats()...)

// sparse lists the formats in which it is normal that many records have no URL: pieces
// of a text or document, and messages of any kind.
var sparse = []string{"text", "log", "html", "sitemap", "feed", "mail", "journal-export", "msgpack"}

// Sparse reports whether it is normal that many records of a format have no URL. The
// name may have a prefix, as in syslog+log.
func Sparse(name string) bool {
	return slices.Contains(sparse, name[strings.LastIndexByte(name, '+')+1:])
}

// Formats returns the names of the built-in formats in a new slice.
func Formats() []string { return formatNames(Builtin) }

func formatNames(formats []locate.Format) []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name()
	}
	return names
}

// allFormats returns the built-in formats and custom ones, which replace built-in formats
// with the same name.
func allFormats(custom []locate.Format) []locate.Format {
	own := formatNames(custom)
	list := slices.DeleteFunc(slices.Clone(Builtin), func(f locate.Format) bool { return slices.Contains(own, f.Name()) })
	return append(list, custom...)
}

// FindFormat returns the format that a Config with the given Format selects among the
// built-in and custom ones.
func FindFormat(name string, custom []locate.Format) (locate.Format, error) {
	formats := allFormats(custom)
	names := formatNames(formats)
	switch {
	case textlog.IsLayout(name):
		return textlog.LayoutFormat{Text: name}, nil
	case name == "":
		return nil, fmt.Errorf("missing format: must be one of %s, or the text of an nginx log_format or Apache LogFormat", strings.Join(names, ", "))
	}
	if f, ok := prefixedFormatNamed(name, formats); ok {
		return f, nil
	}
	i, err := suggest.Index("format", names, name)
	if err == nil {
		return formats[i], nil
	}
	if meant := programs[strings.ToLower(name)]; meant != "" {
		err = fmt.Errorf("unknown format %q: %s", name, meant)
	}
	return nil, cmp.Or(prefixError(name, names, formats), err)
}

// programs says in which formats programs write, for people who use the
// program's name as the format.
var programs = map[string]string{
	"nginx":      nginxWrites,
	"openresty":  nginxWrites,
	"apache":     apacheWrites,
	"apache2":    apacheWrites,
	"httpd":      apacheWrites,
	"iis":        "IIS writes w3c",
	"cloudfront": "CloudFront writes w3c",
	"common":     "the Common Log Format is clf",
	"json":       "a JSON value on each line is jsonl",
	"ndjson":     "a JSON value on each line is jsonl",
	"alb":        "the log of an AWS Application Load Balancer is aws-alb",
	"elb":        "aws-elb is the log of an AWS Classic Load Balancer, and aws-alb the log of an Application Load Balancer",
	"s3":         "the log of Amazon S3 is aws-s3",
}

const (
	nginxWrites  = "nginx writes combined unless it is configured otherwise; then pass the text of its log_format, or nginx-json"
	apacheWrites = "Apache writes clf, combined or vhost_combined unless it is configured otherwise; then pass the text of its LogFormat"
)
