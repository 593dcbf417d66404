package record

import (
	"slices"

	"github.com/urlfold/urlfold/internal/record/internal/jsonlines"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// A Branch is one branch of Config.Route.
type Branch struct {
	// When decides which records the branch matches. Nil matches all records.
	When Condition
	// To is the set of outputs that get these records, one bit for each. The caller
	// gives the bits their meaning. 0 drops the records and counts them as filtered.
	To uint64
	// ToHost, if not nil, makes the branch match all records, and returns the set of
	// outputs for a host: the host that the record names for its request, or else the host
	// of its first URL, or nil if there is neither. It must be safe for concurrent use and
	// must not retain host. Blank lines go to To.
	ToHost func(host []byte) uint64
}

// everywhere is the set of all outputs.
const everywhere = ^uint64(0)

// A router is the condition of a job with a route. It accepts the records that
// some branch sends to an output, and stores the outputs in the worker.
type router struct {
	where    Condition // Config.Where, or nil
	branches []Branch
	whereWhy bool   // where uses the field "error"
	readsWhy []bool // by branch: When uses the field "error"
}

// Fields implements [Condition].
func (r *router) Fields() (list []int) {
	if r.where != nil {
		list = append(list, r.where.Fields()...)
	}
	for _, b := range r.branches {
		if b.When != nil {
			list = append(list, b.When.Fields()...)
		}
		if b.ToHost != nil {
			list = append(list, int(fVHost), int(fHost))
		}
	}
	return list
}

// Keep implements [Condition]. A record that was rejected before its URL was
// read passes the conditions that do not read the field error: Where keeps it,
// and no When takes it.
func (r *router) Keep(v *View) bool {
	v.w.to = 0
	if r.where != nil && (v.why == 0 || r.whereWhy) && !r.where.Keep(v) {
		return false
	}
	for i, b := range r.branches {
		if b.ToHost != nil {
			v.w.to = b.ToHost(v.requestHost())
			break
		}
		if b.When == nil || (v.why == 0 || r.readsWhy[i]) && b.When.Keep(v) {
			v.w.to = b.To
			break
		}
	}
	return v.w.to != 0
}

// requestHost returns the host for Branch.ToHost.
func (v *View) requestHost() []byte {
	host, _ := v.field(fVHost)
	if len(host) == 0 || string(host) == "-" || string(host) == "_" {
		host, _ = v.field(fHost)
	}
	return host
}

// readsError reports whether a condition reads the field error.
func readsError(c Condition) bool { return c != nil && slices.Contains(c.Fields(), int(fError)) }

// setRoute returns the condition for where and the route, and sets the outputs
// of blank lines.
func (j *Job) setRoute(where Condition, route []Branch) Condition {
	if len(route) == 0 {
		return where
	}
	r := &router{where: where, branches: route, whereWhy: readsError(where)}
	for _, b := range route {
		r.readsWhy = append(r.readsWhy, readsError(b.When))
	}
	if i := slices.IndexFunc(route, func(b Branch) bool { return b.When == nil }); i >= 0 {
		j.keeps.blanks = route[i].To
	}
	j.keeps.routes = true
	return r
}

// Routes reports whether the job has a route.
func (j *Job) Routes() bool { return j.keeps.routes }

// To returns the set of outputs for the record of the last call of Append,
// Reject or Piece, as in Branch.To. It is meaningful if the call wrote output
// and the job has a route. Headers and directives go to all outputs, because
// the records after them cannot be read without them.
func (w *Worker) To() uint64 { return w.to }

// blank handles a blank line, or a row without a URL. With a route, it goes to the first
// branch without a condition.
func (w *Worker) blank(out, rec []byte, st *Stats) []byte {
	if s := w.job.keeps.shard; s != nil && !s.ownsBytes(rec) {
		return out
	}
	if _, is := w.job.reader.(locate.Rowed); is {
		st.NoURL++
	} else {
		st.Blank++
	}
	if !w.job.keeps.routes {
		return w.plain(out, rec, st)
	}
	if w.to = w.job.keeps.blanks; w.to == 0 {
		st.Records++
		st.Filtered++
		return out
	}
	return w.plain(out, rec, st)
}

// hole handles a part of a hole, which is not a record. One shard copies it, to the
// outputs that get blank lines.
func (w *Worker) hole(out, rec []byte, st *Stats) []byte {
	if s := w.job.keeps.shard; s != nil && !s.first {
		return out
	}
	st.Hole += int64(len(rec))
	if w.job.keeps.routes {
		w.to = w.job.keeps.blanks
	}
	if !w.job.render.KeepsRecords() || w.to == 0 {
		return out
	}
	return append(out, rec...)
}

// checkShared returns an error if the job drops or distributes records that
// share a line.
func (j *Job) checkShared(c *Config) error {
	_, shared := j.reader.(jsonlines.WrappedReader)
	if !shared || !j.render.KeepsRecords() || j.keeps.where == nil {
		return nil
	}
	field := "Where"
	if c.Where == nil {
		field = "Route"
	}
	return locate.Wrong(field, sharedLine)
}
