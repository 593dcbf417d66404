package record

import (
	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/codec/params"
)

// A param is a field of a query that has a name of its own in the output.
type param struct {
	name  string
	value params.Pair
}

// campaign returns what the query says about the campaign that sent the visitor,
// in the order source, medium, name, term, content, id. Where several parameters
// say it, the one of the first family counts (params.CampaignField), and the
// first of these.
func (w *Worker) campaign(query []byte) []param {
	var best [params.NumFields]int // 1 + rank of what was found
	var found [params.NumFields]params.Pair
	for _, p := range w.pairs {
		w.name = params.AppendName(w.name[:0], p.Name(query))
		f, rank, ok := params.CampaignField(w.name)
		if ok && (best[f] == 0 || rank+1 < best[f]) {
			best[f], found[f] = rank+1, p
		}
	}
	w.telling = w.telling[:0]
	for f, p := range found {
		if best[f] > 0 {
			w.telling = append(w.telling, param{params.Field(f).String(), p})
		}
	}
	return w.telling
}

// clickIDs returns the click ids of the query, in its order, the first of each
// name.
func (w *Worker) clickIDs(query []byte) []param {
	w.telling = w.telling[:0]
next:
	for _, p := range w.pairs {
		w.name = params.AppendName(w.name[:0], p.Name(query))
		id, ok := params.ClickID(w.name)
		if !ok {
			continue
		}
		for _, q := range w.telling {
			if q.name == id {
				continue next
			}
		}
		w.telling = append(w.telling, param{id, p})
	}
	return w.telling
}

// parameters returns the fields campaign and click_ids as JSON objects and params
// as a JSON array, in scratch, and whether there is anything in them.
func (w *Worker) parameters(f fieldID) ([]byte, bool) {
	c := &w.cur
	if f == fParams {
		if c.why != 0 {
			return nil, false
		}
		return w.paramsJSON(), true
	}
	if c.why != 0 || !w.res.Out.Has(codec.Query) {
		return nil, false
	}
	query := w.res.Out.Bytes(c.norm, codec.Query)
	w.pairs = params.AppendPairs(w.pairs[:0], query, params.Ampersand)
	list := w.clickIDs
	if f == fCampaign {
		list = w.campaign
	}
	found := list(query)
	if len(found) == 0 {
		return nil, false
	}
	w.key = append(w.key[:0], '{')
	for _, p := range found {
		w.name = params.AppendName(w.name[:0], p.value.Value(query))
		w.key = appendMember(w.key, p.name, w.name)
	}
	w.key[len(w.key)-1] = '}'
	return w.key, true
}
