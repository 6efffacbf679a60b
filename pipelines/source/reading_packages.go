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
)

// Where packages and pipelines of others lie, inside Repo and as people know it, and the file there that says whose they are.
const (
	vendorFolder  = "vendor"
	vendorPath    = repoPath + "/" + vendorFolder
	VendorSources = "sources.json"
)

// packages reads the CUE packages of others, each in the folder that its import names.
func (s Sources) packages() (files []file, err error) {
	if s.Repo == nil {
		return nil, nil
	}
	err = fs.WalkDir(s.Repo, vendorFolder, func(name string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !e.Type().IsRegular() || path.Ext(name) != ".cue" {
			return err
		}
		found, err := readIn(s.Repo, name, e)
		files = append(files, found)
		return err
	})
	return files, err
}

// library is what the files of one evaluation may import besides CUE's own packages.
type library struct {
	ctx   *cue.Context
	files []file
	left  int                        // bytes that the evaluation may still read
	built map[string]*build.Instance // by import
}

func newLibrary(ctx *cue.Context, files []file) *library {
	return &library{ctx: ctx, files: files, left: maxInput, built: map[string]*build.Instance{}}
}

// evaluate gives the value of files, whose imports have been read.
func (l *library) evaluate(name string, trees ...*ast.File) cue.Value {
	i := build.NewContext().NewInstance(name, func(_ token.Pos, from string) *build.Instance { return l.built[from] })
	for _, tree := range trees {
		_ = i.AddSyntax(tree) // the value has the error
	}
	_ = i.Complete() // likewise
	l.built[name] = i
	return l.ctx.BuildInstance(i)
}

// imports reads the packages that a file imports, and finds what is wrong with them. By are the imports that led here.
// Which packages CUE has of its own, it says itself.
func (l *library) imports(tree *ast.File, by ...string) (found cueerrors.Error) {
	for imp := range tree.ImportSpecs() {
		from, _ := strconv.Unquote(imp.Path.Value) // the parser has read it
		if first, _, _ := strings.Cut(from, "/"); !strings.Contains(first, ".") || l.built[from] != nil {
			continue
		}
		if why := l.read(from, by); why != "" {
			found = cueerrors.Append(found, cueerrors.Newf(imp.Pos(), "cannot import %s: %s", from, why))
		}
	}
	return found
}

// read reads a package and what it imports in turn, and says what is wrong with it.
func (l *library) read(from string, by []string) string {
	if slices.Contains(by, from) {
		return "it imports itself"
	}
	name := ast.ParseImportPath(from).Qualifier
	folder := path.Join(vendorPath, strings.TrimSuffix(from, ":"+name))
	var trees []*ast.File
	for _, f := range l.files {
		if path.Dir(f.Name) != folder {
			continue
		}
		if l.left -= len(f.Text); l.left < 0 {
			return fmt.Sprintf("with it there is more to read than %d bytes", maxInput)
		}
		tree, err := parser.ParseFile(f.Name, f.Text, parser.ParseComments)
		if err == nil {
			err = cueerrors.Append(outsized(tree), l.imports(tree, append(slices.Clip(by), from)...))
		}
		if found := translate(err, f.Name); len(found) > 0 {
			return found[0].Error()
		}
		if is := tree.PackageName(); is != name {
			return fmt.Sprintf("%s is of the package %q, expected %q", f.Name, is, name)
		}
		trees = append(trees, tree)
	}
	if len(trees) == 0 {
		return fmt.Sprintf("there is no file %s/*.cue, and it is none of CUE's own packages, such as list and strings", folder)
	}
	err := l.evaluate(from, trees...).Validate()
	for _, at := range cueerrors.Positions(err) {
		return translate(err, at.Filename())[0].Error()
	}
	return ""
}
