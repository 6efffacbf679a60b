package git

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestScratchIsLikeAFreshOne changes the .git of the work tree as an agent could, and
// compares it after the next call's preparation with one that was made as a whole.
func TestScratchIsLikeAFreshOne(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	r := openRun(t, user)
	commit(t, r, "{1}")
	must(t, r.resetScratch(t.Context()))
	dir := r.Tree() + "/.git"
	want := laidOut(t, dir)
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	write(t, elsewhere, "elsewhere\n")
	for name, change := range map[string]func(){
		"nothing":                 func() {},
		"a file has another text": func() { write(t, dir+"/config", "[core]\n\tfsmonitor = evil\n") },
		"one as long":             func() { write(t, dir+"/HEAD", strings.ToUpper(read(t, dir+"/HEAD"))) },
		"a file more":             func() { write(t, dir+"/info/exclude", "*\n") },
		"a file less":             func() { must(t, os.Remove(dir+"/packed-refs")) },
		"the index is gone":       func() { must(t, os.Remove(dir+"/index")) },
		"the index is another":    func() { write(t, dir+"/index", "x") },
		"a folder more":           func() { must(t, os.Mkdir(dir+"/hooks", 0o755)) },
		"a folder less":           func() { must(t, os.Remove(dir+"/refs/heads")) },
		"a shallow that we have not": func() {
			write(t, dir+"/shallow", "x")
		},
		"an object": func() { write(t, dir+"/objects/aa/bb", "x") },
		"a link in place of a file": func() {
			must(t, os.Remove(dir+"/HEAD"))
			must(t, os.Symlink(elsewhere, dir+"/HEAD"))
		},
		"a link to the same": func() {
			must(t, os.Rename(dir+"/config", filepath.Join(filepath.Dir(elsewhere), "config")))
			must(t, os.Symlink(filepath.Join(filepath.Dir(elsewhere), "config"), dir+"/config"))
		},
		"a second name": func() {
			must(t, os.Remove(elsewhere))
			must(t, os.Link(dir+"/config", elsewhere))
		},
		"a pipe": func() {
			must(t, os.Remove(dir+"/HEAD"))
			must(t, syscall.Mkfifo(dir+"/HEAD", 0o644))
		},
		"a folder in place of a file": func() {
			must(t, os.Remove(dir+"/HEAD"))
			must(t, os.Mkdir(dir+"/HEAD", 0o755))
		},
		"a file that all may write":  func() { must(t, os.Chmod(dir+"/config", 0o666)) },
		"a file that starts":         func() { must(t, os.Chmod(dir+"/config", 0o755)) },
		"a file closed":              func() { must(t, os.Chmod(dir+"/config", 0)) },
		"a folder that all may use":  func() { must(t, os.Chmod(dir+"/refs", 0o777)) },
		"a folder closed":            func() { must(t, os.Chmod(dir+"/refs", 0)) },
		"all of it gone":             func() { must(t, os.RemoveAll(dir)) },
		"a link in place of all":     func() { must(t, os.RemoveAll(dir)); must(t, os.Symlink(filepath.Dir(elsewhere), dir)) },
		"a file in place of all":     func() { must(t, os.RemoveAll(dir)); write(t, dir, "gitdir: /\n") },
		"what a killed one had made": func() { write(t, r.opt.Root+"/scratch/half", "x") },
	} {
		change()
		must(t, r.resetScratch(t.Context()))
		if got := laidOut(t, dir); got != want {
			t.Errorf("%s: it holds\n%s\nwant\n%s", name, got, want)
		}
		if _, err := os.Lstat(r.opt.Root + "/scratch"); err == nil {
			t.Errorf("%s: something is left beside the tree", name)
		}
	}
	if read(t, elsewhere) == "" {
		t.Error("the file elsewhere was written")
	}
}

// laidOut says all of a folder: its names, rights and texts.
func laidOut(t *testing.T, dir string) string {
	t.Helper()
	var out strings.Builder
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		must(t, err)
		info, err := d.Info()
		must(t, err)
		text := ""
		if info.Mode().IsRegular() {
			text = read(t, name)
		}
		_, err = fmt.Fprintf(&out, "%s %s %q\n", strings.TrimPrefix(name, dir), info.Mode(), text)
		return err
	}))
	return out.String()
}
