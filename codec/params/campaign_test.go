package params

import "testing"

func TestCampaignField(t *testing.T) {
	f := func(name string, want CampaignPart, rank int, ok bool) {
		t.Helper()
		if field, r, got := CampaignField([]byte(name)); field != want || r != rank || got != ok {
			t.Errorf("%s: %v, %d, %v", name, field, r, got)
		}
	}
	f("utm_source", campaignSource, 0, true)
	f("UTM_Medium", campaignMedium, 0, true)
	f("utm_campaign", campaignName, 0, true)
	f("utm_term", campaignTerm, 0, true)
	f("utm_content", campaignContent, 0, true)
	f("utm_id", campaignID, 0, true)
	f("pk_campaign", campaignName, 1, true)
	f("pk_cpn", campaignName, 1, true)
	f("piwik_kwd", campaignTerm, 2, true)
	f("mtm_keyword", campaignTerm, 3, true)
	f("mtm_cid", campaignID, 3, true)
	f("matomo_source", campaignSource, 4, true)
	f("utm_source_platform", 0, 0, false)
	f("utm_", 0, 0, false)
	f("source", 0, 0, false)
	f("", 0, 0, false)
	for f := range CampaignPart(NumFields) {
		if f.String() == "" || f.String() == "unknown" {
			t.Errorf("field %d has no name", f)
		}
	}
}

func TestClickID(t *testing.T) {
	f := func(name, want string) {
		t.Helper()
		if got, ok := ClickID([]byte(name)); got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v", name, got, ok)
		}
	}
	f("gclid", "gclid")
	f("FBCLID", "fbclid")
	f("ScCid", "sccid")
	f("li_fat_id", "li_fat_id")
	f("gclid2", "")
	f("utm_source", "")
	f("", "")
}
