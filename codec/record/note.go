package record

// A Note is a member or column that ends every record of the output that has a URL
// with a normal form, so that a later stage can change its value: see
// Worker.AppendIdentity. Records that are passed through, such as blank lines, have none.
type Note struct {
	Name  string
	Value string // a JSON number or literal, such as false
}

// setNote sets the note.
func (j *Job) setNote(n Note) error {
	if n == (Note{}) {
		return nil
	}
	switch j.render {
	case RenderJSONL, RenderTSV, RenderCSV, RenderExtend, RenderKeys:
	default:
		return wrong("Note", "the rendering "+j.render.String()+" cannot hold a field: use jsonl, tsv, csv, extend or keys")
	}
	j.note = []byte(n.Value)
	j.noteName = []byte(n.Name)
	j.noteMember = append(append(appendString([]byte{'"'}, j.noteName), `":`...), n.Value...)
	return nil
}

// noteCell appends the note as the last cell of a row.
func (j *Job) noteCell(out []byte, sep byte) []byte {
	if j.note == nil {
		return out
	}
	return append(append(out, sep), j.note...)
}

// noteColumn appends the name of the note as the last cell of a header.
func (j *Job) noteColumn(out []byte, sep byte) []byte {
	if j.note == nil {
		return out
	}
	return append(append(out, sep), j.noteName...)
}
