package params

import "testing"

func TestCampaignField(t *testing.T) {
	f := func(name string, want Field, rank int, ok bool) {
		t.Helper()
		if field, r, got := CampaignField([]byte(name)); field != want || r != rank || got != ok {
			t.Errorf("%s: %v, %d, %v", name, field, r, got)
		}
	}
	f("utm_source", Source, 0, true)
	f("UTM_Medium", Medium, 0, true)
	f("utm_campaign", Name, 0, true)
	f("utm_term", Term, 0, true)
	f("utm_content", Content, 0, true)
	f("utm_id", ID, 0, true)
	f("pk_campaign", Name, 1, true)
	f("pk_cpn", Name, 1, true)
	f("piwik_kwd", Term, 2, true)
	f("mtm_keyword", Term, 3, true)
	f("mtm_cid", ID, 3, true)
	f("matomo_source", Source, 4, true)
	f("utm_source_platform", 0, 0, false)
	f("utm_", 0, 0, false)
	f("source", 0, 0, false)
	f("", 0, 0, false)
	for f := range Field(NumFields) {
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
