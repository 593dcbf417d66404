package config

import "cmp"

// OnError holds the error policies: what to do with the records that cannot be
// processed or delivered. dead-letter makes a dead letter of a record, and
// requires dead_letter; pass-through writes the record unchanged; drop leaves
// the record out and counts it as lost. pass-through and truncate are refused
// where a program that reads JSON or a table could not parse the output: for
// unparsed and oversize if the records are JSON or rows of a table, and for
// rejected if codec.to is jsonl. Not covered by the stability page.
type OnError struct {
	// Records that do not match the format. Default: the policy of rejected.
	Unparsed string `yaml:"unparsed" enum:"dead-letter,pass-through,drop"`
	// Records whose URL cannot be parsed, or has a flag that codec.reject lists.
	// Default: dead-letter, or pass-through if no dead_letter is configured.
	Rejected string `yaml:"rejected" enum:"dead-letter,pass-through,drop"`
	// Records longer than codec.max_record. truncate cuts them, pass-through passes
	// them on unparsed, and stop ends the run as soon as all earlier records of the
	// same file, partition or stream are durable. Default: dead-letter, or the
	// policy of rejected if no dead_letter is configured.
	Oversize string `yaml:"oversize" enum:"dead-letter,pass-through,truncate,drop,stop"`
	// Records that a sink refuses permanently, for example because the broker finds
	// them too large or because the topic requires a key. dead-letter makes dead
	// letters of them, but after three consecutive batches were refused completely
	// with the same code, it blocks the lane. block retries the record until the
	// sink accepts it; meanwhile its file, partition or stream waits and the process
	// is not ready. drop discards the record, counts it, and makes a finished run
	// exit with code 4. Default: dead-letter, or block if no dead_letter is
	// configured.
	Refused string `yaml:"refused" enum:"dead-letter,block,drop"`
	// Messages whose schema the registry does not have. reject handles them by the
	// policy of rejected; stop ends the run. Default: reject.
	UnknownSchema string `yaml:"unknown_schema" enum:"reject,stop"`
}

// resolveErrors sets the defaults of the error policies, which depend on whether
// a dead letter is configured, and rejects dead-letter without one.
func (d *decoder) resolveErrors(o *OnError) {
	const to = "dead-letter"
	_, exists := d.places["dead_letter"]
	for _, c := range []struct {
		key           string
		value         *string
		with, without string // defaults with and without a dead letter
	}{
		{"rejected", &o.Rejected, to, "pass-through"},
		{"unparsed", &o.Unparsed, "", ""},
		{"oversize", &o.Oversize, to, ""},
		{"refused", &o.Refused, to, "block"},
	} {
		switch {
		case *c.value == to && !exists:
			d.failText("on_error."+c.key, "dead_letter is not configured: add a dead_letter section or choose another value")
		case *c.value == "" && exists:
			*c.value = cmp.Or(c.with, o.Rejected)
		case *c.value == "":
			*c.value = cmp.Or(c.without, o.Rejected)
		}
	}
}
