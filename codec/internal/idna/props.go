package idna

// Values of the mapping table (UTS 46, section 5). Values from firstMapped on
// number the strings of mapText.
const (
	disallowed = iota
	valid      // including the deviation characters, which nontransitional processing keeps
	ignored
	firstMapped
)

// mapValue returns the value of the mapping table for r.
func mapValue(r rune) uint16 { return mapValues.At(r) }

// mapped returns the string to which a value of the mapping table maps.
func mapped(value uint16) string {
	i := int(value - firstMapped)
	return mapText[mapOffsets.At(i):mapOffsets.At(i+1)]
}

// The flags of props.
const (
	mark          = 1 << iota // General_Category Mark
	decomposes                // has a canonical decomposition
	composes                  // may be the second character of a composition: NFC_Quick_Check=Maybe
	excludedNFC               // never in NFC: NFC_Quick_Check=No
	hiddenDisplay             // ignorable, white space, bidi control or noncharacter
)

// A bidiClass is a Bidi_Class that RFC 5893 mentions, or zero for any other.
type bidiClass uint8

const (
	bidiL bidiClass = 1 + iota
	bidiR
	bidiAL
	bidiAN
	bidiEN
	bidiES
	bidiCS
	bidiET
	bidiON
	bidiBN
	bidiNSM
)

// The values of Joining_Type.
const (
	joiningU = iota
	joiningC
	joiningD
	joiningL
	joiningR
	joiningT
)

// virama is the Canonical_Combining_Class of the signs to which RFC 5892 A.1
// and A.2 refer.
const virama = 9

// props holds the properties of a code point that normalization and the
// validity criteria need.
type props struct {
	ccc     uint8 // Canonical_Combining_Class
	bidi    bidiClass
	joining uint8
	flags   uint8
}

// propsOf returns the properties of r.
func propsOf(r rune) props {
	b := records[4*int(recordOf.At(r)):][:4]
	return props{b[0], bidiClass(b[1]), b[2], b[3]}
}

// scriptsOf returns the Script_Extensions of r, augmented as UTS 39, section
// 5.1 prescribes.
func scriptsOf(r rune) (set scriptSet) {
	first := int(scriptSetOf.At(r)) * len(set)
	for i := range set {
		set[i] = scriptSets.At(first + i)
	}
	return set
}
