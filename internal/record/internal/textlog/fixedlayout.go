package textlog

import (
	"bytes"
	"slices"
	"strings"

	"github.com/urlfold/urlfold/internal/ground/scan"
	"github.com/urlfold/urlfold/internal/record/internal/locate"
)

// This file splits the lines of text logs that have a fixed order of fields,
// such as the logs of load balancers and proxies. The table FixedLogs describes
// them.

// fixedLayout is the order of the fields in a line. Its source is a text like
//
//	time - client:port status bytes "request" | "agent" -
//
// Each word names a field; the map textWords lists the names. Quotes, brackets
// and braces occur in the log as written, and "-" is a field that is not used.
// Spaces separate the fields. A line must have the fields before the bar, in
// the form that textWords requires: they are the landmarks of the format. It
// can lack the other fields, and have more fields. A layout that starts with
// "…" can begin anywhere in the line: at the first time in brackets, or at the
// field before this time.
type fixedLayout struct {
	Fields     []fixedField
	must       int   // number of fields before the bar
	Floats     bool  // the layout starts with "…"
	time       int   // index of the time in brackets, if Floats is set
	found      []int // indexes of the fields from which URLs are read
	attributes []int // indexes of the fields that are attributes
	url        int   // number of fields up to the last field in found or before the bar
	all        int   // number of fields up to the last field that is used
}

// fixedField is a field of a fixedLayout.
type fixedField struct {
	style textStyle
	use   textUse
	attr  locate.AttrID     // the attribute, if use names one
	unit  int8              // unit of the attribute; see locate.Attr.Unit
	check func([]byte) bool // nil if the field can have any content
	// dialect describes the escapes of the field, if they differ from the log's
	// other escapes.
	dialect *locate.Dialect
}

// textStyle says how a field ends.
type textStyle uint8

const (
	textWord       textStyle = iota // at a space
	textQuoted                      // at a quote that is followed by what can be the next field; the whole field can also be "-", without quotes
	textLastQuoted                  // at the last quote of the line
	textBracket                     // at the first ']'
	textCaptures                    // at the next quote
	textURL                         // before a user and a peer; the field can contain spaces
	textArrow                       // before an arrow; the field can contain spaces
	textPrefix                      // before "[pid: "; the field can be empty and contain spaces
	textTook                        // before a parenthesis that follows a space; the field can contain spaces
	textRequest                     // after an HTTP version that is followed by a status; the field can contain spaces
	textList                        // at a space that does not follow a comma
	textRest                        // at the end of the line
)

// textUse says what a field is used for.
type textUse uint8

const (
	useNothing   textUse = iota
	useAttr              // an attribute
	useSum               // a part of the duration; the parts follow one another
	useClient            // the client, with its port
	useLast              // an attribute after the last slash
	useTook              // a duration and its unit, with a space between them
	useCode              // the status before a parenthesis
	useRequest           // request line
	useMethod            // method
	useURL               // request target
	useReferer           // referer
	useHost              // host of the request
	useCaptures          // headers in braces, one of which can be the host
	useTLS               // version of TLS, or "-"
	useServer            // server name, version of TLS and cipher, separated by slashes
	useTransport         // name that ends in '~' if the request used TLS
	usePrefix            // host of the request: one word, which words in braces can follow; other text has no host
	useForwarded         // addresses separated by commas, the first of which is the client
	useMillis            // a duration before "ms"
	useScheme            // scheme of the request
	useValue             // an attribute after its name and a space
)

// textWords maps the words of layouts to fields.
var textWords = map[string]fixedField{
	`-`:              {},
	`"-"`:            {style: textQuoted},
	`kind`:           {check: isKind},
	`operation`:      {check: isOperation},
	`number`:         {check: isNumber},
	`time`:           {use: useAttr, attr: locate.AttrTime, check: isISOTime},
	`[time]`:         {style: textBracket, use: useAttr, attr: locate.AttrTime, check: isISOTime},
	`[clf-time]`:     {style: textBracket, use: useAttr, attr: locate.AttrTime, check: isCLFTime},
	`epoch`:          {use: useAttr, attr: locate.AttrTime, check: isEpoch},
	`status`:         {use: useAttr, attr: locate.AttrStatus, check: isCode},
	`result/status`:  {use: useLast, attr: locate.AttrStatus, check: isResult},
	`bytes`:          {use: useAttr, attr: locate.AttrBytes},
	`ms`:             {use: useAttr, attr: locate.AttrDuration, unit: 3},
	`timers`:         {use: useLast, attr: locate.AttrDuration, unit: 3, check: isTimers},
	`+seconds`:       {use: useSum, attr: locate.AttrDuration, check: isSeconds},
	`client`:         {use: useAttr, attr: locate.AttrClient},
	`client:port`:    {use: useClient, attr: locate.AttrClient},
	`"agent"`:        {style: textQuoted, use: useAttr, attr: locate.AttrAgent},
	`"agent"last`:    {style: textLastQuoted, use: useAttr, attr: locate.AttrAgent},
	`id`:             {use: useAttr, attr: locate.AttrRequestID},
	`"id"`:           {style: textQuoted, use: useAttr, attr: locate.AttrRequestID},
	`"sni"`:          {style: textQuoted, use: useAttr, attr: locate.AttrVHost},
	`"request"`:      {style: textQuoted, use: useRequest},
	`"referer"`:      {style: textQuoted, use: useReferer, attr: locate.AttrReferer},
	`method`:         {use: useMethod, check: locate.IsToken},
	`url`:            {style: textURL, use: useURL},
	`peer/host`:      {check: isPeer},
	`[pid:`:          {check: isPID},
	`[date]`:         {style: textBracket, use: useAttr, attr: locate.AttrTime},
	`url…`:           {style: textArrow, use: useURL},
	`=>`:             {check: isArrow},
	`took`:           {style: textTook, use: useTook, attr: locate.AttrDuration},
	`…[pid:`:         {style: textPrefix, use: usePrefix},
	`request…`:       {style: textRequest, use: useRequest},
	`forwarded`:      {style: textList, use: useForwarded, attr: locate.AttrClient},
	`"forwarded"`:    {style: textQuoted, use: useForwarded, attr: locate.AttrClient},
	`5ms`:            {use: useMillis, attr: locate.AttrDuration, check: isMillis},
	`referer`:        {use: useReferer, attr: locate.AttrReferer, dialect: locate.JSONDialect},
	`agent…`:         {style: textRest, use: useAttr, attr: locate.AttrAgent, dialect: locate.JSONDialect},
	`status)`:        {use: useCode, attr: locate.AttrStatus, check: isClosed},
	`host`:           {use: useHost},
	`"host"`:         {style: textQuoted, use: useHost},
	`{headers}`:      {style: textCaptures, use: useCaptures},
	`tls`:            {use: useTLS},
	`sni/tls/cipher`: {use: useServer},
	`frontend`:       {use: useTransport},
	`scheme`:         {use: useScheme, check: locate.IsHTTP},
	`"url"`:          {style: textQuoted, use: useURL},
	`list`:           {style: textList},
	`[-]`:            {style: textBracket},
	`[…client]`:      {style: textBracket, use: useValue, attr: locate.AttrClient},
	`[…bytes]`:       {style: textBracket, use: useValue, attr: locate.AttrBytes},
}

// newTextLayout parses the source of a layout. It panics if the source has an
// unknown word, because layouts are constants of this package.
func newTextLayout(source string) fixedLayout {
	var l fixedLayout
	for word := range strings.FieldsSeq(source) {
		switch word {
		case "…":
			l.Floats = true
			continue
		case "|":
			l.must = len(l.Fields)
			continue
		}
		fd, ok := textWords[word]
		if !ok {
			panic("unknown word in the layout of a log: " + word)
		}
		l.add(fd)
	}
	l.url = max(l.url, l.must)
	return l
}

// add appends a field.
func (l *fixedLayout) add(fd fixedField) {
	i := len(l.Fields)
	l.Fields = append(l.Fields, fd)
	if fd.style == textBracket && fd.attr == locate.AttrTime {
		l.time = i
	}
	switch fd.use {
	case useNothing:
		return
	case useAttr, useSum, useClient, useLast, useTook, useCode, useForwarded, useMillis, useValue:
		l.attributes = append(l.attributes, i)
	case useReferer:
		l.attributes = append(l.attributes, i)
		fallthrough
	default:
		l.found = append(l.found, i)
		l.url = i + 1
	}
	l.all = i + 1
}

// has reports whether the layout has a field with one of the uses.
func (l *fixedLayout) has(uses ...textUse) bool {
	for _, fd := range l.Fields {
		if slices.Contains(uses, fd.use) {
			return true
		}
	}
	return false
}

// Split stores the first fields of rec in spans, at most one for each span. It
// returns how many it has found, and the offset at which it stopped. cut says
// that the request may lack its closing quote.
func (l *fixedLayout) Split(spans []locate.Span, rec []byte, marks *scan.Block, cut bool) (n, pos int) {
	if l.Floats {
		if pos = l.start(rec); pos < 0 {
			return 0, 0
		}
	}
	for i := range spans {
		fd := &l.Fields[i]
		for pos < len(rec) && rec[pos] == ' ' {
			pos++
		}
		if pos == len(rec) {
			return i, pos
		}
		if fd.style == textWord { // the style of most fields
			next := marks.Class.Next(pos)
			if fd.check != nil && !fd.check(rec[pos:next]) {
				return i, pos
			}
			spans[i], pos = locate.Between(pos, next), next
			continue
		}
		s, next := l.field(i, rec, pos, marks)
		if next < 0 && cut && fd.use == useRequest && rec[pos] == '"' {
			s, next = locate.Between(pos+1, len(rec)), len(rec)
		}
		if next < 0 || fd.check != nil && !fd.check(s.In(rec)) {
			return i, pos
		}
		spans[i], pos = s, next
	}
	return len(spans), pos
}

// maxTime is more than the length of a time in brackets.
const maxTime = 64

// start returns the offset of the first field of a layout that floats, or -1.
func (l *fixedLayout) start(rec []byte) int {
	for from := 0; ; {
		n := bytes.IndexByte(rec[from:], '[')
		if n < 0 {
			return -1
		}
		from += n + 1
		n = bytes.IndexByte(rec[from:min(len(rec), from+maxTime)], ']')
		switch {
		case n < 0 || !l.Fields[l.time].check(rec[from:from+n]):
		case l.time == 0:
			return from - 1
		case from >= 3 && rec[from-2] == ' ':
			return bytes.LastIndexByte(rec[:from-2], ' ') + 1
		}
	}
}

// field returns the content of field i, which starts at pos and is not a word,
// and the offset at which the field ends. The offset is negative if there is no
// such field at pos.
func (l *fixedLayout) field(i int, rec []byte, pos int, marks *scan.Block) (locate.Span, int) {
	switch style := l.Fields[i].style; style {
	case textQuoted, textLastQuoted:
		return l.quoted(i, rec, pos, marks)
	case textBracket:
		if n := bytes.IndexByte(rec[pos:], ']'); n > 0 && rec[pos] == '[' {
			return locate.Between(pos+1, pos+n), pos + n + 1
		}
		return locate.Span{}, -1
	case textCaptures:
		return capturesAt(rec, pos)
	case textURL:
		return urlBeforePeer(rec, pos, marks.Class)
	case textArrow:
		return urlBeforeArrow(rec, pos)
	case textRequest:
		next := requestBeforeStatus(rec, pos, marks.Class)
		return locate.Between(pos, max(pos, next)), next
	default:
		next := spacedEnd(style, rec, pos)
		return locate.Between(pos, max(pos, next)), next
	}
}

// quoted returns the inside of the quoted field i, which starts at pos, as field
// does.
func (l *fixedLayout) quoted(i int, rec []byte, pos int, marks *scan.Block) (locate.Span, int) {
	if rec[pos] != '"' {
		if rec[pos] == '-' && (pos+1 == len(rec) || rec[pos+1] == ' ') {
			return locate.Between(pos, pos+1), pos + 1
		}
		return locate.Span{}, -1
	}
	end := -1
	if l.Fields[i].style == textQuoted {
		end = l.quoteEnd(i, rec, pos+1, marks)
	} else if last := bytes.LastIndexByte(rec, '"'); last > pos {
		end = last
	}
	if end < 0 {
		return locate.Span{}, -1
	}
	return locate.Between(pos+1, end), end + 1
}

// quoteEnd returns the offset of the quote that closes field i, whose content
// starts at from: the first quote that is followed by what can be the next
// field, because logs can contain raw quotes. It returns -1 without such a
// quote.
func (l *fixedLayout) quoteEnd(i int, rec []byte, from int, marks *scan.Block) int {
	next, last := &fixedField{}, i+1 == len(l.Fields)
	if !last {
		next = &l.Fields[i+1]
	}
	for ; ; from++ {
		if from = marks.Same.Next(from); from == len(rec) {
			return -1
		}
		if rec[from] != '"' { // the mark is a line feed
			continue
		}
		rest := rec[from+1:]
		switch {
		case len(rest) == 0:
			return from
		case rest[0] != ' ':
		case len(rest) == 1 || last:
			return from
		case (next.style == textQuoted || next.style == textLastQuoted) && (rest[1] == '"' || rest[1] == '-'):
			return from
		case next.style == textBracket && rest[1] == '[':
			return from
		case next.style == textWord && (next.check == nil || next.check(rec[from+2:marks.Class.Next(from+2)])):
			return from
		}
	}
}

// capturesAt returns the inside of the first pair of braces between pos and the
// next quote, and the offset of that quote.
func capturesAt(rec []byte, pos int) (locate.Span, int) {
	n := bytes.IndexByte(rec[pos:], '"')
	if n < 0 {
		return locate.Span{}, -1
	}
	quote := pos + n
	open := bytes.IndexByte(rec[pos:quote], '{')
	if open < 0 {
		return locate.Between(quote, quote), quote
	}
	open += pos + 1
	if n = bytes.IndexByte(rec[open:quote], '}'); n < 0 {
		n = 0
	}
	return locate.Between(open, open+n), quote
}

// spacedEnd returns the end of a field at pos that can contain spaces, without
// the trailing space, or -1.
func spacedEnd(style textStyle, rec []byte, pos int) int {
	switch style {
	case textPrefix:
		return indexAt(rec, pos, pidWord, 0)
	case textTook:
		return indexAt(rec, pos, tookEnd, 1)
	case textList:
		end := locate.WordEnd(rec, pos)
		for end < len(rec) && rec[end-1] == ',' {
			end = locate.WordEnd(rec, end+1)
		}
		return end
	case textRest:
		return len(rec)
	}
	return -1
}

var pidWord, tookEnd, arrow = []byte("[pid: "), []byte(" ("), []byte(" => ")

// indexAt returns the offset of the first occurrence of word in rec from pos
// on, or -1. It searches for word[rare], which should be a rare byte:
// bytes.Index searches for the first byte of word, which is often a space.
func indexAt(rec []byte, pos int, word []byte, rare int) int {
	for i := pos + rare; i < len(rec); i++ {
		n := bytes.IndexByte(rec[i:], word[rare])
		if n < 0 {
			return -1
		}
		i += n
		if bytes.HasPrefix(rec[i-rare:], word) {
			return i - rare
		}
	}
	return -1
}

// requestBeforeStatus returns the end of the request line without quotes at pos, or
// -1. The line is "-" if there was no request.
func requestBeforeStatus(rec []byte, pos int, spaces scan.Marks) int {
	method := spaces.Next(pos)
	if method == pos+1 && rec[pos] == '-' {
		return method
	}
	if !isMethod(rec[pos:method]) {
		return -1
	}
	for at := method; at < len(rec); {
		next := spaces.Next(at + 1)
		if bytes.HasPrefix(rec[at:], locate.Version) && isStatus(rec[next:]) {
			if line := rec[pos:next]; locate.VersionAt(line) < len(line) {
				return next
			}
		}
		at = next
	}
	return -1
}

// urlBeforePeer returns the URL at pos. The URL ends before a user, which is
// one word, and a peer.
func urlBeforePeer(rec []byte, pos int, spaces scan.Marks) (locate.Span, int) {
	user := -1
	for word := pos; word < len(rec); {
		end := spaces.Next(word)
		if user > pos && isPeer(rec[word:end]) {
			return locate.Between(pos, user-1), user - 1
		}
		user, word = word, end+1
	}
	return locate.Span{}, -1
}

// urlBeforeArrow returns the URL at pos. The URL ends before the last " => ".
func urlBeforeArrow(rec []byte, pos int) (locate.Span, int) {
	end := pos
	for next := pos; next >= 0; next = indexAt(rec, end+1, arrow, 2) { // bytes.LastIndex does not use vectors
		end = next
	}
	if end == pos {
		return locate.Span{}, -1
	}
	return locate.Between(pos, end), end
}
