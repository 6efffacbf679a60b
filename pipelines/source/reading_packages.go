package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/build"
	cueerrors "cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"

	"github.com/reprise-ci/reprise/internal/text"
)

// Where the packages and whole pipelines of others lie, inside Repo and as people know it.
const (
	vendorFolder = "vendor"
	vendorPath   = repoPath + "/" + vendorFolder
)

// VendorSources is the file in the folder vendor that says where the others come from.
const VendorSources = "sources.json"

// packages reads the files of the CUE packages in the repository; each package is the folder that its import names.
func (s Sources) packages() (files []file, err error) {
	if s.Repo == nil {
		return nil, nil
	}
	err = fs.WalkDir(s.Repo, vendorFolder, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() || path.Ext(name) != ".cue" || path.Dir(name) == vendorFolder {
			return err
		}
		f, err := s.Repo.Open(name)
		if err != nil {
			return err
		}
		found, err := read(f, path.Join(repoPath, name))
		files = append(files, found)
		return err
	})
	return files, err
}

// library is what the files of one evaluation may import besides CUE's own packages.
type library struct {
	ctx    *cue.Context
	files  []file
	left   int                        // bytes that the evaluation may still read
	built  map[string]*build.Instance // by import
	within *build.Context
}

func newLibrary(ctx *cue.Context, files []file) *library {
	return &library{ctx: ctx, files: files, left: maxInput, built: map[string]*build.Instance{}, within: build.NewContext()}
}

// take counts a text against the limit of all of them together.
func (l *library) take(more string) bool {
	l.left -= len(more)
	return l.left >= 0
}

func (l *library) instance(name string, trees ...*ast.File) *build.Instance {
	i := l.within.NewInstance(name, func(_ token.Pos, imported string) *build.Instance { return l.built[imported] })
	for _, tree := range trees {
		_ = i.AddSyntax(tree) // it keeps the error itself
	}
	_ = i.Complete() // likewise
	return i
}

// imports reads the packages that a file imports, and finds what is wrong with them, each at its import.
func (l *library) imports(tree *ast.File) (found cueerrors.Error) {
	for imp := range tree.ImportSpecs() {
		if why := l.imported(imp, nil); why != "" {
			found = cueerrors.Append(found, cueerrors.Newf(imp.Pos(), "%s", why))
		}
	}
	return found
}

// imported reads the package of an import and those that it imports in turn, and says what is wrong with one of them. By
// are the packages on the way there. Which packages of its own there are, CUE says itself.
func (l *library) imported(imp *ast.ImportSpec, by []string) string {
	from, _ := strconv.Unquote(imp.Path.Value) // the parser has read it
	if first, _, _ := strings.Cut(from, "/"); !strings.Contains(first, ".") || l.built[from] != nil {
		return ""
	}
	wrong := func(format string, args ...any) string {
		return text.If(len(by) > 0, imp.Pos().String()+": ") + "cannot import " + from + ": " + fmt.Sprintf(format, args...)
	}
	way := append(slices.Clip(by), from)
	if slices.Contains(by, from) {
		return wrong("it imports itself, as %s", strings.Join(way, " imports "))
	}
	name := ast.ParseImportPath(from).Qualifier
	folder := path.Join(vendorPath, strings.TrimSuffix(from, ":"+name))
	var trees []*ast.File
	for _, f := range l.files {
		if path.Dir(f.Name) != folder {
			continue
		}
		if !l.take(f.Text) {
			return wrong("with it there is more to read than %d bytes", maxInput)
		}
		tree, err := parser.ParseFile(f.Name, f.Text, parser.ParseComments)
		if err == nil {
			err = outsized(tree)
		}
		if found := translate(err, f.Name); len(found) > 0 {
			return wrong("%v", found[0])
		}
		if is := tree.PackageName(); is != name {
			return wrong("%s is of the package %q, expected %q", f.Name, is, name)
		}
		for inner := range tree.ImportSpecs() {
			if why := l.imported(inner, way); why != "" {
				return why
			}
		}
		trees = append(trees, tree)
	}
	if len(trees) == 0 {
		return wrong("there is no file %s/*.cue, and it is none of CUE's own packages, such as list and strings", folder)
	}
	l.built[from] = l.instance(from, trees...)
	err := l.ctx.BuildInstance(l.built[from]).Validate()
	for _, at := range cueerrors.Positions(err) {
		return wrong("%v", translate(err, at.Filename())[0])
	}
	return ""
}
