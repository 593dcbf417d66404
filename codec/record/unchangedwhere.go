package record

import "github.com/urlfold/urlfold/codec"

// besideURL are the fields of an access log that do not depend on the URL of the
// record. A condition that reads no others can be asked about a record whose URL
// has not been read. The virtual host is not among them: the target can hold it.
const besideURL = ofAttrs&^(1<<fVHost) | 1<<fMethod

// asksBesideURL reports whether the condition of the job, if there is one, reads
// only the fields besideURL of clf or combined. It may ask about flags and changes as
// well, because these are the same for all records that Unchanged finds. It is refused
// together with an identity: no job that is common needs both.
func (j *Job) asksBesideURL() bool {
	if j.where == nil {
		return true
	}
	if l, ok := j.reader.(*logReader); !ok || l.format.vhost || j.id.on || j.shard != nil || j.routes {
		return false
	}
	for _, f := range j.where.Fields() {
		if !besideURL.has(fieldID(f)) {
			return false
		}
	}
	return true
}

// tell adds the fields besideURL of a line, whose request begins with a method
// that ends at methodEnd.
func (l *logReader) tell(f *Found, line []byte, request span, methodEnd int) {
	f.attrs.set = 0
	f.method = span{request.start, methodEnd}
	l.addAttrs(f, trimEnd(line), request.start, request.end)
}

// keepsUnread asks the condition about a record whose URL does not change. Such a URL
// has no flag that is counted.
func (w *Worker) keepsUnread(rec []byte) bool {
	if w.job.origin == nil {
		w.n.cur.flags = relative
	}
	keep := w.job.where.Keep(w.view.show(besideURL|1<<fFlags, 0, &noSite, rec))
	w.n.cur.flags = codec.Flags{}
	return keep
}

var relative = codec.Flags{}.With(codec.Relative)

// keepsMissed asks the condition about a record that readMissed has read.
func (w *Worker) keepsMissed(rec []byte) bool {
	return w.job.where.Keep(w.view.show(besideURL|1<<fFlags|1<<fNorm, 0, &noSite, rec))
}
