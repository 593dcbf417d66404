package record

import "testing"

func TestCampaign(t *testing.T) {
	f := func(query, campaign, clickIDs string) {
		t.Helper()
		c := Config{Format: "lines"}
		show(t, c, "equiv", "campaign", "http://h/?"+query, campaign)
		show(t, c, "analytics", "click_ids", "http://h/?"+query, clickIDs)
	}
	f("a=1", "", "")
	f("utm_source=a+b%26&utm_campaign=&gclid=X%2By", `{"source":"a b&","name":""}`, `{"gclid":"X+y"}`)
	// The first family takes precedence, and within a family the first
	// parameter in the query.
	f("mtm_source=3&pk_source=2&UTM_Source=1&utm_source=0&pk_kwd=k", `{"source":"1","term":"k"}`, "")
	f("utm_id=7&utm_content=c&utm_medium=m", `{"medium":"m","content":"c","id":"7"}`, "")
	f("fbclid=1&GCLID=2&gclid=3&utm%5Fid=4", `{"id":"4"}`, `{"fbclid":"1","gclid":"2"}`)
	f("utm_term", `{"term":""}`, "")
	f("utm_term=%FF&gclid=%C0", `{"term_b64":"/w=="}`, `{"gclid_b64":"wA=="}`)
	f("utm_term=%22%0A", `{"term":"\\"\\n"}`, "")

	c := Config{Format: "lines", Render: RenderJSONL, Fields: []string{"campaign", "click_ids", "norm"}}
	check(t, c, "http://h/?utm_term=%22&gclid=1\nhttp://h/\n", `{"campaign":{"term":"\""},"click_ids":{"gclid":"1"},"norm":"http://h/?utm_term=%22&gclid=1"}`+"\n"+`{"norm":"http://h/"}`+"\n")
	show(t, Config{Format: `"$request"`}, "equiv", "campaign", `"GET /?utm_source=x"`, `{"source":"x"}`)
	check(t, c, "http://[/?utm_source=x", `{"error":"host-invalid","at":7}`+"\n")
}
