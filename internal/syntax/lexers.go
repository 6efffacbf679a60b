package syntax

import (
	"archive/zip"
	"bytes"
	_ "embed"
	"io/fs"
	"sync"

	"github.com/alecthomas/chroma/v2"
)

// lexersZip has lexers of chroma in its own format. They are kept apart from it because
// its package that has all of them makes the program 4 MB larger.
//
// TestLexersAreThoseOfChroma compares them with those of the version that is used; with
// -update it writes them.
//
//go:embed lexers.zip
var lexersZip []byte

// lexers reads which files the lexers are for, when the first of them is asked for. The
// rules of one are read when it is used.
var lexers = sync.OnceValue(func() *chroma.LexerRegistry {
	all := chroma.NewLexerRegistry()
	files, err := zip.NewReader(bytes.NewReader(lexersZip), int64(len(lexersZip)))
	if err != nil {
		panic(err) // it is a part of the program
	}
	names, err := fs.Glob(files, "*.xml")
	if err != nil {
		panic(err)
	}
	for _, name := range names {
		all.Register(chroma.MustNewXMLLexer(files, name))
	}
	return all
})
