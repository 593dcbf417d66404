package tap

import (
	"strings"

	"github.com/urlfold/urlfold/codec/params"
)

// stars replaces a secret.
const stars = "***"

// secretNames are parameters whose values are credentials, whatever the
// configuration says: in OAuth 2.0 and OpenID Connect, in signed URLs, and
// other common names.
var secretNames = strings.Fields(`access_key access_token accesskey accesstoken api_key api-key apikey assertion auth auth_key auth_token authorization
	bearer client_secret code code_verifier credential credentials csrf csrf_token hdnea hdntl hdnts id_token jwt key-pair-id
	oauth_signature oauth_token oauth_token_secret oauth_verifier otp pass passcode passwd password pin policy private_key pwd
	q-signature refresh_token reset_token saml_response samlresponse secret secret_key session session_id session_token sessionid sid jsessionid phpsessid
	sig signature state ticket token verification_code x-amz-credential x-amz-security-token x-amz-signature x-api-key x-goog-credential x-goog-signature
	x-oss-signature x-tos-signature xsrf-token`)

// A masker masks secrets in URLs whose passwords are already masked.
type masker struct {
	names map[string]bool // lower case
	text  func(string) string
}

// delimiters end a parameter, wherever it is: in a query, a fragment, or a path.
const delimiters = "?&;#"

// url returns text with the values of secret parameters replaced by stars. A
// value that contains another URL or query, even an escaped one, is replaced
// as a whole if there is a secret in it.
func (m *masker) url(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		end := strings.IndexAny(text, delimiters)
		if end < 0 {
			end = len(text)
		}
		m.field(&b, text[:end])
		if end < len(text) {
			b.WriteByte(text[end])
			end++
		}
		text = text[end:]
	}
	return m.text(b.String())
}

// field writes a field with its value masked if it is secret.
func (m *masker) field(b *strings.Builder, field string) {
	name, value, ok := cutValue(field)
	switch {
	case ok && value != "" && (m.isSecret(name) || m.hides(value, 3)):
		b.WriteString(field[:len(field)-len(value)])
		b.WriteString(stars)
	default:
		b.WriteString(field)
	}
}

// cutValue cuts a field at its first '=', which may be escaped.
func cutValue(field string) (name, value string, ok bool) {
	if name, value, ok = strings.Cut(field, "="); ok {
		return name, value, true
	}
	if i := strings.Index(strings.ToLower(field), "%3d"); i >= 0 {
		return field[:i], field[i+3:], true
	}
	return field, "", false
}

// isSecret reports whether a parameter is secret. The name is raw. Brackets and
// what is in front of the name in a path or in brackets do not count:
// "user[password]" is "password".
func (m *masker) isSecret(raw string) bool {
	name := string(params.AppendName(nil, []byte(raw)))
	name = strings.ToLower(string(params.AppendName(nil, []byte(name))))
	name = strings.TrimPrefix(name, "amp;")
	if m.names[strings.TrimSpace(name)] {
		return true
	}
	last := strings.LastIndexAny(strings.TrimRight(name, "] "), "[/?.:,{\"' ") + 1
	return m.names[strings.Trim(name[last:], "]\"' ")]
}

// hides reports whether a value contains, after decoding it up to depth times, a
// secret parameter or a password.
func (m *masker) hides(value string, depth int) bool {
	decoded := string(params.AppendName(nil, []byte(value)))
	if m.text(decoded) != decoded {
		return true
	}
	for field := range strings.FieldsFuncSeq(decoded, func(r rune) bool { return strings.ContainsRune(delimiters, r) }) {
		if name, v, ok := cutValue(field); ok && v != "" && m.isSecret(name) {
			return true
		}
	}
	return depth > 1 && decoded != value && m.hides(decoded, depth-1)
}
