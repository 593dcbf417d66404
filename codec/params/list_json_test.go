package params

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -run "^(TestListJSON|TestPublicPage)$" -update .

var update = flag.Bool("update", false, "write the files of testdata/vectors/lists about parameters")

// parameterList is parameters.json: the built-in list.
type parameterList struct {
	Version  string            `json:"version"`
	Exact    []string          `json:"exact"`
	Prefixes []string          `json:"prefixes"`
	Shaped   map[string]string `json:"shaped"` // from an exact name to the shape of its values
	Except   parameterPages    `json:"except"`
}

// parameterPages are pages on which names are not in the list.
type parameterPages struct {
	Path  string   `json:"path"` // a regular expression for the start of the path, ignoring case
	Names []string `json:"names"`
}

// sessionList is session-ids.json: names of fields of queries and of parameters
// of path segments, and what makes one of them a session id.
type sessionList struct {
	Query sessionNames `json:"query"`
	Path  sessionNames `json:"path"`
}

type sessionNames struct {
	Any      []string `json:"any"`      // whatever the value
	Token    []string `json:"token"`    // if the value is a token
	Together []string `json:"together"` // if all of them are there
}

// signedList is signed-queries.json: sets of names; a query that has all names of
// a set is signed.
type signedList struct {
	Sets [][]string `json:"sets"`
}

// TestListJSON compares the files of testdata/vectors/lists with the code,
// for each name that the code knows. With -update it writes the files.
func TestListJSON(t *testing.T) {
	f := func(name string, list any) {
		t.Helper()
		want, err := json.MarshalIndent(list, "", " ")
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, '\n')
		path := "../../testdata/vectors/lists/" + name
		if *update {
			if err := os.WriteFile(path, want, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is out of date (%v): go generate ./codec/params", path, err)
		}
	}
	f("parameters.json", defaultNames(t))
	f("session-ids.json", sessionList{
		Query: probeSessions(func(name, value string) session { return sessionOf([]byte(name), []byte(value)) }),
		Path:  probeSessions(func(name, value string) session { return pathSession([]byte(";" + name + "=" + value)) }),
	})
	f("signed-queries.json", signedList{probeSignatures()})
}

// defaultNames returns the built-in list.
func defaultNames(t *testing.T) (l parameterList) {
	t.Helper()
	l.Version, l.Shaped = DefaultVersion, map[string]string{}
	for _, r := range Default().Rules {
		isKept := r.action == actionKeep
		if r.Host != "" || isKept != (r.Path == mailPages) || r.match == matchRegexp || r.value != shapeAny && r.match != matchExact {
			t.Errorf("%v: the JSON form has no such rule", r)
		}
		switch {
		case isKept:
			l.Except.Path = strings.TrimPrefix(r.Path, "^")
			l.Except.Names = append(l.Except.Names, r.Name)
		case r.value != shapeAny:
			l.Shaped[r.Name] = r.value.String()
		case r.match == matchPrefix:
			l.Prefixes = append(l.Prefixes, r.Name)
		default:
			l.Exact = append(l.Exact, r.Name)
		}
	}
	return l
}

// probeSessions asks kind about all known names.
func probeSessions(kind func(name, value string) session) (s sessionNames) {
	const token = "0123456789abcdef"
	for _, name := range knownNames {
		spelling := name
		if name == aspSession {
			spelling = "aspsessionid[a-z]{8}"
		}
		switch {
		case kind(name, "x") == isSession:
			s.Any = append(s.Any, spelling)
		case kind(name, token) == isSession:
			s.Token = append(s.Token, spelling)
		case kind(name, "x") != noSession:
			s.Together = append(s.Together, spelling)
		}
	}
	return s
}

// probeSignatures asks about all known names, and all pairs of these.
func probeSignatures() (sets [][]string) {
	for i, a := range knownNames {
		if markOf([]byte(a)).signed() {
			sets = append(sets, []string{a})
			continue
		}
		for _, b := range knownNames[i+1:] {
			if !markOf([]byte(b)).signed() && (markOf([]byte(a)) | markOf([]byte(b))).signed() {
				sets = append(sets, slices.Sorted(slices.Values([]string{a, b})))
			}
		}
	}
	return sets
}
