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
var gcsColumns = []struct {
	part locate.Use
	unit int8 // of a duration: 10^-unit seconds
	name string
}{
	{locate.UsePath, 0, "cs_uri"},
	{locate.UseHost, 0, "cs_host"},
	{locate.UseMethod, 0, "cs_method"},
	{locate.UseReferer, 0, "cs_referer"},
	{locate.UseTime, 0, "time_micros"},
	{locate.UseStatus, 0, "sc_status"},
	{locate.UseBytes, 0, "sc_bytes"},
	{locate.UseDuration, 6, "time_taken_micros"},
	{locate.UseClient, 0, "c_ip"},
	{locate.UseAgent, 0, "cs_user_agent"},
	{locate.UseRequestID, 0, "s_request_id"},
}

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
	for _, p := range gcsColumns {
		r.Composer.Sources = append(r.Composer.Sources, locate.Source{Use: p.part, Unit: p.unit, Value: len(r.parts)})
		r.parts = append(r.parts, column{name: []byte(p.name), index: noColumn})
	}
	return r, errors.Join(c.RefuseFields(), c.RefuseDialect(), c.CheckRequestHost(true), err)
}
