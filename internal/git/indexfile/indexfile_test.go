package indexfile

import (
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// place is a repository.
type place struct {
	t    *testing.T
	dir  string
	hash int
}

func newPlace(t *testing.T, format string, hash int) *place {
	t.Helper()
	p := &place{t, filepath.Join(t.TempDir(), "a b"), hash}
	must(t, os.MkdirAll(p.dir, 0o755))
	p.git("", "init", "-q", "--object-format="+format)
	return p
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) git(stdin string, args ...string) string {
	p.t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	c.Dir, c.Stdin = p.dir, strings.NewReader(stdin)
	c.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
	out, err := c.CombinedOutput()
	if err != nil {
		p.t.Fatalf("git %s: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *place) index() string { return filepath.Join(p.dir, ".git", "index") }

func (p *place) put(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	must(p.t, os.RemoveAll(name))
	must(p.t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(p.t, os.WriteFile(name, []byte(text), 0o644))
}

// listed is what git says of the index of this place.
func (f *File) listed() string {
	var b strings.Builder
	for e := range f.All() {
		fmt.Fprintf(&b, "%s %s 0\t%s\x00", e.Mode, e.ID, e.Path)
	}
	return b.String()
}

// Whatever is put in, git reads the index that it would have written itself, also what it
// has noted about folders, which the trees that it makes of them show.
func TestPutIsWhatGitPuts(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	for format, hash := range map[string]int{"sha1": 20, "sha256": 32} {
		p := newPlace(t, format, hash)
		names := []string{
			"a", "a.b", "a/b", "a/b/c", "a0", "b/c/d/e", "b/c/x", "b/y", "日本 \\ \"x\n", "z/" + strings.Repeat("long/", 900) + "x",
			"z/" + strings.Repeat("y", 4094), "b", "b/c", "m/1", "m/2", "m/3/4",
		}
		var ids []string
		for i := range 3 {
			ids = append(ids, p.git(fmt.Sprint(i), "hash-object", "-w", "--stdin"))
		}
		for round := range 20 {
			var info strings.Builder
			var entries []Entry
			for range 1 + r.IntN(4) {
				e := Entry{Path: names[r.IntN(len(names))], Mode: []string{"100644", "100755", "120000"}[r.IntN(3)], ID: ids[r.IntN(3)]}
				if r.IntN(3) == 0 {
					e.ID = ""
					fmt.Fprintf(&info, "0 %s\t%s\x00", strings.Repeat("0", 2*hash), e.Path)
				} else {
					fmt.Fprintf(&info, "%s %s\t%s\x00", e.Mode, e.ID, e.Path)
				}
				entries = append(entries, e)
			}
			f, err := Read(p.index(), hash)
			must(t, err)
			must(t, f.Put(entries))
			ours := filepath.Join(p.dir, ".git", "ours")
			must(t, f.Write(ours))
			p.git(info.String(), "update-index", "--replace", "--add", "-z", "--index-info")
			want := p.git("", "ls-files", "-s", "-z")
			if got := strings.TrimSpace(f.listed()); got != want {
				t.Fatalf("seed %d, round %d: %q makes\n%q\nand git makes\n%q", seed, round, entries, got, want)
			}
			tree := ""
			if round%3 != 0 { // git notes something about all folders, and about none
				tree = p.git("", "write-tree")
			}
			must(t, os.Rename(ours, p.index()))
			if got := p.git("", "ls-files", "-s", "-z"); got != want {
				t.Fatalf("seed %d: git reads\n%q\nwant\n%q", seed, got, want)
			}
			if tree != "" {
				if got := p.git("", "write-tree"); got != tree {
					t.Fatalf("seed %d: git makes %s, want %s", seed, p.git("", "ls-tree", "-r", got), p.git("", "ls-tree", "-r", tree))
				}
			}
			p.git("", "fsck", "--strict", "--no-dangling")
		}
	}
}

// What git has seen of a file holds, and a file that changed in the moment in which the
// index was written still shows.
func TestWriteKeepsWhatGitHasSeen(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "sha1", 20)
	p.put("old", "old\n")
	p.put("new", "one\n")
	at := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(filepath.Join(p.dir, "old"), at, at))
	p.git("", "add", "-A")
	p.git("", "commit", "-q", "-m", "m")
	p.put("new", "two\n")
	now := time.Now().Truncate(time.Second)
	must(t, os.Chtimes(filepath.Join(p.dir, "new"), now, now))
	p.git("", "update-index", "new") // as "two"
	must(t, os.WriteFile(filepath.Join(p.dir, "new"), []byte("six\n"), 0o644))
	must(t, os.Chtimes(filepath.Join(p.dir, "new"), now, now))
	must(t, os.Chtimes(p.index(), now, now))
	f, err := Read(p.index(), 20)
	must(t, err)
	must(t, f.Put([]Entry{{Path: "x/y", Mode: "100644", ID: p.git("old\n", "hash-object", "-w", "--stdin")}}))
	must(t, f.Write(p.index()))
	p.put("x/y", "old\n")
	if got := p.git("", "--no-optional-locks", "status", "--porcelain"); got != "MM new\nA  x/y" {
		t.Errorf("git sees %q", got)
	}
	debug := p.git("", "ls-files", "--debug", "old")
	if strings.Contains(debug, "mtime: 0:0") {
		t.Errorf("git no longer knows %s", debug)
	}
}

// An index that is not there has nothing; one that git could not have written, or that means
// something else without what is beside its entries, is refused.
func TestReadOfOthers(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "sha1", 20)
	f, err := Read(p.index(), 20)
	must(t, err)
	if got := f.listed(); got != "" {
		t.Errorf("it has %q", got)
	}
	p.put("a/b", "x")
	p.git("", "add", "-A")
	p.git("", "write-tree")
	good, err := os.ReadFile(p.index())
	must(t, err)
	bad := filepath.Join(p.dir, "bad")
	for n := range len(good) - 20 {
		must(t, os.WriteFile(bad, summed(good[:n]), 0o644))
		if _, err := Read(bad, 20); n < 84 && !errors.Is(err, errForm) {
			t.Errorf("the first %d bytes: %v", n, err)
		}
		for _, c := range []byte{0, 0xff, 'x'} {
			other := append([]byte(nil), good[:len(good)-20]...)
			other[n] = c
			must(t, os.WriteFile(bad, summed(other), 0o644))
			if _, err := Read(bad, 20); err != nil && !errors.Is(err, errForm) {
				t.Errorf("byte %d: %v", n, err)
			}
			must(t, os.WriteFile(bad, append(other, good[len(good)-20:]...), 0o644))
			if _, err := Read(bad, 20); !errors.Is(err, errForm) && other[n] != good[n] {
				t.Errorf("byte %d is not as it was written: %v", n, err)
			}
		}
	}
	for _, how := range [][2]string{
		{"--index-version=4", "--index-version=2"},
		{"--split-index", "--no-split-index"},
		{"--assume-unchanged", "--no-assume-unchanged"},
		{"--skip-worktree", "--no-skip-worktree"},
	} {
		p.git("", "update-index", how[0], "a/b")
		if _, err := Read(p.index(), 20); !errors.Is(err, errForm) {
			t.Errorf("%s: %v", how[0], err)
		}
		p.git("", "update-index", how[1], "a/b")
		if _, err := Read(p.index(), 20); err != nil {
			t.Errorf("%s: %v", how[1], err)
		}
	}
	must(t, os.Remove(bad))
	must(t, syscall.Mkfifo(bad, 0o644))
	for what, name := range map[string]string{"a folder": p.dir, "a pipe": bad} {
		if _, err := Read(name, 20); !errors.Is(err, errForm) {
			t.Errorf("%s is an index: %v", what, err)
		}
	}
}

// summed adds the sum that an index ends with.
func summed(data []byte) []byte {
	sum := sha1.Sum(data)
	return slices.Concat(data, sum[:])
}

// What cannot be written leaves the index as it was, and no lock.
func TestWriteGoesWrong(t *testing.T) {
	t.Parallel()
	p := newPlace(t, "sha1", 20)
	f, err := Read(p.index(), 20)
	must(t, err)
	for _, e := range []Entry{{"", "100644", strings.Repeat("1", 40)}, {"a", "x", strings.Repeat("1", 40)}, {"a", "100644", "12"}, {"a\x00b", "100644", strings.Repeat("1", 40)}} {
		if err := f.Put([]Entry{e}); err == nil {
			t.Errorf("%q was put in", e)
		}
	}
	must(t, os.WriteFile(p.index()+".lock", nil, 0o644))
	if err := f.Write(p.index()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("with a lock it is %v", err)
	}
	must(t, os.Remove(p.index()+".lock"))
	must(t, os.MkdirAll(filepath.Join(p.index(), "x"), 0o755))
	if err := f.Write(p.index()); err == nil {
		t.Error("a folder was replaced")
	}
	if _, err := os.Lstat(p.index() + ".lock"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the lock stays: %v", err)
	}
}

// Any bytes are read as an index or refused, and what is read is written again.
func FuzzRead(f *testing.F) {
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00"), "a")
	f.Add([]byte("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"), "a")
	f.Add([]byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00TREE\xff\xff\xff\xff"), "a")
	for _, depth := range []int{3, deepest + 1} {
		deep := nested(depth)
		f.Add(deep[:len(deep)-sha1.Size], "a/a/b")
	}
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		name := filepath.Join(t.TempDir(), "index")
		must(t, os.WriteFile(name, summed(data), 0o644))
		x, err := Read(name, 20)
		if err != nil {
			return
		}
		if x.Put([]Entry{{path, "100644", strings.Repeat("1", 40)}}) != nil {
			return
		}
		must(t, x.Write(name))
		again, err := Read(name, 20)
		must(t, err)
		if again.listed() != x.listed() {
			t.Errorf("%q became %q", x.listed(), again.listed())
		}
	})
}

// Folders that git would have noted in each other without end do not use up the stack.
func TestReadOfDeepFolders(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		depth int
		want  error
	}{{deepest, nil}, {deepest + 1, errForm}, {5_000_000, errForm}} {
		f := &File{hash: sha1.Size}
		if err := f.parse(nested(tt.depth)); !errors.Is(err, tt.want) {
			t.Errorf("%d folders in each other: %v, want %v", tt.depth, err, tt.want)
		}
	}
}

// nested is an index without entries that has noted so many folders in each other.
func nested(depth int) []byte {
	known := strings.Repeat("a\x00-1 1\n", depth) + "a\x00-1 0\n"
	b := append([]byte("DIRC"), 0, 0, 0, version, 0, 0, 0, 0)
	b = append(b, "TREE"...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(known)))
	return summed(append(b, known...))
}
