package params

import "bytes"

// AppendNames appends the names of the fields of query to dst: each name once,
// sorted by its decoded bytes, in form encoding (URL Standard §5.2), separated
// by '&'. Fields without any byte have no name; the name of "=v" is empty. It
// does not treat signed queries differently. AppendNames does not modify or
// retain query. Not covered by the stability page.
func AppendNames(dst, query []byte, s *Scratch) []byte {
	s.draw(query)
	s.read(query, nil)
	s.sort(query)
	var last *field
	for i := range s.fields {
		f := &s.fields[i]
		if f.Start == f.End || last != nil && bytes.Equal(s.nameOf(f, query), s.nameOf(last, query)) {
			continue
		}
		if last != nil {
			dst = append(dst, '&')
		}
		dst = appendForm(dst, f.Name(query))
		last = f
	}
	return dst
}
