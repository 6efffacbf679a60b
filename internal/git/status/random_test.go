package status

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/ordinary"
)

// Whatever a program does to a tree, nothing is said to have changed only if git finds
// nothing either, also if it reads all files.
func TestUnchangedIsWhatGitSays(t *testing.T) {
	ordinary.Test(t, func(t *testing.T) { asGitSays(t, 6) })
}

func asGitSays(t *testing.T, rounds int) {
	seed := rand.Uint64()
	if said := os.Getenv("SEED"); said != "" {
		_, err := fmt.Sscan(said, &seed)
		must(t, err)
	}
	for round := range rounds {
		p := &program{newPlace(t), rand.New(rand.NewPCG(seed, uint64(round)))}
		ends, module := round%6 == 1, round%6 == 2
		p.fill(ends, module)
		p.git("add", "-A", "-f")
		if got := p.tree.Unchanged(); got == module {
			t.Errorf("seed %d, round %d: nothing was done, and that is said: %t", seed, round, got)
		}
		for range 12 {
			var did []string
			for range p.IntN(3) {
				did = append(did, p.does())
			}
			unchanged, says := p.tree.Unchanged(), p.says()
			if unchanged && len(says) > 0 {
				t.Fatalf("seed %d, round %d: after %q nothing is said to have changed, and git says %q", seed, round, did, says)
			}
			p.goesOn()
		}
	}
}

// program does to a tree what programs do.
type program struct {
	*place
	*rand.Rand
}

// clean removes what is not in the index, also what git passes over.
func (p *program) clean() {
	known := strings.Split(p.git("ls-files", "-z"), "\x00")
	must(p.t, filepath.WalkDir(p.at("."), func(name string, d fs.DirEntry, err error) error {
		at, _ := filepath.Rel(p.at("."), name)
		switch {
		case err != nil || at == "." || at == ".reprise" || slices.Contains(known, at):
			return err
		case at == state:
			return fs.SkipDir
		case !d.IsDir():
			return os.Remove(name)
		case slices.ContainsFunc(known, func(k string) bool { return strings.HasPrefix(k, at+"/") }):
			return nil
		}
		must(p.t, os.RemoveAll(name))
		return fs.SkipDir
	}))
}

// names are few, so that things happen in the place of each other.
var names = []string{"a", "b", "a.o", "d/a", "d/b", "d/e/a", "d/e/b", "f/a", "f/b", "f.b/a", "ü\n/\"x", ".reprise/config", "out/kept"}

func (p *program) text() string { return fmt.Sprintf("text %d\n", p.IntN(10)) }

func (p *program) name() string { return names[p.IntN(len(names))] }

func (p *program) fill(ends, module bool) {
	p.put(".gitignore", "*.o\nout/\n")
	if ends {
		p.put(".gitattributes", "* text=auto eol=crlf\n")
	}
	for _, name := range names {
		switch p.IntN(6) {
		case 0:
		case 1:
			must(p.t, os.MkdirAll(filepath.Dir(p.at(name)), 0o755))
			must(p.t, os.Symlink("a", p.at(name)))
		case 2:
			p.put(name, "")
		default:
			p.put(name, p.text())
			must(p.t, os.Chmod(p.at(name), []fs.FileMode{0o644, 0o755}[p.IntN(2)]))
		}
	}
	if module {
		p.git("update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat("1", 40)+",module")
		must(p.t, os.Mkdir(p.at("module"), 0o755))
	}
}

// does does one thing, and says what.
func (p *program) does() string {
	all := []struct {
		what string
		do   func(name string) error
	}{
		{"writes", p.writes},
		{"writes in place, and sets the time back", p.inPlace},
		{"puts another file of the same size and time in the place of", func(name string) error {
			info, err := os.Lstat(p.at(name))
			if err != nil {
				return err
			}
			text := strings.Repeat("y", int(info.Size()))
			if err = errors.Join(p.write("y", text), os.Chmod(p.at("y"), info.Mode().Perm())); err == nil {
				err = os.Chtimes(p.at("y"), info.ModTime(), info.ModTime())
			}
			if err == nil {
				err = os.Rename(p.at("y"), p.at(name))
			}
			return err
		}},
		{"turns the mode of", func(name string) error {
			info, err := os.Lstat(p.at(name))
			if err == nil && info.Mode().IsRegular() {
				err = os.Chmod(p.at(name), info.Mode().Perm()^0o111)
			}
			return err
		}},
		{"touches", func(name string) error { return os.Chtimes(p.at(name), time.Time{}, time.Now()) }},
		{"closes", func(name string) error { return os.Chmod(p.at(name), 0) }},
		{"closes the folder of", func(name string) error {
			return os.Chmod(p.at(path.Dir(name)), []fs.FileMode{0, 0o300, 0o400, 0o500}[p.IntN(4)])
		}},
		{"removes", func(name string) error { return os.Remove(p.at(name)) }},
		{"removes the folder of", func(name string) error { return os.RemoveAll(p.at(strings.SplitN(name, "/", 2)[0])) }},
		{"makes the same again:", func(name string) error {
			data, err := p.read(name)
			if err == nil {
				err = os.Remove(p.at(name))
			}
			if err == nil {
				err = p.write(name, string(data))
			}
			return err
		}},
		{"makes a link of", func(name string) error {
			data, err := p.read(name)
			if err == nil {
				err = os.Remove(p.at(name))
			}
			if err == nil {
				err = os.Symlink(string(data)+"b", p.at(name))
			}
			return err
		}},
		{"gives a second name to", func(name string) error { return p.instead(name, os.Link) }},
		{"moves something to", func(name string) error { return p.instead(name, os.Rename) }},
		{"swaps something with", func(name string) error { return p.swap(name, p.any(false)) }},
		{"swaps a folder with", func(string) error { return p.swap(p.any(true), p.any(true)) }},
		{"moves away and links to", func(name string) error {
			away := filepath.Join(p.at(state), fmt.Sprint(p.Uint32()))
			top := p.at(strings.SplitN(name, "/", 2)[0])
			err := os.Rename(top, away)
			if err == nil {
				err = os.Symlink(away, top)
			}
			return err
		}},
		{"makes a folder in the place of", func(name string) error {
			_ = os.Remove(p.at(name)) // or it is one
			return os.MkdirAll(p.at(name), 0o755)
		}},
		{"makes a pipe in the place of", func(name string) error {
			if err := os.Remove(p.at(name)); err != nil {
				return err
			}
			return syscall.Mkfifo(p.at(name), 0o644)
		}},
		{"makes a repository beside", func(name string) error {
			return exec.Command("git", "init", "-q", filepath.Join(p.at(path.Dir(name)), []string{".", "r"}[p.IntN(2)])).Run()
		}},
		{"makes a .git beside", func(name string) error { return os.Mkdir(filepath.Join(p.at(path.Dir(name)), ".git"), 0o755) }},
		{"makes a new file beside", p.beside},
		{"makes an empty folder beside", func(name string) error { return os.MkdirAll(filepath.Join(p.at(path.Dir(name)), "empty"), 0o755) }},
		{"has other line ends beside", func(name string) error {
			return p.write(path.Join(path.Dir(name), ".gitattributes"), "* text eol=crlf\n")
		}},
		{"works in the state folder, not on", func(string) error { return p.write(state+"/"+p.name()[:1], "") }},
	}
	one, name := all[p.IntN(len(all))], p.name()
	if err := one.do(name); err != nil {
		return fmt.Sprintf("fails: %s %s", one.what, name) // there may be none
	}
	return one.what + " " + name
}

func (p *program) writes(name string) error {
	if err := os.MkdirAll(filepath.Dir(p.at(name)), 0o755); err != nil {
		return err
	}
	return p.write(name, p.text())
}

func (p *program) beside(name string) error {
	return p.write(path.Join(path.Dir(name), []string{"new", "new.o", ".new", "A"}[p.IntN(4)]), "")
}

// instead puts something in the place of a name, in a way.
func (p *program) instead(name string, way func(from, to string) error) error {
	from := p.any(false)
	if from == name {
		return fs.ErrInvalid
	}
	if err := os.Remove(p.at(name)); err != nil {
		return err
	}
	return way(p.at(from), p.at(name))
}

func (p *program) swap(a, b string) error {
	if a == b || strings.HasPrefix(a, b) || strings.HasPrefix(b, a) {
		return fs.ErrInvalid
	}
	away := p.at(state) + "/away"
	if err := os.Rename(p.at(a), away); err != nil {
		return err
	}
	defer func() { _ = os.Rename(away, p.at(b)) }() // it may not fit there
	return os.Rename(p.at(b), p.at(a))
}

// any is something in the tree outside of the state folder, itself no folder or, if it may be, one.
func (p *program) any(folder bool) string {
	var all []string
	must(p.t, filepath.WalkDir(p.at("."), func(name string, d fs.DirEntry, err error) error {
		name, _ = filepath.Rel(p.at("."), name)
		if err != nil || name == state {
			return fs.SkipDir
		}
		if d.IsDir() == folder && name != "." && name != ".reprise" {
			all = append(all, name)
		}
		return nil
	}))
	if len(all) == 0 {
		return ""
	}
	return all[p.IntN(len(all))]
}

// goesOn is what a run does next: it takes what there is, or makes the tree equal to the
// index. Sometimes some time goes by.
func (p *program) goesOn() {
	p.open()
	if p.IntN(3) == 0 {
		if _, err := p.try(p.index(), "add", "-A", "-f"); err == nil { // a repository in the tree may be none yet
			return
		}
	}
	p.clean() // or git writes files by rules for line ends that are not in the index
	p.git("read-tree", "--reset", "-u", p.git("write-tree"))
	p.clean()
	must(p.t, os.MkdirAll(p.at(state), 0o755))
	if p.IntN(3) == 0 {
		time.Sleep(time.Duration(p.IntN(20)) * time.Millisecond)
	}
}
