// Package record reads records that contain URLs, such as the lines of an access log, rows of
// a table, JSON objects or the records of a web archive, in all formats that urlfold reads.
//
// A [Reader] returns each [Record] of a stream, with its fields, its time and its URLs:
//
//	r := record.NewReader(in, &record.Job{Target: record.TargetAll})
//	for rec, err := range r.Records() {
//		if err != nil {
//			return err
//		}
//		status, _ := rec.Field(record.FieldStatus)
//		for u := range rec.URLs() {
//			fmt.Printf("%s %s\n", status, u.Norm())
//		}
//	}
//
// [Record.AppendRewrite] writes a record with its URLs in normal form, and [Record.AppendJSON]
// writes it as JSON. HTML is read as UTF-8. A [Format] adds a format of your own to a Reader or,
// with package config/app, to a program.
package record
