package source

import (
	"fmt"
	"strconv"
	"strings"

	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/token"

	"github.com/reprise-ci/reprise/pipelines"
)

// maxExponent is the most digits that a number may be moved by. CUE takes
// numbers with exponents it cannot compute for 1.
const maxExponent = 10_000

// outsized finds the numbers in a syntax tree that are none to compute with.
func outsized(tree ast.Node, name string) pipelines.Mistakes {
	var found pipelines.Mistakes
	ast.Walk(tree, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if ok && (lit.Kind == token.FLOAT || lit.Kind == token.INT) && !computable(lit.Value) {
			p := lit.Pos()
			found = append(found, pipelines.Mistake{
				File: name, Line: p.Line(), Column: p.Column(),
				Message: fmt.Sprintf("the number %.40s has an exponent beyond %d; write one that can be computed with", lit.Value, maxExponent),
			})
		}
		return true
	}, nil)
	return found
}

func computable(number string) bool {
	if strings.HasPrefix(number, "0x") || strings.HasPrefix(number, "0X") {
		return true
	}
	_, exponent, ok := strings.Cut(strings.ToLower(strings.ReplaceAll(number, "_", "")), "e")
	if !ok {
		return true
	}
	n, err := strconv.Atoi(exponent)
	return err == nil && -maxExponent <= n && n <= maxExponent
}
