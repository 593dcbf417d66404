package daemon

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/config"
)

// RunTests runs the cases in a configuration. The error joins a *config.Error, with
// its place, for each case that does not hold.
func RunTests(f *config.File) error {
	profile, _, opts := f.Codec.Resolve()
	n, err := codec.New(profile, opts...)
	if err != nil {
		return f.ErrorAt("codec.profile", err)
	}
	c := &cases{n: n, level: profile.Key, reject: f.Codec.Rejected()}
	if lv, ok := codec.ParseLevel(f.Codec.Key); ok {
		c.level = lv
	}
	var errs []error
	for i := range f.Tests {
		for key, err := range c.run(&f.Tests[i]) {
			errs = append(errs, f.ErrorAt(fmt.Sprintf("tests[%d].%s", i, key), err))
		}
	}
	return errors.Join(errs...)
}

// cases runs cases, one after the other.
type cases struct {
	n      *codec.Normalizer
	level  codec.Level
	reject config.Rejected
	res    codec.Result
}

// run returns what does not hold, by the key of the case that says so.
func (c *cases) run(t *config.Test) map[string]error {
	failed := map[string]error{}
	level := c.level
	if lv, ok := codec.ParseLevel(t.Key); ok {
		level = lv
	}
	switch {
	case t.URL != "":
		c.url(t, failed)
	case t.SameKey != nil:
		c.sameKey(t.SameKey, level, failed)
	default:
		c.differentKey(t.DifferentKey, level, failed)
	}
	return failed
}

// url compares one URL with what is expected of it. The texts of a case are the
// user's own, meant to be shown.
func (c *cases) url(t *config.Test, failed map[string]error) {
	norm, why := c.norm(t.URL)
	if t.Reject != why {
		if why == "" {
			why = "not rejected"
		}
		failed["url"] = fmt.Errorf("the URL is %s, want %s", why, orAccepted(t.Reject))
		return
	}
	if t.Norm != "" && string(norm) != t.Norm {
		failed["norm"] = fmt.Errorf("the normal form is %s", norm)
	}
	if t.Flags == nil {
		return
	}
	var got []string
	for f := range c.res.Flags.All() {
		got = append(got, f.String())
	}
	want := slices.Sorted(slices.Values(t.Flags))
	slices.Sort(got)
	if !slices.Equal(got, want) {
		failed["flags"] = fmt.Errorf("the flags are [%s]", strings.Join(got, ", "))
	}
}

func orAccepted(reason string) string {
	if reason == "" {
		return "a normal form"
	}
	return reason
}

// norm returns the normal form, or why there is none that goes on.
func (c *cases) norm(url string) (norm []byte, why string) {
	norm, err := c.n.Append(nil, []byte(url), &c.res)
	if err != nil {
		return nil, err.(codec.Error).Name()
	}
	for f := range c.reject.Flags.Intersect(c.res.Flags).All() {
		return norm, f.String()
	}
	return norm, ""
}

func (c *cases) sameKey(urls []string, lv codec.Level, failed map[string]error) {
	first, ok := c.key(urls[0], lv)
	for i, u := range urls {
		k, good := c.key(u, lv)
		switch {
		case !good || !ok:
			failed[fmt.Sprintf("same_key[%d]", i)] = errors.New("the URL has no reading, and so no key")
		case k != first:
			failed[fmt.Sprintf("same_key[%d]", i)] = fmt.Errorf("the key at %v is another one than that of the first URL", lv)
		}
	}
}

func (c *cases) differentKey(urls []string, lv codec.Level, failed map[string]error) {
	seen := map[codec.Key]int{}
	for i, u := range urls {
		k, ok := c.key(u, lv)
		other, met := seen[k]
		switch {
		case !ok:
			failed[fmt.Sprintf("different_key[%d]", i)] = errors.New("the URL has no reading, and so no key")
		case met:
			failed[fmt.Sprintf("different_key[%d]", i)] = fmt.Errorf("the key at %v is that of URL %d of the list, too", lv, other+1)
		default:
			seen[k] = i
		}
	}
}

func (c *cases) key(url string, lv codec.Level) (codec.Key, bool) {
	norm, err := c.n.Append(nil, []byte(url), &c.res)
	if err != nil {
		return codec.Key{}, false
	}
	return c.n.Key(lv, []byte(url), norm, &c.res), true
}
