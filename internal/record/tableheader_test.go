package record

import "testing"

func TestDetectHeader(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got, ok := DetectHeader([]byte(text)); got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %t, want %q", text, got, ok, want)
		}
	}
	f("id,url,name\n", "csv")
	f("id,url,name", "csv")
	f("\xEF\xBB\xBF\"id\",\"url\"\r\n\r\n", "csv")
	f("id;Request URL (raw);größe\n", "csv-semicolon")
	f("id|url\n", "csv-pipe")
	f("request.url\trequest.host\tstatus\n", "tsv")
	f("a,b|c|d\n", "") // not a name
	f("\"two\nlines\",url\n", "")
	f("id,url\n1,/a\n", "") // Detect finds it
	f("id,url\n1,", "")
	f("url\n", "")
	f("id,id\n", "")
	f("id,\n", "")
	f("1,2\n", "")
	f("h.example,www.example\n", "")
	f("Dear diary, today I counted pages\n", "")
	f("GET /a,b\n", "")
	f("", "")
}

// TestTableWithoutRows checks that a header is not read as a row, even if it lacks its
// line end.
func TestTableWithoutRows(t *testing.T) {
	for _, head := range []string{"id,url", "id,url\n", "\xEF\xBB\xBFurl,id"} {
		job := newJob(t, Config{Format: "csv", URLField: "url", OnRejected: DispositionDead})
		in := []byte(head)
		var st Stats
		out, dead := job.NewWorker().Append(nil, nil, in, Position{Head: in[:job.Framing().Head(in)]}, &st)
		if string(out) != head || len(dead) > 0 || st.Records != 1 || st.URLs != 0 {
			t.Errorf("%q: got %q, dead letters %q, %d records", head, out, dead, st.Records)
		}
	}
	job := newJob(t, Config{Format: "csv", URLField: "url", OnRejected: DispositionDead})
	var st Stats
	if job.NewWorker().Append(nil, nil, []byte("1,/a"), Position{}, &st); st.Rejects[NoField] != 1 {
		t.Errorf("a row without a header: %v", st.Rejects)
	}
}
