package record

// Lacks reports whether no record of the job can have the output field
// FieldNames()[i], because the format has nothing from which it comes. It
// returns false for formats whose records name their own fields.
func (j *Job) Lacks(i int) bool {
	f := fieldID(i)
	all, known := j.reader.(interface{ attributes() fieldSet })
	return known && ofAttrs.has(f) && !all.attributes().has(f)
}

// attributesOf returns the fields that show attributes.
func attributesOf(ids ...attrID) (s fieldSet) {
	for f := range numFields {
		for _, id := range ids {
			if ofAttrs.has(f) && attrOf(f) == id {
				s |= 1 << f
			}
		}
	}
	return s
}

// The methods attributes return the fields of ofAttrs that records can have. A
// base that names a field can supply the host of the request, so only formats
// without fields lack it.

func (linesReader) attributes() fieldSet { return 0 }
func (proseReader) attributes() fieldSet { return 0 }
func (*htmlReader) attributes() fieldSet { return 0 }

func (*jsonReader) attributes() fieldSet  { return attributesOf(attrVHost) }
func (*tableReader) attributes() fieldSet { return attributesOf(attrVHost) }

// Which members a JSON log has depends on how it is configured.
func (*partsReader) attributes() fieldSet { return ofAttrs }

func (cdxReader) attributes() fieldSet  { return attributesOf(attrTime, attrStatus, attrVHost) }
func (cdxjReader) attributes() fieldSet { return attributesOf(attrTime, attrStatus, attrVHost) }
func (warcReader) attributes() fieldSet { return attributesOf(attrTime) }

// Lines of any of the three formats can have more fields than their format.
func (*logReader) attributes() fieldSet {
	return attributesOf(attrTime, attrStatus, attrBytes, attrClient, attrVHost, attrReferer, attrAgent)
}

func (l *layoutReader) attributes() fieldSet {
	s := attributesOf(attrVHost)
	for i := range l.elems {
		switch e := &l.elems[i]; e.kind {
		case fkReferer:
			s |= attributesOf(attrReferer)
		case fkAttr:
			s |= attributesOf(e.attr)
		}
	}
	return s
}

func (r *textReader) attributes() fieldSet {
	s := attributesOf(attrVHost)
	for i := range r.compiled {
		l := &r.compiled[i]
		for _, k := range l.attributes {
			s |= attributesOf(l.fields[k].attr)
		}
	}
	return s
}
