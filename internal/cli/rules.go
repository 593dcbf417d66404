package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/suggest"
)

// ruleNames returns the names of all rules.
func ruleNames() []string { return codec.ProfileRules().Names() }

// signedRuleNames returns what --rule takes, for completion.
func signedRuleNames() []string {
	var names []string
	for _, name := range ruleNames() {
		names = append(names, "+"+name, "-"+name)
	}
	return names
}

// changeRules returns p with rules added ("+rfc-clean") and removed
// ("-ui-drop"). What becomes another profile by that has the changes in its name,
// in the order of the rules: "equiv+rfc-clean". The error tells all mistakes.
func changeRules(p codec.Profile, changes []string) (codec.Profile, error) {
	var add, remove codec.Rules
	var errs []error
	for _, c := range changes {
		c = strings.TrimSpace(c)
		name := strings.TrimLeft(c, "+-")
		if len(c) != len(name)+1 {
			errs = append(errs, fmt.Errorf("%q is neither +NAME, to add a rule, nor -NAME, to remove one", c))
			continue
		}
		_, err := suggest.Index("rule", ruleNames(), name)
		rule, _ := codec.ParseRules(name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case (add|remove)&rule != 0:
			errs = append(errs, fmt.Errorf("the rule %s is there twice", name))
		case c[0] == '+':
			add |= rule
		default:
			remove |= rule
		}
	}
	if err := errors.Join(errs...); err != nil {
		return p, err
	}
	return p.Change(add, remove), nil
}
