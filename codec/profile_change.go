package codec

// Change returns p with rules added and removed. If that changes the profile,
// the changes are appended to its name, in the order of the rules:
// "equiv+rfc-clean".
func (p Profile) Change(add, remove Rules) Profile {
	add.set, remove.set = add.set&^p.Rules.set, remove.set&p.Rules.set
	p.Rules = p.Rules.Minus(remove).Union(add)
	for rule := range add.Union(remove).All() {
		if add.Has(rule) {
			p.Name += "+" + rule.String()
		} else {
			p.Name += "-" + rule.String()
		}
	}
	return p
}
