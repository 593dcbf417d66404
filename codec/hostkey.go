package codec

// AppendHostKey appends the host and port of key, a canonical string with the
// components u, unchanged: "example.com:8080". Use it to partition URLs by
// host. It appends nothing if there is no host. Not covered by the stability page.
func AppendHostKey(dst, key []byte, u *URL) []byte {
	dst = append(dst, u.Bytes(key, Host)...)
	if u.Has(Port) {
		dst = append(append(dst, ':'), u.Bytes(key, Port)...)
	}
	return dst
}
