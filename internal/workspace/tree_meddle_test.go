package workspace

import (
	"errors"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"pgregory.net/rapid"
)

// meddling is what something that outlived its agent does to the tree.
type meddling struct {
	Moments []moment
	Race    uint64 // not 0: it also does this and that all the time
}

// moment is one thing that it does.
type moment struct {
	At       int // counted in what reprise asks of the branch and in the staged files that it looks at
	Do, What string
}

const (
	knownValue = "known-value-0123456789abcdef"
	codeFolder = ".reprise/issue-7/00_code"
)

// meddled are the files it does something to.
var meddled = []string{
	"code.go", "new.go", "lib/a.go", codeFolder + "/code.md", codeFolder + "/extra.md",
	".gitattributes", ".gitignore", "lib/.gitignore", "CLAUDE.md", ".github/workflows/x.yml",
}

// meddle are what it does, by name. Any of it may fail: others are at it. All of
// it stays in the tree, whatever links there are.
func meddle() map[string]func(top *os.Root, name string) {
	text := func(text string) func(*os.Root, string) {
		return func(top *os.Root, name string) { _ = meddledFile(top, name, text) }
	}
	return map[string]func(top *os.Root, name string){
		"known value": text("a\n" + knownValue + "\n"),
		"shape":       text("key = AKIA" + "Q3EGRIV2N5XZWMKT\n"),
		"other text":  text("other\ntext\nof\nfive\nlines\n"),
		"first text":  text("package calc // by the agent\n"),
		"empty":       text(""),
		"program":     text("\x7fELF\x00\x01"),
		"binary":      text("a\x00b"),
		"attributes":  text("* -diff\n*.md -text\n* filter=lfs\n*.go merge=union\n"),
		"ignore":      text("*\n"),
		"executable":  func(top *os.Root, name string) { _ = top.Chmod(name, 0o755) },
		"locked":      func(top *os.Root, name string) { _ = top.Chmod(name, 0) },
		"removed":     func(top *os.Root, name string) { _ = top.RemoveAll(name) },
		"link":        func(top *os.Root, name string) { _, _ = top.RemoveAll(name), top.Symlink(outside(top), name) },
		"hard link":   func(top *os.Root, name string) { _, _ = top.RemoveAll(name), top.Link("lib/a.go", name) },
		"folder":      func(top *os.Root, name string) { _, _ = top.RemoveAll(name), meddledFile(top, name+"/x", "x") },
		"pipe": func(top *os.Root, name string) {
			_, _, _ = syscall.Mkfifo(top.Name()+"/pipe", 0o644), top.RemoveAll(name), top.Rename("pipe", name)
		},
		"huge": func(top *os.Root, name string) {
			if meddledFile(top, name, "x") == nil {
				if f, err := top.OpenFile(name, os.O_WRONLY|syscall.O_NONBLOCK, 0); err == nil {
					_, _ = f.Truncate(40<<20), f.Close()
				}
			}
		},
		"renamed folder": func(top *os.Root, name string) {
			if at := path.Dir(name); at != "." {
				_, _ = top.Rename(at, at+"-away"), top.Symlink(outside(top), at)
			}
		},
		"renamed back": func(top *os.Root, name string) {
			if at := path.Dir(name); at != "." {
				_, _ = top.Remove(at), top.Rename(at+"-away", at)
			}
		},
	}
}

// outside is a folder beside the tree that nobody may write to through a link.
func outside(top *os.Root) string {
	return filepath.Join(filepath.Dir(filepath.Dir(top.Name())), "outside")
}

// meddledFile writes a file of the tree, and does not wait for a pipe that stands
// in its place.
func meddledFile(top *os.Root, name, text string) error {
	_, _ = top.MkdirAll(path.Dir(name), 0o755), top.RemoveAll(name)
	f, err := top.OpenFile(name, os.O_CREATE|os.O_TRUNC|os.O_WRONLY|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func someMeddling(t *rapid.T) meddling {
	var m meddling
	names := slices.Sorted(maps.Keys(meddle()))
	for range rapid.IntRange(1, 6).Draw(t, "moments") {
		m.Moments = append(m.Moments, moment{
			rapid.IntRange(1, 16).Draw(t, "at"), rapid.SampledFrom(names).Draw(t, "do"), rapid.SampledFrom(meddled).Draw(t, "what"),
		})
	}
	if rapid.IntRange(0, 2).Draw(t, "race") == 0 {
		m.Race = 1 + rapid.Uint64Max(1000).Draw(t, "seed")
	}
	return m
}

// race does this and that until it is stopped. Others are at it: whatever fails,
// it goes on. It leaves out pipes: one that is taken away again while git waits for
// it, nobody can find any more.
func race(top *os.Root, seed uint64, stop <-chan struct{}) {
	all, draw := meddle(), rand.New(rand.NewPCG(seed, 1))
	delete(all, "pipe")
	delete(all, "huge") // it would be at that alone
	names := slices.Sorted(maps.Keys(all))
	for {
		select {
		case <-stop:
			return
		case <-time.After(time.Duration(draw.IntN(2000)) * time.Microsecond):
			all[names[draw.IntN(len(names))]](top, meddled[draw.IntN(len(meddled))])
		}
	}
}
