package table

import (
	"bytes"
	"errors"

	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// GCSFormat is the usage log of Google Cloud Storage, a CSV file with a header:
// https://cloud.google.com/storage/docs/access-logs.
type GCSFormat struct{}

// gcsColumns are the columns of the log, and what they hold.
const gcsColumns = `
	path         cs_uri
	host         cs_host
	method       cs_method
	referer      cs_referer
	time         time_micros
	status       sc_status
	bytes        sc_bytes
	duration:us  time_taken_micros
	client       c_ip
	agent        cs_user_agent
	request_id   s_request_id`

// Name implements [locate.Format].
func (GCSFormat) Name() string { return "gcs" }

// Detect implements [locate.Format]. The first record must be the header.
func (GCSFormat) Detect(s *locate.Sample) locate.Fit {
	if len(s.Records) == 0 {
		return locate.Fit{}
	}
	for _, column := range []string{`"time_micros"`, `"cs_uri"`, `"cs_host"`, `"cs_bucket"`} {
		if !bytes.Contains(s.Records[0], []byte(column)) {
			return locate.Fit{}
		}
	}
	return s.All(locate.LooksLikeProduct)
}

// Open implements [locate.Format].
func (GCSFormat) Open(c *locate.Settings) (locate.Reader, error) {
	table := *c
	table.Base, table.URL, table.Target = "", locate.URLParts{Path: []string{"cs_uri"}}, locate.TargetRequest // the composer has its own target
	opened, err := Format{ID: "csv", Sep: ','}.Open(&table)
	r := opened.(*Reader)
	r.parts = nil
	r.Composer = &locate.Composer{Target: c.Target, Optional: true, Whole: locate.RoleTarget, Stop: r.Sep}
	for _, p := range locate.ParseNames(gcsColumns, nil) {
		r.Composer.Sources = append(r.Composer.Sources, locate.Source{Use: p.Use, Unit: p.Unit, Value: len(r.parts)})
		r.parts = append(r.parts, column{name: []byte(p.Names[0]), index: noColumn})
	}
	return r, errors.Join(c.RefuseFields(), c.RefuseDialect(), c.CheckRequestHost(true), err)
}
