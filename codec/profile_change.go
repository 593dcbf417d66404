package codec

// Change returns p with rules added and removed. If that changes the profile,
// the changes are appended to its name, in the order of the rules:
// "equiv+rfc-clean".
func (p Profile) Change(add, remove Rules) Profile {
	add, remove = add&^p.Rules, remove&p.Rules
	p.Rules = p.Rules&^remove | add
	for rule := range (add | remove).All() {
		if add.Has(rule) {
			p.Name += "+" + rule.String()
		} else {
			p.Name += "-" + rule.String()
		}
	}
	return p
}
