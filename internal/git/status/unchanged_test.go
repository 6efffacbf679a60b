package status

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/git/indexfile"
)

// filled has some files that are as the index has them.
func filled(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	p.put(".gitignore", "*.o\n")
	p.put("a", "text\n")
	p.put("empty", "")
	p.put("d/e/b", "text\n")
	p.put("f/e/b", "else\n")
	p.put(".reprise/config", "text\n")
	p.put(state+"/record", "{}")
	must(t, os.Symlink("a", p.at("link")))
	must(t, os.Chmod(p.at("a"), 0o755))
	p.git("add", "-A")
	return p
}

func (p *place) holds(want bool, when string, args ...any) {
	p.t.Helper()
	if got := p.tree.Unchanged(); got != want {
		p.t.Errorf("%s: unchanged is %t", fmt.Sprintf(when, args...), got)
	}
}

// Where nothing changed, git is not asked, also where the times of files say nothing.
func TestUnchanged(t *testing.T) {
	t.Parallel()
	p := filled(t)
	p.holds(true, "nothing was done")
	now := time.Now()
	must(t, os.Chtimes(p.at("a"), now, now))
	p.holds(true, "a file was touched")
	p.put(".git/config", "of a program")
	p.put(state+"/new", "new")
	must(t, os.Remove(p.at(state+"/record")))
	p.holds(true, "the state folder changed")
	must(t, os.RemoveAll(p.at(state)))
	p.holds(true, "it is gone")
	must(t, os.RemoveAll(p.at(".reprise")))
	p.holds(false, "with a file of the repository")
	p.git("checkout-index", "-f", "-a")
	p.holds(true, "that is there again")
	must(t, os.WriteFile(p.at("a"), []byte("TEXT\n"), 0o755))
	p.holds(false, "a file changed")
	p.put("a", "text\n")
	p.holds(true, "it is as before")
	must(t, os.Remove(p.at("d/e/b")))
	p.holds(false, "a file is gone")
}

// It is the same in a repository with longer names of objects.
func TestUnchangedSHA256(t *testing.T) {
	t.Parallel()
	p := newPlaceOf(t, "sha256", sha256.Size, func(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) })
	p.put("a", "text\n")
	p.put("d/a", "text\n")
	p.git("add", "-A")
	now := time.Now()
	must(t, os.Chtimes(p.at("d/a"), now, now))
	p.holds(true, "a file was touched")
	must(t, p.inPlace("a"))
	p.holds(false, "a file changed")
}

// While what ended a look is there, nothing else is looked at; after that, all is again.
func TestStops(t *testing.T) {
	t.Parallel()
	p := filled(t)
	for _, what := range []string{"a.o", "d/made.o", "d/e/.git", "new"} {
		p.put(what, "x")
		for range 2 {
			p.holds(false, "%s is there", what)
			if p.tree.stopped != what {
				t.Errorf("%s: the look ended at %q", what, p.tree.stopped)
			}
		}
		must(t, os.Remove(p.at(what)))
		p.holds(true, "%s is gone", what)
	}
	must(t, os.Link(p.at("a"), p.at(state+"/a")))
	p.holds(false, "a file has a second name")
	must(t, os.Remove(p.at(state+"/a")))
	p.holds(true, "it has not any more")
}

// What a program does to have a change passed over does not help it.
func TestTricks(t *testing.T) {
	t.Parallel()
	for what, do := range map[string]func(p *place) error{
		"other data of the same length and time": func(p *place) error { return p.inPlace("a") },
		"the same in another file": func(p *place) error {
			return errors.Join(os.Rename(p.at("a"), p.at(state+"/a")), os.WriteFile(p.at("a"), []byte("tExt\n"), 0o755))
		},
		"another mode": func(p *place) error { return os.Chmod(p.at("a"), 0o644) },
		"a file in the place of a link, with its data": func(p *place) error {
			return errors.Join(os.Remove(p.at("link")), os.WriteFile(p.at("link"), []byte("a"), 0o644))
		},
		"a link in the place of a file, to its data": func(p *place) error {
			return errors.Join(os.Rename(p.at("a"), p.at(state+"/a")), os.Symlink(state+"/a", p.at("a")))
		},
		"a link in the place of a folder, to its files": func(p *place) error {
			return errors.Join(os.Rename(p.at("d"), p.at(state+"/d")), os.Symlink(state+"/d", p.at("d")))
		},
		"a link in the place of the folder above the state folder": func(p *place) error {
			return errors.Join(os.Rename(p.at(".reprise"), p.at(".git")), os.Symlink(".git", p.at(".reprise")))
		},
		"a file moved":             func(p *place) error { return os.Rename(p.at("d/e/b"), p.at("d/b")) },
		"a repository in a folder": func(p *place) error { return os.Mkdir(p.at("d/.git"), 0o755) },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			p := filled(t)
			p.holds(true, "nothing was done")
			must(t, do(p))
			p.holds(false, "it was done")
		})
	}
}

// A file is trusted only if all that git noted about it is as it was, from before the index
// was written.
func TestTrusted(t *testing.T) {
	t.Parallel()
	is := unix.Stat_t{Mode: unix.S_IFREG | 0o644, Dev: 1, Ino: 2, Uid: 3, Gid: 4, Size: 5}
	is.Ctim.Sec, is.Ctim.Nsec, is.Mtim.Sec, is.Mtim.Nsec = 100, 7, 90, 8
	noted := seen(&is)
	for written, want := range map[indexfile.Stamp]bool{
		{Seconds: 101}: true, {Seconds: 100, Nanoseconds: 8}: true,
		{Seconds: 100, Nanoseconds: 7}: false, {Seconds: 99, Nanoseconds: 9}: false, {}: false,
	} {
		if got := trusted(noted, &is, written); got != want {
			t.Errorf("index written at %v: %t", written, got)
		}
	}
	older := is // a program set the other time
	older.Ctim.Sec, older.Mtim.Sec = 80, 100
	for written, want := range map[indexfile.Stamp]bool{{Seconds: 100, Nanoseconds: 9}: true, {Seconds: 100, Nanoseconds: 8}: false} {
		if got := trusted(seen(&older), &older, written); got != want {
			t.Errorf("index written at %v, older data: %t", written, got)
		}
	}
	empty := is
	empty.Size = 0
	if trusted(seen(&empty), &empty, indexfile.Stamp{Seconds: 101}) {
		t.Error("what git marked to be looked at again is trusted")
	}
	for _, field := range []func(s *unix.Stat_t){
		func(s *unix.Stat_t) { s.Ctim.Sec-- }, func(s *unix.Stat_t) { s.Ctim.Nsec-- },
		func(s *unix.Stat_t) { s.Mtim.Sec-- }, func(s *unix.Stat_t) { s.Mtim.Nsec-- },
		func(s *unix.Stat_t) { s.Dev++ }, func(s *unix.Stat_t) { s.Ino++ }, func(s *unix.Stat_t) { s.Uid++ },
		func(s *unix.Stat_t) { s.Gid++ }, func(s *unix.Stat_t) { s.Size++ }, func(s *unix.Stat_t) { s.Mode |= 0o100 },
		func(s *unix.Stat_t) { s.Mode = unix.S_IFLNK | 0o777 }, func(s *unix.Stat_t) { s.Mode = unix.S_IFIFO | 0o644 },
	} {
		other := is
		field(&other)
		if trusted(noted, &other, indexfile.Stamp{Seconds: 101}) {
			t.Errorf("trusted in place of %+v: %+v", is, other)
		}
	}
	if n := reflect.TypeFor[indexfile.Seen]().NumField(); n != 8 {
		t.Errorf("git notes %d things: try each here", n)
	}
}

// Two files that are alike but for what is in them, as old as each other, change places with
// their folders, which leaves their times alone.
func TestSwappedFolders(t *testing.T) {
	t.Parallel()
	p := filled(t)
	at := time.Now().Add(-time.Hour)
	for range 1000 {
		p.put("d/e/b", "text\n")
		p.put("f/e/b", "else\n")
		must(t, os.Chtimes(p.at("d/e/b"), at, at))
		must(t, os.Chtimes(p.at("f/e/b"), at, at))
		var a, b unix.Stat_t
		must(t, unix.Lstat(p.at("d/e/b"), &a))
		must(t, unix.Lstat(p.at("f/e/b"), &b))
		if a.Ctim != b.Ctim {
			must(t, os.Remove(p.at("d/e/b")))
			must(t, os.Remove(p.at("f/e/b")))
			continue
		}
		time.Sleep(50 * time.Millisecond)
		p.git("add", "-A")
		p.holds(true, "nothing was done")
		must(t, os.Rename(p.at("d/e"), p.at("d/away")))
		must(t, os.Rename(p.at("f/e"), p.at("d/e")))
		must(t, os.Rename(p.at("d/away"), p.at("f/e")))
		p.holds(false, "the folders changed places")
		return
	}
	t.Error("the system gave no two files the same time")
}

// A file as old as the index may have changed after git had looked, so it is read. The
// index is made to tell of another object than the one that the file has.
func TestAsOldAsTheIndex(t *testing.T) {
	t.Parallel()
	p := filled(t)
	before, err := os.Stat(p.at("d/e/b"))
	must(t, err)
	data, err := os.ReadFile(p.index())
	must(t, err)
	id := func(text string) []byte {
		b, err := hex.DecodeString(p.tree.Name([]byte(text)))
		must(t, err)
		return b
	}
	end := len(data) - sha1.Size
	data = bytes.ReplaceAll(data[:end], id("else\n"), id("other"))
	sum := sha1.Sum(data)
	must(t, os.WriteFile(p.index(), append(data, sum[:]...), 0o644))
	later := before.ModTime().Add(time.Hour)
	must(t, os.Chtimes(p.index(), later, later))
	p.holds(true, "git looked long after the files were written")
	must(t, os.Chtimes(p.index(), before.ModTime(), before.ModTime()))
	p.holds(false, "git looked when the files were written")
}

// What makes an index an unusual one is left to git.
func TestUnusualIndex(t *testing.T) {
	t.Parallel()
	for _, how := range []string{
		"update-index --index-version 4", "update-index --split-index", "update-index --assume-unchanged a",
		"update-index --skip-worktree a", "update-index --add --cacheinfo 160000,1111111111111111111111111111111111111111,d/module",
	} {
		p := filled(t)
		p.holds(true, "nothing was done")
		p.git(strings.Fields(how)...)
		if strings.Contains(how, "module") {
			must(t, os.Mkdir(p.at("d/module"), 0o755))
		}
		p.holds(false, "%s", how)
	}
	p := filled(t)
	p.put("new", "new")
	p.git("add", "-N", "new")
	p.holds(false, "a file is to be added")
	p = filled(t)
	must(t, os.Truncate(p.index(), 100))
	p.holds(false, "the index is damaged")
	must(t, os.Remove(p.index()))
	p.holds(false, "there is none")
}

// What would take longer than git is left to git.
func TestMuchToLookAt(t *testing.T) {
	t.Parallel()
	p := filled(t)
	for i := range 4 {
		p.put(fmt.Sprintf("large%d", i), strings.Repeat("x", mostBytes/3))
	}
	time.Sleep(50 * time.Millisecond) // the index is to be younger than the files
	p.git("add", "-A")
	p.holds(true, "files need not be read")
	now := time.Now()
	for i := range 4 {
		must(t, os.Chtimes(p.at(fmt.Sprintf("large%d", i)), now, now))
	}
	p.holds(false, "much would have to be read")
	for i := range 3000 {
		p.put(fmt.Sprintf("many/%d", i), "")
	}
	p.git("add", "-A")
	p.holds(false, "there are many files")
}

// BenchmarkUnchanged is to be compared with BenchmarkStatus.
func BenchmarkUnchanged(b *testing.B) {
	for _, n := range []int{50, 500, 1000, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := many(b, n)
			for b.Loop() {
				if !p.tree.Unchanged() {
					b.Fatal("git would have to be asked")
				}
			}
		})
	}
}

// BenchmarkStatus is what git does for the same.
func BenchmarkStatus(b *testing.B) {
	for _, n := range []int{50, 500, 1000, 2000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			p := many(b, n)
			for b.Loop() {
				p.git(Arguments()...)
			}
		})
	}
}

func many(b *testing.B, n int) *place {
	p := newPlace(b)
	for i := range n {
		p.put(fmt.Sprintf("pkg%d/sub%d/file_%d.go", i%10, i/10%10, i), "package sub")
	}
	time.Sleep(1100 * time.Millisecond) // an index as young as the files makes git read all of them
	p.git("add", "-A")
	return p
}
