package record

import "github.com/urlfold/urlfold/codec/params"

// param is a query parameter and its name in the output.
type param struct {
	name  string
	value params.Pair
}

// campaign returns the campaign fields of the query in the order source,
// medium, name, term, content, id. If several parameters set the same field,
// the one of the first family wins (see params.CampaignField), and within a
// family the first parameter.
func (v *values) campaign(query []byte) []param {
	var best [params.NumFields]int // 1 + rank of the parameter found; 0 if none
	var found [params.NumFields]params.Pair
	for _, p := range v.n.pairs {
		v.n.name = params.AppendName(v.n.name[:0], p.Name(query))
		f, rank, ok := params.CampaignField(v.n.name)
		if ok && (best[f] == 0 || rank+1 < best[f]) {
			best[f], found[f] = rank+1, p
		}
	}
	v.telling = v.telling[:0]
	for f, p := range found {
		if best[f] > 0 {
			v.telling = append(v.telling, param{params.Field(f).String(), p})
		}
	}
	return v.telling
}

// clickIDs returns the click IDs of the query in order, with the first
// parameter of each name.
func (v *values) clickIDs(query []byte) []param {
	v.telling = v.telling[:0]
next:
	for _, p := range v.n.pairs {
		v.n.name = params.AppendName(v.n.name[:0], p.Name(query))
		id, ok := params.ClickID(v.n.name)
		if !ok {
			continue
		}
		for _, q := range v.telling {
			if q.name == id {
				continue next
			}
		}
		v.telling = append(v.telling, param{id, p})
	}
	return v.telling
}

// parameters returns the fields campaign and click_ids as JSON objects, and
// params as a JSON array, in scratch. The second result reports whether the
// field is present.
func (v *values) parameters(f fieldID) ([]byte, bool) {
	c := &v.n.cur
	if f == fParams {
		if c.why != 0 {
			return nil, false
		}
		return v.list.paramsJSON(), true
	}
	query, ok := v.shownComponent(fQuery)
	if !ok {
		return nil, false
	}
	v.n.pairs = params.AppendPairs(v.n.pairs[:0], query)
	list := v.clickIDs
	if f == fCampaign {
		list = v.campaign
	}
	found := list(query)
	if len(found) == 0 {
		return nil, false
	}
	v.key = append(v.key[:0], '{')
	for _, p := range found {
		v.n.name = params.AppendName(v.n.name[:0], p.value.Value(query))
		v.key = appendMember(v.key, p.name, v.n.name)
	}
	v.key[len(v.key)-1] = '}'
	return v.key, true
}
