package status

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestMain(m *testing.M) { os.Exit(isolated(m)) }

func isolated(m *testing.M) int {
	defer testenv.Isolate()()
	return m.Run()
}

const state = ".reprise/issue-7"

// place is a work tree with a git directory beside it, as a run has them.
type place struct {
	t    testing.TB
	dir  string
	tree *Tree
}

func newPlace(t testing.TB) *place {
	t.Helper()
	return newPlaceOf(t, "sha1", sha1.Size, func(data []byte) string { return fmt.Sprintf("%x", sha1.Sum(data)) })
}

func newPlaceOf(t testing.TB, format string, size int, sum func([]byte) string) *place {
	t.Helper()
	p := &place{t: t, dir: filepath.Join(t.TempDir(), "a b")}
	must(t, os.MkdirAll(p.at("."), 0o755))
	must(t, os.Mkdir(filepath.Join(p.dir, "git"), 0o755))
	p.git("init", "-q", "--object-format="+format)
	t.Cleanup(p.open)
	must(t, os.MkdirAll(p.at(state), 0o755))
	top, err := os.OpenRoot(p.at("."))
	must(t, err)
	t.Cleanup(func() { _ = top.Close() }) // opened for reading
	p.tree = &Tree{Top: top, Index: p.index(), Hash: size, Without: state, Name: func(data []byte) string {
		return sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data))
	}}
	return p
}

func (p *place) at(name string) string { return filepath.Join(p.dir, "tree", name) }

func (p *place) index() string { return filepath.Join(p.dir, "git", "index") }

// try runs git, which may say no.
func (p *place) try(index string, args ...string) (string, error) {
	c := exec.Command("git", args...)
	c.Dir = filepath.Join(p.dir, "git") // the tree may be closed
	c.Env = append(os.Environ(), "GIT_DIR="+filepath.Join(p.dir, "git"), "GIT_WORK_TREE="+p.at("."), "GIT_INDEX_FILE="+index,
		"GIT_OPTIONAL_LOCKS=0", "LC_ALL=C", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.safecrlf", "GIT_CONFIG_VALUE_0=false")
	var said strings.Builder
	c.Stderr = &said
	top, err := os.OpenRoot(p.dir)
	must(p.t, err)
	defer func() { _ = top.Close() }()    // opened for reading
	defer folders.ReleaseFromPipes(top)() // as a run does
	out, err := c.Output()
	if remarks := passedOver.ReplaceAllString(said.String(), ""); err != nil || remarks != "" {
		err = errors.Join(err, errors.New(remarks))
	}
	return string(out), err
}

// passedOver is what git says of a symbolic link that has the name of a file with settings: it
// reads none, and goes on.
var passedOver = regexp.MustCompile(`(?m)^warning: unable to access '[^'\n]*\.git(ignore|attributes)': Too many levels of symbolic links\n`)

func (p *place) git(args ...string) string {
	p.t.Helper()
	out, err := p.try(p.index(), args...)
	if err != nil {
		p.t.Fatalf("git %s: %v", args, err)
	}
	return strings.TrimSpace(out)
}

// open opens what a program closed.
func (p *place) open() {
	_ = filepath.WalkDir(p.at("."), func(name string, d fs.DirEntry, _ error) error { // what is gone need not be opened
		if d != nil && d.IsDir() {
			return os.Chmod(name, 0o755)
		}
		return nil
	})
}

func (p *place) put(name, text string) {
	p.t.Helper()
	must(p.t, os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
	must(p.t, os.WriteFile(p.at(name), []byte(text), 0o644))
}

// says is what git says of the tree, once its folders are open, with what git has seen of the
// files, and with an index that knows nothing of them, so that git reads them all.
func (p *place) says() (all []string) {
	p.t.Helper()
	p.open() // what git may not look at it passes over, with a remark
	fresh := filepath.Join(p.dir, "fresh")
	tree := p.git("write-tree")
	_, err := p.try(fresh, "read-tree", tree)
	must(p.t, err)
	for _, index := range []string{p.index(), fresh} {
		out, err := p.try(index, Arguments()...)
		if err != nil { // or a remark
			all = append(all, err.Error())
			continue
		}
		records, err := Records([]byte(out))
		must(p.t, err)
		for _, r := range records {
			if r.Path != state && !strings.HasPrefix(r.Path, state+"/") {
				all = append(all, r.Path)
			}
		}
	}
	return all
}

// inPlace gives a file other data of the same length, and sets its time back.
func (p *place) inPlace(name string) error {
	info, err := os.Lstat(p.at(name))
	if err != nil || !info.Mode().IsRegular() {
		return fs.ErrInvalid
	}
	f, err := os.OpenFile(p.at(name), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt([]byte(strings.Repeat("x", int(info.Size()))), 0)
	return errors.Join(err, f.Close(), os.Chtimes(p.at(name), info.ModTime(), info.ModTime()))
}

// read and write do not wait where a pipe stands in the place of a file.
func (p *place) read(name string) ([]byte, error) {
	f, err := os.OpenFile(p.at(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	return io.ReadAll(f)
}

func (p *place) write(name, text string) error {
	f, err := os.OpenFile(p.at(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
