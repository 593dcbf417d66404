// Package where compiles the expressions that decide which records are kept,
// such as
//
//	status == 200 && site == "example.com" && !flag("non-hex")
//
// The parser comes from github.com/expr-lang/expr. This package does not use
// the evaluator of that module, which takes values as interfaces and so
// allocates for each field of each record. It compiles the syntax tree to
// functions that compare the bytes of a record without copying them.
//
// Every name is an output field of package record, and each field has one of
// three kinds: a text, a decimal number, or a point in time. If a field is
// absent, every operator on it is false, and its negation (!=, not in, not
// contains and so on) is true.
//
//go:generate go test -run TestReference -update .
package where

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/urlfold/urlfold/internal/record"
)

// maxLength is the length of the longest expression, in bytes. It limits the
// depth of the syntax tree and the size of regular expressions.
const maxLength = 16 << 10

// An Expression is a compiled expression. It is immutable and safe for
// concurrent use.
type Expression struct {
	keep     predicate
	fields   []int
	untested []int
	computed []*record.Computed
	at       map[int]string // where the expression reads a field first
}

// predicate decides about a record.
type predicate func(v *record.View) bool

// Keep implements [record.Condition]. It does not allocate.
func (e *Expression) Keep(v *record.View) bool {
	v.Compute(e.computed)
	return e.keep(v)
}

// Fields implements [record.Condition].
func (e *Expression) Fields() []int { return e.fields }

// Untested returns the fields that the expression reads without a test
// has(FIELD) anywhere. If no record has any of them, the expression is probably
// a mistake.
func (e *Expression) Untested() []int { return e.untested }

// At returns the place where the expression first reads a field, such as
// "column 5".
func (e *Expression) At(field int) string { return e.at[field] }

// Compile compiles an expression. Times in it that have no zone are in zone.
// The error has the position of the mistake.
func Compile(text string, zone *time.Location) (*Expression, error) {
	if len(text) > maxLength {
		return nil, fmt.Errorf("expression too long: %d bytes, the limit is %d", len(text), maxLength)
	}
	if strings.TrimSpace(text) == "" {
		return nil, errors.New(`empty expression: expected a condition such as status == 200`)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the expression is not valid UTF-8")
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, syntaxError(text, err)
	}
	c := compiler{zone: zone, at: map[int]int{}}
	keep, err := c.condition(tree.Node)
	if err != nil {
		var e *located
		if errors.As(err, &e) {
			return nil, fmt.Errorf("%s: %w", position(text, e.at), e.err)
		}
		return nil, err
	}
	slices.Sort(c.fields)
	e := &Expression{keep: keep, fields: slices.Compact(c.fields), computed: c.computed, at: map[int]string{}}
	for i, at := range c.at {
		e.at[i] = position(text, at)
	}
	for _, i := range e.fields {
		if !slices.Contains(c.tested, i) {
			e.untested = append(e.untested, i)
		}
	}
	return e, nil
}

// A located error is about a node of the syntax tree. at is the index of the
// first rune of the node.
type located struct {
	at  int
	err error
}

func (e *located) Error() string { return e.err.Error() }
func (e *located) Unwrap() error { return e.err }

// mistake returns an error about a node.
func mistake(n ast.Node, format string, args ...any) error {
	return &located{n.Location().From, fmt.Errorf(format, args...)}
}

// syntaxError returns the parser's error in the form of this package.
func syntaxError(text string, err error) error {
	var e *file.Error
	if !errors.As(err, &e) {
		return err
	}
	what, at := e.Message, e.From
	if token, ok := strings.CutPrefix(what, "unexpected token "); ok {
		// The token is written as Operator("=") or EOF.
		if _, quoted, ok := strings.Cut(token, "("); ok {
			token = strings.TrimSuffix(quoted, ")")
		}
		what = "unexpected " + token + foreignHint([]rune(text), at, strings.Trim(token, `"`))
		if token == "EOF" {
			what, at = "unexpected end of the expression: a value or a closing parenthesis is missing", utf8.RuneCountInString(strings.TrimRight(text, " \t\r\n"))
		}
	}
	if _, cause, ok := strings.Cut(what, " literal: strconv."); ok {
		what, at = numberError(text, cause, at)
	}
	return fmt.Errorf("%s: %s", position(text, at), what)
}

// numberError returns an error for a number, and the index of the first rune of
// the number. cause is like
//
//	ParseInt: parsing "99999999999999999999": value out of range
//
// next is the index of the token after the number, or of the last token if the
// text ends with the number.
func numberError(text, cause string, next int) (what string, at int) {
	_, cause, _ = strings.Cut(cause, "parsing ")
	number, why, _ := strings.Cut(strings.Trim(cause, `"`), `": `)
	runes := []rune(text)
	before := string(runes[:min(next+1, len(runes))])
	if i := strings.LastIndex(before, number); i >= 0 {
		next = utf8.RuneCountInString(before[:i])
	}
	return fmt.Sprintf("invalid number %s: %s", number, why), next
}

// position describes the place of the rune with index at in text. Lines and
// columns count from 1, and columns count characters.
func position(text string, at int) string {
	line, column := 1, 1
	for _, r := range text {
		if at--; at < 0 {
			break
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	if !strings.Contains(strings.TrimSpace(text), "\n") {
		return fmt.Sprintf("column %d", column)
	}
	return fmt.Sprintf("line %d, column %d", line, column)
}
