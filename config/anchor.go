package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxNodes is the maximum number of values and keys of a file with its aliases
// expanded. Without a limit, each line could double the number, as a list of
// two aliases of the line before does.
const maxNodes = 20000

// A resolver replaces the anchors and aliases of a document by their values, and
// adds the keys of mappings that "<<" names. Several places then share the nodes of
// an anchor.
type resolver struct {
	*document
	anchors map[string]ast.Node // nil: the resolver is still inside the anchor's value
	sizes   map[ast.Node]int    // sizes of the values of anchors
	nodes   int                 // nodes seen so far
	full    bool                // an error about the number of nodes is recorded
}

// resolve returns n without anchors and aliases. Other nodes are changed in place.
func (r *resolver) resolve(n ast.Node) ast.Node {
	r.nodes++
	switch n := n.(type) {
	case *ast.AnchorNode:
		name, before := n.Name.GetToken().Value, r.nodes
		r.anchors[name] = nil
		value := r.resolve(n.Value)
		r.anchors[name], r.sizes[value] = value, r.nodes-before
		return value
	case *ast.AliasNode:
		return r.alias(n)
	case *ast.MappingNode:
		for _, kv := range n.Values {
			kv.Value = r.resolve(kv.Value)
		}
		n.Values = r.merged(n.Values)
	case *ast.MappingValueNode:
		n.Value = r.resolve(n.Value)
		if _, merges := n.Key.(*ast.MergeKeyNode); merges {
			return ast.Mapping(n.GetToken(), false, r.merged([]*ast.MappingValueNode{n})...)
		}
	case *ast.SequenceNode:
		for i, v := range n.Values {
			n.Values[i] = r.resolve(v)
		}
	}
	return n
}

// alias returns the value of the anchor that n names. It returns n after recording
// an error.
func (r *resolver) alias(n *ast.AliasNode) ast.Node {
	value, known := r.anchors[n.Value.GetToken().Value]
	switch {
	case !known:
		r.failAt(n, "no earlier anchor has the name of this alias")
		return n
	case value == nil:
		r.failAt(n, "the alias is part of the anchor that it names")
		return n
	}
	if r.nodes += r.sizes[value]; r.nodes > maxNodes {
		if !r.full {
			r.failAt(n, fmt.Sprintf("the aliases expand to more than %d values", maxNodes))
		}
		r.full = true
		return n
	}
	return value
}

// merged returns the pairs of a mapping and of the mappings that its keys "<<"
// name. The mapping's own keys take precedence, and then the keys of the first
// named mapping.
func (r *resolver) merged(pairs []*ast.MappingValueNode) []*ast.MappingValueNode {
	isMerge := func(kv *ast.MappingValueNode) bool {
		_, is := kv.Key.(*ast.MergeKeyNode)
		return is
	}
	if !slices.ContainsFunc(pairs, isMerge) {
		return pairs
	}
	var own, more []*ast.MappingValueNode
	for _, kv := range pairs {
		list, isList := kv.Value.(*ast.SequenceNode)
		switch {
		case !isMerge(kv):
			own = append(own, kv)
		case isList:
			for _, v := range list.Values {
				more = append(more, r.values(v)...)
			}
		default:
			more = append(more, r.values(kv.Value)...)
		}
	}
	seen := map[string]bool{}
	for _, kv := range own {
		seen[kv.Key.GetToken().Value] = true
	}
	for _, kv := range more {
		if key := kv.Key.GetToken().Value; !seen[key] {
			seen[key] = true
			own = append(own, kv)
		}
	}
	return own
}

// isExtension reports whether a key at the top level is for the user's anchors.
func isExtension(name string) bool { return strings.HasPrefix(name, "x-") }
