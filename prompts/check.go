package prompts

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"text/template/parse"
)

// check reads every template without carrying it out and reports each field
// and each template that does not exist, and ranges that are mere counting.
// Carrying out alone would stop at the first mistake, and would not see the
// branches that the data at hand does not take.
func check(trees map[string]*parse.Tree) Mistakes {
	c := &checker{trees: trees, seen: map[visit]bool{}, reported: map[Mistake]bool{}}
	for _, name := range roots(trees) {
		c.template(name, reflect.TypeFor[view]())
	}
	return c.found
}

// roots are the templates that are rendered by name: the steps, and whatever
// no other template calls.
func roots(trees map[string]*parse.Tree) []string {
	called := map[string]bool{}
	for _, tree := range trees {
		calls(tree.Root, called)
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if !called[name] || slices.Contains(steps(), name) {
			names = append(names, name)
		}
	}
	return names
}

// calls notes the names of all templates called under n.
func calls(n parse.Node, called map[string]bool) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				calls(child, called)
			}
		}
	case *parse.IfNode:
		calls(n.List, called)
		calls(n.ElseList, called)
	case *parse.WithNode:
		calls(n.List, called)
		calls(n.ElseList, called)
	case *parse.RangeNode:
		calls(n.List, called)
		calls(n.ElseList, called)
	case *parse.TemplateNode:
		called[n.Name] = true
	}
}

type checker struct {
	trees    map[string]*parse.Tree
	seen     map[visit]bool
	reported map[Mistake]bool
	found    Mistakes
}

// visit is a template with the type of its dot.
type visit struct {
	name string
	dot  reflect.Type
}

// template checks one template for a dot of the given type; nil is a type
// that is not known, of which everything is allowed.
func (c *checker) template(name string, dot reflect.Type) {
	tree := c.trees[name]
	if c.seen[visit{name, dot}] {
		return
	}
	c.seen[visit{name, dot}] = true
	s := &scope{c: c, tree: tree, vars: []variable{{"$", dot}}}
	s.node(dot, tree.Root)
}

func (c *checker) report(m Mistake) {
	if !c.reported[m] {
		c.reported[m] = true
		c.found = append(c.found, m)
	}
}

// scope is one template on the way through it.
type scope struct {
	c    *checker
	tree *parse.Tree
	vars []variable
}

type variable struct {
	name string
	typ  reflect.Type
}

func (s *scope) node(dot reflect.Type, n parse.Node) {
	switch n := n.(type) {
	case *parse.ListNode:
		if n != nil {
			for _, child := range n.Nodes {
				s.node(dot, child)
			}
		}
	case *parse.ActionNode:
		s.pipe(dot, n.Pipe)
	case *parse.IfNode:
		s.branch(dot, dot, &n.BranchNode)
	case *parse.WithNode:
		mark := len(s.vars)
		inner := s.pipe(dot, n.Pipe)
		s.lists(inner, dot, &n.BranchNode)
		s.vars = s.vars[:mark]
	case *parse.RangeNode:
		s.loop(dot, n)
	case *parse.TemplateNode:
		if _, ok := s.c.trees[n.Name]; !ok {
			s.c.report(at(s.tree, n, "no template %q; known: %s", n.Name, strings.Join(slices.Sorted(maps.Keys(s.c.trees)), ", ")))
			return
		}
		s.c.template(n.Name, s.pipe(dot, n.Pipe))
	}
}

func (s *scope) branch(inner, outer reflect.Type, n *parse.BranchNode) {
	mark := len(s.vars)
	s.pipe(outer, n.Pipe)
	s.lists(inner, outer, n)
	s.vars = s.vars[:mark]
}

func (s *scope) lists(inner, outer reflect.Type, n *parse.BranchNode) {
	s.node(inner, n.List)
	s.node(outer, n.ElseList)
}

func (s *scope) loop(dot reflect.Type, n *parse.RangeNode) {
	mark := len(s.vars)
	over := deref(s.pipe(dot, n.Pipe))
	var key, elem reflect.Type
	if over != nil {
		switch over.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map:
			elem = over.Elem()
		case reflect.Interface:
		default:
			// Counting to a large number would never end.
			s.c.report(at(s.tree, n, "range %s: not a list", n.Pipe))
		}
	}
	// The variables of a range hold the element, not the list.
	switch decl := n.Pipe.Decl; len(decl) {
	case 1:
		s.vars[len(s.vars)-1].typ = elem
	case 2:
		s.vars[len(s.vars)-2].typ, s.vars[len(s.vars)-1].typ = key, elem
	}
	s.lists(elem, dot, &n.BranchNode)
	s.vars = s.vars[:mark]
}

// pipe checks a pipeline, declares its variables and returns its type.
func (s *scope) pipe(dot reflect.Type, p *parse.PipeNode) reflect.Type {
	if p == nil {
		return nil
	}
	var typ reflect.Type
	for _, cmd := range p.Cmds {
		typ = s.command(dot, cmd)
	}
	for _, v := range p.Decl {
		if !p.IsAssign {
			s.vars = append(s.vars, variable{v.Ident[0], typ})
		}
	}
	return typ
}

func (s *scope) command(dot reflect.Type, cmd *parse.CommandNode) reflect.Type {
	typ := s.operand(dot, cmd.Args[0])
	for _, arg := range cmd.Args[1:] {
		s.operand(dot, arg)
	}
	return typ
}

func (s *scope) operand(dot reflect.Type, n parse.Node) reflect.Type {
	switch n := n.(type) {
	case *parse.DotNode:
		return dot
	case *parse.FieldNode:
		return s.fields(dot, n, n.Ident)
	case *parse.VariableNode:
		return s.fields(s.lookup(n.Ident[0]), n, n.Ident[1:])
	case *parse.ChainNode:
		return s.fields(s.operand(dot, n.Node), n, n.Field)
	case *parse.PipeNode:
		return s.pipe(dot, n)
	case *parse.StringNode:
		return reflect.TypeFor[string]()
	case *parse.NumberNode:
		return reflect.TypeFor[int]()
	case *parse.IdentifierNode:
		return result(n.Ident)
	}
	return nil
}

// lookup returns the type of the innermost variable of that name.
func (s *scope) lookup(name string) reflect.Type {
	for _, v := range slices.Backward(s.vars) {
		if v.name == name {
			return v.typ
		}
	}
	return nil
}

// fields follows a chain of fields from a type.
func (s *scope) fields(typ reflect.Type, n parse.Node, chain []string) reflect.Type {
	for _, name := range chain {
		typ = deref(typ)
		if typ == nil || typ.Kind() == reflect.Interface {
			return nil
		}
		if typ.Kind() != reflect.Struct {
			s.c.report(at(s.tree, n, "unknown field .%s in %s: a %s has no fields", name, n, typ.Kind()))
			return nil
		}
		f, ok := typ.FieldByName(name)
		if !ok || !f.IsExported() || f.Anonymous {
			s.c.report(at(s.tree, n, "unknown field .%s; known: %s", name, known(typ)))
			return nil
		}
		typ = f.Type
	}
	return typ
}

func deref(typ reflect.Type) reflect.Type {
	if typ != nil && typ.Kind() == reflect.Pointer {
		return typ.Elem()
	}
	return typ
}

// known lists the fields of a struct.
func known(typ reflect.Type) string {
	var names []string
	for _, f := range reflect.VisibleFields(typ) {
		if f.IsExported() && !f.Anonymous {
			names = append(names, "."+f.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// result returns what a function gives, as far as it is always the same type.
func result(name string) reflect.Type {
	if f, ok := functions()[name]; ok {
		return reflect.TypeOf(f).Out(0)
	}
	switch name {
	case "len":
		return reflect.TypeFor[int]()
	case "not", "eq", "ne", "lt", "le", "gt", "ge":
		return reflect.TypeFor[bool]()
	case "print", "printf", "println", "html", "js", "urlquery":
		return reflect.TypeFor[string]()
	}
	return nil
}
