package locate

import "github.com/urlfold/urlfold/codec"

// Browser implements the URL Standard without any additional rules.
var Browser = codec.MustNamed("whatwg")
