package codec

import "strconv"

// A URLError is an [Error] with its position. Calls that fill no [Result] return it.
// errors.Is finds the Error in it.
type URLError struct {
	Code   Error
	Offset int // offset of the error in the URL, in bytes; Resolve: in ref, or in base if Code is ErrBase
}

// Error returns the offset and the text of the Error, such as "byte 9: the host is
// invalid". It contains no part of the URL, which may hold a secret.
func (e *URLError) Error() string { return "byte " + strconv.Itoa(e.Offset) + ": " + e.Code.Error() }

// Unwrap returns the Error.
func (e *URLError) Unwrap() error { return e.Code }

// Normalize returns the normal form of one URL, and its key of the profile's
// level. It is meant for occasional use: to process many URLs, reuse a [Result]
// with [Normalizer.AppendString]. The error is a *URLError, or the error of
// Append if n was not made by New.
func (n *Normalizer) Normalize(url string) (norm string, key Key, err error) {
	var r Result
	out, err := n.AppendString(nil, url, &r)
	if code, ok := err.(Error); ok {
		return "", Key{}, &URLError{code, int(r.ErrAt)}
	}
	if err != nil {
		return "", Key{}, err
	}
	return string(out), r.Key(LevelDefault), nil
}

// AppendString is Append for a string. It copies src into scratch memory of r,
// and allocates nothing once that memory has grown.
func (n *Normalizer) AppendString(dst []byte, src string, r *Result) ([]byte, error) {
	s := &r.scratch
	if cap(s.input) > keepBytes {
		s.input = nil
	}
	s.input = append(s.input[:0], src...)
	return n.Append(dst, s.input, r)
}

// KeyVersion names everything on which n's keys of a level depend: the key
// function, the hash, and the Versions of the policy if they matter. Two
// Normalizers with the same KeyVersion, and the same secret if there is one,
// make comparable keys, so store it with keys.
//
//	k1-whatwg/1;xxh3-128
//	k2-whatwg/1;xxh3-128;default@2026-11-29
func (n *Normalizer) KeyVersion(lv Level) string {
	v := n.KeyFunction(lv) + ";" + n.hasher.hash.String()
	if lists := n.PolicyVersions(lv); lists != "" {
		v += ";" + lists
	}
	return v
}
