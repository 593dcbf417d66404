package record

import (
	"bytes"
	"errors"
)

// gcsFormat is the usage log of Google Cloud Storage, a CSV file with a header:
// https://cloud.google.com/storage/docs/access-logs.
type gcsFormat struct{}

// gcsColumns are the columns of the log, and what they hold.
var gcsColumns = []jsonPart{
	{partPath, 0, []string{"cs_uri"}},
	{partHost, 0, []string{"cs_host"}},
	{partMethod, 0, []string{"cs_method"}},
	{partReferer, 0, []string{"cs_referer"}},
	{partTime, 0, []string{"time_micros"}},
	{partStatus, 0, []string{"sc_status"}},
	{partBytes, 0, []string{"sc_bytes"}},
	{partDuration, 6, []string{"time_taken_micros"}},
	{partClient, 0, []string{"c_ip"}},
	{partAgent, 0, []string{"cs_user_agent"}},
	{partRequestID, 0, []string{"s_request_id"}},
}

// Name implements [Format].
func (gcsFormat) Name() string { return "gcs" }

// Detect implements [Format]. The first record must be the header.
func (gcsFormat) Detect(s *Sample) Fit {
	if len(s.Records) == 0 {
		return Fit{}
	}
	for _, column := range []string{`"time_micros"`, `"cs_uri"`, `"cs_host"`, `"cs_bucket"`} {
		if !bytes.Contains(s.Records[0], []byte(column)) {
			return Fit{}
		}
	}
	return Fit{len(s.Records), looksLikeProduct}
}

// Open implements [Format].
func (gcsFormat) Open(c *Config) (Reader, error) {
	errs := append(c.refuseFields(), c.refuseDialect(), c.checkRequestHost(true))
	table := *c
	table.Base, table.URL, table.Target = "", URLParts{Path: []string{"cs_uri"}}, TargetRequest // the composer has its own target
	opened, err := tableFormat{name: "csv", sep: ','}.Open(&table)
	r := opened.(*tableReader)
	r.parts = nil
	r.composer = &composer{target: c.Target, optional: true, whole: roleTarget, stop: r.sep}
	for _, p := range gcsColumns {
		for _, name := range p.fields {
			r.composer.sources = append(r.composer.sources, source{p.part, p.unit, len(r.parts)})
			r.parts = append(r.parts, column{name: []byte(name), index: noColumn})
		}
	}
	return r, errors.Join(append(errs, err)...)
}
