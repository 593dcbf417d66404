package table

// AppendEscaped appends the cell for the value v.
func AppendEscaped(dst, v []byte) []byte {
	for _, c := range v {
		switch c {
		case '\t':
			dst = append(dst, `\t`...)
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\\':
			dst = append(dst, `\\`...)
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

// decodeEscape decodes the escape at the start of s, as
// record.Dialect.Decode specifies.
func decodeEscape(dst, s []byte) (_ []byte, n int) {
	if len(s) >= 2 {
		switch s[1] {
		case 't':
			return append(dst, '\t'), 2
		case 'n':
			return append(dst, '\n'), 2
		case 'r':
			return append(dst, '\r'), 2
		case '\\':
			return append(dst, '\\'), 2
		}
	}
	return append(dst, '\\'), 1
}

// AppendUnescaped appends the value of a cell.
func AppendUnescaped(dst, cell []byte) []byte {
	for len(cell) > 0 {
		if cell[0] != '\\' {
			dst, cell = append(dst, cell[0]), cell[1:]
			continue
		}
		var n int
		dst, n = decodeEscape(dst, cell)
		cell = cell[n:]
	}
	return dst
}
