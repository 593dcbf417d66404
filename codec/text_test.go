package codec

import (
	"encoding/json"
	"testing"
)

// TestText checks that named values are marshaled as their names and parsed
// back, and that values without a name are rejected.
func TestText(t *testing.T) {
	type names struct {
		Level    Level
		Hash     Hash
		Form     KeyForm
		Standard Standard
		Rule     Rule
		Rules    Rules
		Flag     Flag
		Change   Change
		Flags    Flags
		Action   Action
		Part     Component
		Error    Error
		Host     HostKind
	}
	in := names{LevelFetch, SHA256, KeyBase32, WHATWG, RuleRemoveDots, RulesOf(RuleLowerHost, RuleRFCClean), FlagNonHex, ChangeRepaired, Flags{}.With(FlagNUL).With(FlagParamStyle), ActionReplaced, Query, ErrTooLong, HostIPv4}
	const want = `{"Level":"fetch","Hash":"sha256-128","Form":"base32","Standard":"whatwg","Rule":"dots","Rules":"host-lower,rfc-clean","Flag":"non-hex","Change":"repaired","Flags":"nul,param-style","Action":"replaced","Part":"query","Error":"url-too-long","Host":"ipv4"}`
	text, err := json.Marshal(in)
	if err != nil || string(text) != want {
		t.Fatalf("%s, %v", text, err)
	}
	var out names
	if err := json.Unmarshal(text, &out); err != nil || out != in {
		t.Errorf("%+v, %v", out, err)
	}
	for _, bad := range []string{`{"Level":"k9"}`, `{"Rule":""}`, `{"Rules":"dots,x"}`, `{"Flag":"unknown"}`, `{"Change":"unknown"}`, `{"Flags":"nul,x"}`, `{"Action":""}`, `{"Part":"userinfo"}`} {
		if err := json.Unmarshal([]byte(bad), &out); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
	if err := json.Unmarshal([]byte(`{"Error":"ok","Host":"none"}`), &out); err != nil || out.Error != 0 || out.Host != HostNone {
		t.Errorf("%+v, %v", out, err)
	}
	for lv, short := range shortNames {
		if err := json.Unmarshal([]byte(`{"Level":"`+short+`"}`), &out); err != nil || out.Level != Level(lv) {
			t.Errorf("%s is level %v: %v", short, out.Level, err)
		}
	}
	if text, err := json.Marshal(SeverityViolation); string(text) != `"violation"` || err != nil {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := json.Marshal(names{Level: 99}); err == nil {
		t.Error("an invalid level has a name")
	}
}
