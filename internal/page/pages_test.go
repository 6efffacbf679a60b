package page

import (
	"slices"
	"strings"
	"testing"
	"text/template/parse"
)

// Whatever a part of a page writes has gone through a function that makes it harmless:
// a field of a record never stands there as it is.
func TestPartsEscape(t *testing.T) {
	passOn := strings.Fields("print blocks dots commas spaced colon joined named bold prefixed or when say alert details")
	figures := strings.Fields("Added Deleted Files Left ExitCode Round RetryCount Done All")
	var harmless func(n parse.Node) bool
	harmless = func(n parse.Node) bool {
		switch n := n.(type) {
		case *parse.FieldNode:
			return slices.Contains(figures, n.Ident[len(n.Ident)-1])
		case *parse.ChainNode:
			return false
		case *parse.PipeNode:
			command := n.Cmds[len(n.Cmds)-1]
			name, calls := command.Args[0].(*parse.IdentifierNode)
			if !calls {
				return harmless(command.Args[0])
			}
			args := command.Args[1:]
			if name.Ident == "when" {
				args = args[1:] // the first is not written
			}
			return !slices.Contains(passOn, name.Ident) || !slices.ContainsFunc(args, func(n parse.Node) bool { return !harmless(n) })
		}
		return true // our own words, or what a function has given
	}
	var visit func(list *parse.ListNode)
	visit = func(list *parse.ListNode) {
		if list == nil {
			return
		}
		for _, n := range list.Nodes {
			switch n := n.(type) {
			case *parse.ActionNode:
				if len(n.Pipe.Decl) == 0 && !harmless(n.Pipe) {
					t.Errorf("%s is written as it is", n)
				}
			case *parse.IfNode:
				visit(n.List)
				visit(n.ElseList)
			case *parse.RangeNode:
				visit(n.List)
				visit(n.ElseList)
			case *parse.WithNode:
				visit(n.List)
				visit(n.ElseList)
			}
		}
	}
	for _, part := range pages().Templates() {
		visit(part.Root)
	}
}
