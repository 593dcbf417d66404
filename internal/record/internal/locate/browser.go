package locate

import "github.com/urlfold/urlfold/codec"

// Browser implements the URL Standard without any additional rules.
var Browser = func() *codec.Normalizer {
	p, _ := codec.Lookup("whatwg")
	n, err := codec.New(p)
	if err != nil {
		panic("BUG: the built-in profile whatwg is invalid") // every test would fail
	}
	return n
}()
