package params

// A Field is one of the things that campaign parameters say about a visit.
type Field uint8

// The fields.
const (
	campaignSource  Field = iota // who sent the visitor
	campaignMedium               // by what: mail, cpc
	campaignName                 // of the campaign
	campaignTerm                 // the keyword that was paid for
	campaignContent              // which of several links
	campaignID                   // of the campaign

	// NumFields is how many fields there are.
	NumFields = iota
)

var fieldNames = [NumFields]string{"source", "medium", "name", "term", "content", "id"}

// String returns the name of the field as it appears in output.
func (f Field) String() string {
	if int(f) < NumFields {
		return fieldNames[f]
	}
	return "unknown"
}

// families are the beginnings of campaign parameters, the first with the most weight: Google Analytics ("URL builders:
// collect campaign data with custom URLs"), and the four of Matomo ("Campaign tracking"), which reads utm_ too.
var families = [...]string{"utm_", "pk_", "piwik_", "mtm_", "matomo_"}

// CampaignField returns the field that a parameter of that form-decoded name fills. Where several parameters fill one
// field, the lowest rank wins, and of the same rank the first in the query. Names match without regard to ASCII case.
func CampaignField(name []byte) (field Field, rank int, ok bool) {
	for rank, family := range families {
		if hasPrefixFold(name, family) {
			field, ok = campaignKey(name[len(family):])
			return field, rank, ok
		}
	}
	return 0, 0, false
}

// campaignKey returns the field of what follows the family.
func campaignKey(key []byte) (Field, bool) {
	var b [8]byte
	if len(key) > len(b) {
		return 0, false
	}
	for i, c := range key {
		b[i] = lower(c)
	}
	switch string(b[:len(key)]) {
	case "source":
		return campaignSource, true
	case "medium":
		return campaignMedium, true
	case "campaign", "cpn":
		return campaignName, true
	case "term", "kwd", "keyword":
		return campaignTerm, true
	case "content":
		return campaignContent, true
	case "id", "cid":
		return campaignID, true
	}
	return 0, false
}

// ClickID returns the name, in lower case, of a parameter that carries a click id: one that an advertiser's click gets,
// and whose value is worth keeping for attribution. The name is form-decoded and matches without regard to ASCII case.
func ClickID(name []byte) (id string, ok bool) {
	if len(name) == 0 {
		return "", false
	}
	c := lower(name[0])
	for i := range clickIDs {
		if id := clickIDs[i].name; id[0] == c && equalFold(name, id) {
			return id, true
		}
	}
	return "", false
}
