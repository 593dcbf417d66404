package record

// This file hands on what a keeper has found in a record that it does not keep, so that
// neither Worker.Next nor Worker.Append must search for it again.

// framed is a record in the memory of the caller, who passes it on to Worker.Append before
// the bytes change: so the record is known by its address. It is forgotten as soon as it
// has been read, because after that the memory can hold other bytes.
type framed struct {
	first *byte // nil if there is none
	len   int
}

// take reports whether rec is the record, which it forgets.
func (f *framed) take(rec []byte) bool {
	is := len(rec) > 0 && &rec[0] == f.first && len(rec) == f.len
	*f = framed{}
	return is
}

// locatedRecord is a line in which a keeper has found the URLs.
type locatedRecord struct {
	line framed
	body framed // without its line end
	why  Reason // what Locate would return
	pos  int
}

// set notes what has been found in the line, whose body is not empty.
func (l *locatedRecord) set(line, body []byte, why Reason, pos int) {
	*l = locatedRecord{framed{&line[0], len(line)}, framed{&body[0], len(body)}, why, pos}
}

// begins reports whether in begins with the line.
func (l *locatedRecord) begins(in []byte) bool {
	return l.body.first != nil && len(in) >= l.line.len && &in[0] == l.line.first
}
