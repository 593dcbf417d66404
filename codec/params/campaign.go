package params

// CampaignPart is a property of a campaign that a parameter can set.
// Not covered by the stability page.
type CampaignPart uint8

// Fields of a campaign.
const (
	campaignSource  CampaignPart = iota // origin of the visit
	campaignMedium                      // medium, such as mail or cpc
	campaignName                        // name of the campaign
	campaignTerm                        // paid keyword
	campaignContent                     // one of several links
	campaignID                          // ID of the campaign

	// NumFields is the number of fields. Not covered by the stability page.
	NumFields = iota
)

var fieldNames = [NumFields]string{"source", "medium", "name", "term", "content", "id"}

// String returns the name of the field as it appears in output.
func (f CampaignPart) String() string {
	if int(f) < NumFields {
		return fieldNames[f]
	}
	return "unknown"
}

// families are the prefixes of campaign parameters in order of precedence:
// Google Analytics ("URL builders: collect campaign data with custom URLs"),
// and the four of Matomo ("Campaign tracking"), which also reads utm_.
var families = [...]string{"utm_", "pk_", "piwik_", "mtm_", "matomo_"}

// CampaignField returns the field that a parameter with the given form-decoded
// name sets; ok is false if the name sets no field. If several parameters set the same
// field, the lowest rank takes precedence, and within a rank the first
// parameter in the query. Names are compared without regard to ASCII case.
// Not covered by the stability page.
func CampaignField(name []byte) (field CampaignPart, rank int, ok bool) {
	for rank, family := range families {
		if hasPrefixFold(name, family) {
			field, ok = campaignKey(name[len(family):])
			return field, rank, ok
		}
	}
	return 0, 0, false
}

// campaignKey returns the field for the part of a name after the family.
func campaignKey(key []byte) (CampaignPart, bool) {
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

// ClickID returns the lower-case name of a parameter that holds a click ID: the
// ID of one click on an advertisement, which is useful for attribution. name is
// form-decoded and compared without regard to ASCII case.
// Not covered by the stability page.
func ClickID(name []byte) (id string, ok bool) {
	if len(name) == 0 {
		return "", false
	}
	c := lower(name[0])
	for i := range clickIDs {
		if id := clickIDs[i].rule; id[0] == c && equalFold(name, id) {
			return id, true
		}
	}
	return "", false
}
