package codec

// AppendHostKey appends host and port of key, a canonical string with the
// components u, as they stand there: "example.com:8080". It is for dealing URLs
// out by host. It appends nothing if there is no host.
func AppendHostKey(dst, key []byte, u *URL) []byte {
	dst = append(dst, u.Bytes(key, Host)...)
	if u.Has(Port) {
		dst = append(append(dst, ':'), u.Bytes(key, Port)...)
	}
	return dst
}
