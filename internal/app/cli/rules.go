package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/urlfold/urlfold/codec"
	"github.com/urlfold/urlfold/internal/ground/suggest"
)

// ruleNames returns the names of all rules.
func ruleNames() []string { return codec.ProfileRules().Names() }

// signedRuleNames returns the values of --rule, for completion.
func signedRuleNames() []string {
	var names []string
	for _, name := range ruleNames() {
		names = append(names, "+"+name, "-"+name)
	}
	return names
}

// changeRules returns p with rules added ("+rfc-clean") and removed
// ("-ui-drop"). If that changes p, the name of the result includes the changes,
// in the order of the rules: "equiv+rfc-clean". The error joins all errors in
// changes.
func changeRules(p codec.Profile, changes []string) (codec.Profile, error) {
	var add, remove codec.Rules
	var errs []error
	for _, c := range changes {
		c = strings.TrimSpace(c)
		name := strings.TrimLeft(c, "+-")
		if len(c) != len(name)+1 {
			errs = append(errs, fmt.Errorf("invalid change %q: want +NAME to add a rule or -NAME to remove one", c))
			continue
		}
		_, err := suggest.Index("rule", ruleNames(), name)
		rule, _ := codec.ParseRules(name)
		switch {
		case err != nil:
			errs = append(errs, err)
		case (add|remove)&rule != 0:
			errs = append(errs, fmt.Errorf("duplicate rule %q", name))
		case c[0] == '+':
			add |= rule
		default:
			remove |= rule
		}
	}
	if p.Match != "" && len(changes) > 0 {
		errs = append(errs, fmt.Errorf("profile %s matches %s: its rules cannot be changed", p.Name, p.Program()))
	}
	if err := errors.Join(errs...); err != nil {
		return p, err
	}
	return p.Change(add, remove), nil
}
