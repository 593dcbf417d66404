package bench

// oursWant maps the rows of urlfold to their results for the URL of
// TestPeersWork.
var oursWant = map[string]string{
	"urlfold Parse":             "/a/../%7euser",
	"urlfold rfc3986":           "https://example.com:443/~user?q=1",
	"urlfold rfc3986-scheme+K1": "https://example.com/~user?q=1",
	"urlfold whatwg":            "https://example.com/%7euser?q=1",
	"urlfold equiv+K1":          "https://example.com/~user?q=1",
	"urlfold crawler+K2":        "https://example.com/~user?q=1",
	"urlfold analytics+K3":      "https://example.com/~user?q=1",
}
