package params

import "bytes"

// mark identifies a parameter that signed URLs have.
type mark uint16

// Marks of signed URLs. markAlone is sufficient by itself.
const (
	markAlone mark = 1 << iota
	markSignature
	markExpires
	markSig
	markSE
	markSI
	markToken
	markMD5
)

// signed reports whether parameters with these marks indicate a signed URL.
func (k mark) signed() bool {
	return k&markAlone != 0 ||
		k&markExpires != 0 && k&(markSignature|markToken|markMD5) != 0 ||
		k&markSig != 0 && k&(markSE|markSI) != 0
}

// Signed reports whether query belongs to a signed URL. Any change of a signed URL,
// even of the order of parameters, would invalidate the signature. Signed recognizes
// these parameters:
//
//	X-Amz-Signature             Amazon S3, "Authenticating Requests: Using Query
//	                            Parameters (AWS Signature Version 4)"
//	X-Goog-Signature            Google Cloud Storage, "V4 signing process"
//	X-OSS-Signature             Alibaba Cloud OSS, "Include signatures in a
//	                            URL", V4
//	X-TOS-Signature             Volcengine TOS
//	Signature with Expires      S3 and Google V2, Alibaba OSS V1, Huawei OBS,
//	                            CloudFront canned policies, Cloud CDN, Laravel
//	Key-Pair-Id                 CloudFront, "Create a signed URL using a custom
//	                            policy"
//	sig with se or si           Azure Storage, "Create a service SAS": expiry,
//	                            or a stored policy
//	q-signature                 Tencent Cloud COS, "Request signature"
//	hdnea, hdnts, hdntl         Akamai, Edge Authorization tokens
//	auth_key                    Alibaba Cloud CDN, URL signing type A
//	token or md5 with expires   Bunny CDN token authentication; nginx
//	                            ngx_http_secure_link_module
//	oauth_signature             OAuth 1.0, RFC 5849 §3.5.3
//
// Names are form-decoded and compared without regard to ASCII case. Services
// may be stricter, but a false positive does no harm. Not covered by the stability page.
func Signed(query []byte) bool {
	var all mark
	var buf nameBuffer
	for len(query) > 0 {
		field := query
		if i := bytes.IndexByte(query, '&'); i >= 0 {
			field, query = query[:i], query[i+1:]
		} else {
			query = nil
		}
		if len(field) == 0 || !startsKnown[field[0]] {
			continue
		}
		if i := bytes.IndexByte(field, '='); i >= 0 {
			field = field[:i]
		}
		all |= markOf(shortName(&buf, field))
	}
	return all.signed()
}

// knownNames are the names that markOf and sessionOf recognize. The last eight
// letters of aspSession stand for any letters.
var knownNames = []string{
	"x-amz-signature", "x-goog-signature", "x-oss-signature", "x-tos-signature", "key-pair-id", "q-signature",
	"hdnea", "hdnts", "hdntl", "auth_key", "oauth_signature", "signature", "expires", "sig", "se", "si", "token", "md5",
	"jsessionid", "phpsessid", aspSession, "sessionid", "session_id", "sid", "cfid", "cftoken",
}

const aspSession = "aspsessionidxxxxxxxx"

// knownLengths holds the lengths of knownNames, as bits, by their lower-case
// first byte.
var knownLengths = func() (t [256]uint32) {
	for _, name := range knownNames {
		t[name[0]] |= 1 << len(name)
	}
	return t
}()

// startsKnown has the first bytes of the raw names that may be known: those of
// knownNames, of an escape, and of the prefixes that bare removes.
var startsKnown = func() (t [256]bool) {
	for c := range t {
		t[c] = knownLengths[lower(byte(c))] != 0
	}
	t['%'], t['?'], t['a'], t['A'] = true, true, true, true
	return t
}()

// isKnown reports whether markOf or sessionOf may recognize the bare name.
func isKnown(name []byte) bool {
	return len(name) > 0 && len(name) < maxName && knownLengths[lower(name[0])]>>len(name)&1 != 0
}

// maxName is an upper limit for the length of the names in knownNames.
const maxName = 32

// nameBuffer can hold a name of maxName bytes and the prefixes that bare
// removes, with every byte escaped.
type nameBuffer [3 * (maxName + len("?amp;"))]byte

// shortName returns the bare, form-decoded form of a raw name, or nil if the
// name is longer than maxName. No known name has a '+'.
func shortName(buf *nameBuffer, raw []byte) []byte {
	if bytes.IndexByte(raw, '%') >= 0 {
		if len(raw) > len(buf) {
			return nil
		}
		raw = AppendName(buf[:0], raw)
	}
	if raw = bare(raw); len(raw) > maxName {
		return nil
	}
	return raw
}

// markOf returns the mark of a form-decoded, bare name, or 0.
func markOf(name []byte) mark {
	if !isKnown(name) {
		return 0
	}
	var b [maxName]byte
	for i, c := range name {
		b[i] = lower(c)
	}
	switch string(b[:len(name)]) {
	case "x-amz-signature", "x-goog-signature", "x-oss-signature", "x-tos-signature", "key-pair-id", "q-signature",
		"hdnea", "hdnts", "hdntl", "auth_key", "oauth_signature":
		return markAlone
	case "signature":
		return markSignature
	case "expires":
		return markExpires
	case "sig":
		return markSig
	case "se":
		return markSE
	case "si":
		return markSI
	case "token":
		return markToken
	case "md5":
		return markMD5
	}
	return 0
}
