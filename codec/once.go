package codec

// Normalize returns the normal form of one URL by the built-in profile with the
// given name, and its key of the profile's level. It is meant for occasional
// use: to process many URLs, make a [Normalizer] once and reuse a [Result]. The
// error is a *NameError if there is no such profile, otherwise an [Error].
func Normalize(profile, url string) (norm string, key Key, err error) {
	p, ok := Lookup(profile)
	if !ok {
		return "", Key{}, &NameError{"profile", profile}
	}
	n, err := New(p)
	if err != nil {
		return "", Key{}, err
	}
	var r Result
	out, err := n.Append(nil, []byte(url), &r)
	if err != nil {
		return "", Key{}, err
	}
	return string(out), r.Key(p.Key), nil
}
