package house_test

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// topLevel is all that lies at the top of the repository, besides files that
// hosts and tools look for there.
var topLevel = []string{
	"README.md", "README.ja.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", "action.yml", "go.mod", "go.sum",
	"cmd", "docs", "examples", "internal", "metadata", "phases", "pipelines", "prompts",
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s lies at the top: move it below internal, docs or examples", e.Name())
		}
	}
}

const (
	mostLines       = 3000 // of a room, without tests
	mostShare       = 12   // of all code without tests, in per cent, that one room may have
	mostMethodFiles = 4    // in which the methods of one type are
	mostKnot        = 6    // files of a room of which each needs all others
)

// largeRooms are those that do not keep to the law on lines yet, with how far they
// are from it. None may get worse, and one that keeps to the law has no place
// here. The other laws have no exceptions.
var largeRooms = map[string]int{
	"internal/git": 6357,
}

func TestSizeOfRooms(t *testing.T) {
	all, of := 0, map[string]int{}
	for _, file := range goFiles(t) {
		n := strings.Count(read(t, file), "\n")
		all += n
		of[path.Dir(file)] += n
	}
	for room, n := range of {
		if n*100 > all*mostShare {
			t.Errorf("%s has %d of %d lines, more than %d %%: give one of its ideas a room of its own", room, n, all, mostShare)
		}
	}
	holdTo(t, law{"lines of %s", mostLines, "give one of its ideas a room of its own"}, of, largeRooms)
}

// law is a limit for a figure of each room or type.
type law struct {
	what string // with %s for the name
	most int
	do   string // where it is broken
}

// holdTo holds figures to a law, or to their exception from it.
func holdTo(t *testing.T, l law, figures, exceptions map[string]int) {
	t.Helper()
	for name, n := range figures {
		if limit := max(l.most, exceptions[name]); n > limit {
			t.Errorf("%s: %d, and the most is %d: %s", fmt.Sprintf(l.what, name), n, limit, l.do)
		}
	}
	for name := range exceptions {
		if figures[name] <= l.most {
			t.Errorf("%s: %d keeps to the law now: take the exception away", fmt.Sprintf(l.what, name), figures[name])
		}
	}
}

// mostParameters is how many parameters a function may have besides its context: with
// more, those that belong together are a value.
const mostParameters = 5

func TestParameters(t *testing.T) {
	fset := token.NewFileSet()
	for _, file := range goFiles(t) {
		parsed, err := parser.ParseFile(fset, file, read(t, file), parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if n := parameters(f.Type.Params); n > mostParameters {
				t.Errorf("%s: %s has %d parameters besides its context, and the most is %d: make a value of those that belong together", fset.Position(f.Pos()), f.Name.Name, n, mostParameters)
			}
		}
	}
}

// parameters counts those that are no context.
func parameters(list *ast.FieldList) int {
	n := list.NumFields()
	for _, p := range list.List {
		if is, ok := p.Type.(*ast.SelectorExpr); ok && is.Sel.Name == "Context" {
			n -= max(1, len(p.Names))
		}
	}
	return n
}

// checkedRoom is the type-checked code of a package without its tests.
type checkedRoom struct {
	path  string // from the top of the repository
	files []*ast.File
	info  *types.Info
	fset  *token.FileSet
}

// checkedRooms type-checks all packages for the system that the test runs on.
func checkedRooms(t *testing.T) []checkedRoom {
	t.Helper()
	list := exec.Command("go", "list", "-export", "-deps", "-f", `{{.ImportPath}}|{{.Export}}|{{if not .Standard}}{{.Dir}}|{{join .GoFiles ","}}{{end}}`, "./...")
	list.Dir = root
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	exports, ours := map[string]string{}, map[string][]string{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "|")
		exports[f[0]] = f[1]
		if rel, is := strings.CutPrefix(f[0]+"/", module); is && f[3] != "" {
			for name := range strings.SplitSeq(f[3], ",") {
				ours[path.Clean(rel)] = append(ours[path.Clean(rel)], filepath.Join(f[2], name))
			}
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var rooms []checkedRoom
	for name, sources := range ours {
		r := checkedRoom{name, nil, &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}, fset}
		for _, source := range sources {
			parsed, err := parser.ParseFile(fset, source, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			r.files = append(r.files, parsed)
		}
		if _, err := (&types.Config{Importer: from}).Check(module+name, fset, r.files, r.info); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rooms = append(rooms, r)
	}
	if len(rooms) == 0 {
		t.Fatal("go list names no package of ours")
	}
	return rooms
}

func TestShapeOfRooms(t *testing.T) {
	wide, knotted := map[string]int{}, map[string]int{}
	for _, r := range checkedRooms(t) {
		for name, files := range r.methodFiles() {
			wide[r.path+" "+name] = len(files)
		}
		knotted[r.path] = largestKnot(r.uses())
	}
	holdTo(t, law{"files with methods of %s", mostMethodFiles, "put methods of one idea into one file, or give a part of it a type of its own"}, wide, nil)
	holdTo(t, law{"files in the largest knot of %s", mostKnot, "let some of these files no longer need the others"}, knotted, nil)
}

// methodFiles gives, for each type, the files that have methods of it.
func (r checkedRoom) methodFiles() map[string]map[string]bool {
	of := map[string]map[string]bool{}
	for _, file := range r.files {
		for _, d := range file.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv == nil {
				continue
			}
			receiver := fn.Recv.List[0].Type
			if star, ok := receiver.(*ast.StarExpr); ok {
				receiver = star.X
			}
			if generic, ok := receiver.(*ast.IndexExpr); ok {
				receiver = generic.X
			}
			name := receiver.(*ast.Ident).Name
			if of[name] == nil {
				of[name] = map[string]bool{}
			}
			of[name][r.fset.File(file.Pos()).Name()] = true
		}
	}
	return of
}

// uses gives, for each file, the other files of the room whose declarations it
// uses.
func (r checkedRoom) uses() map[string]map[string]bool {
	needs := map[string]map[string]bool{}
	own := map[string]bool{}
	for _, file := range r.files {
		name := r.fset.File(file.Pos()).Name()
		own[name], needs[name] = true, map[string]bool{}
	}
	for id, object := range r.info.Uses {
		if object.Pos() == token.NoPos || r.fset.File(object.Pos()) == nil {
			continue
		}
		if from, to := r.fset.File(id.Pos()).Name(), r.fset.File(object.Pos()).Name(); from != to && own[to] {
			needs[from][to] = true
		}
	}
	return needs
}

// largestKnot gives the size of the largest set of files of which each needs
// every other, if only by way of a third. Tarjan, Depth-first search and linear
// graph algorithms, 1972.
func largestKnot(needs map[string]map[string]bool) int {
	order, low, on, stack, largest := map[string]int{}, map[string]int{}, map[string]bool{}, []string(nil), 0
	var visit func(file string)
	visit = func(file string) {
		order[file] = len(order) + 1
		low[file] = order[file]
		stack, on[file] = append(stack, file), true
		for next := range needs[file] {
			if order[next] == 0 {
				visit(next)
				low[file] = min(low[file], low[next])
			} else if on[next] {
				low[file] = min(low[file], order[next])
			}
		}
		if low[file] != order[file] {
			return
		}
		at := slices.Index(stack, file)
		for _, done := range stack[at:] {
			on[done] = false
		}
		largest = max(largest, len(stack)-at)
		stack = stack[:at]
	}
	for file := range needs {
		if order[file] == 0 {
			visit(file)
		}
	}
	return largest
}

func TestLargestKnot(t *testing.T) {
	graph := func(arrows ...string) map[string]map[string]bool {
		needs := map[string]map[string]bool{}
		for _, a := range arrows {
			from, to, _ := strings.Cut(a, ">")
			if needs[from] == nil {
				needs[from] = map[string]bool{}
			}
			needs[from][to] = true
		}
		return needs
	}
	for want, needs := range map[int]map[string]map[string]bool{
		1: graph("a>b", "b>c", "a>c"),
		2: graph("a>b", "b>a", "b>c"),
		3: graph("a>b", "b>c", "c>a", "d>a", "e>f", "f>e"),
	} {
		if got := largestKnot(needs); got != want {
			t.Errorf("%v: %d, want %d", needs, got, want)
		}
	}
}
