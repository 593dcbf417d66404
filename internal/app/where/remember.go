package where

import (
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/urlfold/urlfold/internal/ground/needle"
	"github.com/urlfold/urlfold/internal/record"
)

// A survey determines whether caching the results of a condition is worthwhile.
type survey struct {
	names []string // names of fields, with repetitions
	costs bool     // the condition has regular expressions, or bot
	calls bool
}

// Visit implements [ast.Visitor].
func (s *survey) Visit(n *ast.Node) {
	switch n := (*n).(type) {
	case *ast.IdentifierNode:
		name := n.Value
		if name == bot {
			name, s.costs = fieldNames[agentField], true
		}
		s.names = append(s.names, name)
	case *ast.BinaryNode:
		s.costs = s.costs || n.Operator == "matches"
	case *ast.CallNode:
		s.calls = true
	}
}

// soleField returns the only field that a condition depends on, or -1. It also
// returns -1 for a condition that is faster than looking up a remembered
// answer.
func soleField(n ast.Node) int {
	var s survey
	ast.Walk(&n, &s)
	if names := slices.Compact(s.names); s.costs && !s.calls && len(names) == 1 {
		return slices.Index(fieldNames, names[0])
	}
	return -1
}

// remember returns a predicate with the answers of p, which depends only on the
// field. The predicate remembers the answer for each value of the field.
func remember(p predicate, field int) predicate {
	memo, absent := record.NewMemory(needle.NewMemo), p(&record.View{})
	return func(v *record.View) bool {
		t, ok := v.Field(field)
		if !ok {
			return absent
		}
		m := memo.Of(v)
		answer, known := m.Known(t)
		if !known {
			if p(v) {
				answer = 1
			}
			t, _ = v.Field(field)
			m.Put(t, answer)
		}
		return answer != 0
	}
}
