// Typecheck says whether every package of the module, tests included, has the right types
// for systems that this machine is not:
//
//	go run ./internal/test/typecheck linux/386 darwin/arm64
//
// It reads the sources of all packages, of those outside of the module the declarations alone, instead
// of compiling them as go vet does, which takes minutes for a system whose standard library is not in
// the build cache.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		errors, err := typeErrors(".", system)
		if err != nil {
			fmt.Fprintf(os.Stderr, "typecheck: %v\n", err)
			os.Exit(2)
		}
		for _, e := range errors {
			fmt.Fprintf(os.Stderr, "%s: %s\n", system, e)
			failed = true
		}
	}
	if failed {
		os.Exit(1)
	}
}

// typeErrors gives what is wrong with the packages below a folder of a module on a system such as
// linux/386.
func typeErrors(folder, system string) ([]string, error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return nil, fmt.Errorf("%q names no system; one is written as linux/386", system)
	}
	ours, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	ours += string(filepath.Separator)
	loaded, err := packages.Load(&packages.Config{
		Dir:   folder,
		Mode:  packages.LoadAllSyntax,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		Tests: true,
		ParseFile: func(files *token.FileSet, name string, src []byte) (*ast.File, error) {
			// What go makes itself to start tests lies in its cache, under a name with no ending.
			return parse(files, name, src, strings.HasPrefix(name, ours) || filepath.Ext(name) != ".go")
		},
	}, "./...")
	if err != nil {
		return nil, err
	}
	var errors []string
	for _, p := range loaded {
		for _, e := range p.Errors {
			errors = append(errors, e.Error())
		}
	}
	if len(loaded) == 0 {
		return nil, fmt.Errorf("%s has no packages", folder)
	}
	return errors, nil
}

// parse reads a file. It drops the bodies of functions in other modules and the standard
// library: checking them takes most of the time, and a mistake there is not this module's.
func parse(files *token.FileSet, name string, src []byte, ours bool) (*ast.File, error) {
	f, err := parser.ParseFile(files, name, src, parser.AllErrors|parser.SkipObjectResolution)
	if f != nil && !ours {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				fn.Body = nil
			}
		}
	}
	return f, err
}
