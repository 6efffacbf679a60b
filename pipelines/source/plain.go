package source

import (
	"cmp"
	"slices"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
)

// The most bytes of a text and of a value that need no process of their own.
const (
	mostPlain      = 4 << 10
	mostPlainValue = 64 << 10
)

// plain reports whether a request holds a value against a text that lists fields, types, values and bounds:
// it refers to nothing and computes nothing, and its alternatives cannot multiply.
func (r request) plain() bool {
	a := cmp.Or(r.Report, r.When)
	if a == nil || len(a.Text) > mostPlain || len(a.Value) > mostPlainValue || strings.Contains(a.Text, "&") && strings.Contains(a.Text, "|") {
		return false
	}
	tree, err := parser.ParseFile("", a.Text)
	if err != nil || len(Outsized(tree, "")) > 0 {
		return false
	}
	if len(tree.Decls) == 1 {
		if whole, is := tree.Decls[0].(*ast.EmbedDecl); is {
			return plainNode(whole.Expr)
		}
	}
	return plainFields(tree.Decls)
}

func plainNode(n ast.Expr) bool {
	switch n := n.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return n.Name == "_" || slices.Contains(typeWords(), n.Name)
	case *ast.UnaryExpr:
		return plainNode(n.X)
	case *ast.ParenExpr:
		return plainNode(n.X)
	case *ast.BinaryExpr:
		return (n.Op == token.AND || n.Op == token.OR) && plainNode(n.X) && plainNode(n.Y)
	case *ast.Ellipsis:
		return n.Type == nil || plainNode(n.Type)
	case *ast.ListLit:
		return !slices.ContainsFunc(n.Elts, func(e ast.Expr) bool { return !plainNode(e) })
	case *ast.StructLit:
		return plainFields(n.Elts)
	}
	return false
}

// plainFields wants each field once, as two of a name are held against each other, and none that is called as
// a type is, which would then be a reference to it.
func plainFields(all []ast.Decl) bool {
	seen := map[string]bool{}
	for _, d := range all {
		switch d := d.(type) {
		case *ast.Ellipsis:
			if d.Type != nil {
				return false
			}
		case *ast.Field:
			name, _, err := ast.LabelName(d.Label)
			if err != nil || seen[name] || slices.Contains(typeWords(), name) || !plainNode(d.Value) {
				return false
			}
			seen[name] = true
		default:
			return false
		}
	}
	return true
}
