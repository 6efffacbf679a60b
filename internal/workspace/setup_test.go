package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// newStore lays out the folder of a run with files in its tree.
func newStore(t *testing.T, files map[string]string) SetupStore {
	t.Helper()
	s := SetupStore{Root: t.TempDir()}
	testenv.Must(t, os.Mkdir(filepath.Join(s.Root, treeDir), 0o755))
	for name, text := range files {
		s.write(t, name, text)
	}
	return s
}

func (s SetupStore) write(t *testing.T, name, text string) {
	t.Helper()
	name = filepath.Join(s.Root, treeDir, name)
	testenv.Put(t, name, text)
}

// tree gives the files of the tree.
func (s SetupStore) tree(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	top := filepath.Join(s.Root, treeDir)
	err := filepath.WalkDir(top, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(top, p)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := os.Readlink(p)
			all[rel] = "-> " + target
			return err
		}
		data, err := os.ReadFile(p)
		all[rel] = string(data)
		return err
	})
	testenv.Must(t, err)
	return all
}

func do(t *testing.T, err error) {
	t.Helper()
	testenv.Must(t, err)
}

func TestStore(t *testing.T) {
	s := newStore(t, map[string]string{"main.go": "work", "deps/a": "made", "deps/bin/tool": "made", "cache": "made"})
	do(t, os.Symlink("tool", filepath.Join(s.Root, treeDir, "deps/bin/link")))
	do(t, os.Chmod(filepath.Join(s.Root, treeDir, "deps/bin/tool"), 0o755))
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	do(t, os.Chtimes(filepath.Join(s.Root, treeDir, "deps/bin/tool"), old, old))
	if !s.Due("1") {
		t.Error("nothing was made, and it is not due")
	}
	do(t, s.Take("1", []string{"deps/", "cache"}))
	if s.Due("1") || !s.Due("2") {
		t.Error("due for what was made, or not due for something else")
	}
	if diff := cmp.Diff(map[string]string{"main.go": "work"}, s.tree(t)); diff != "" {
		t.Errorf("taken (-want +got):\n%s", diff)
	}

	// An agent has a copy of its own.
	do(t, s.Give(t.Context()))
	whole := map[string]string{"main.go": "work", "deps/a": "made", "deps/bin/tool": "made", "deps/bin/link": "-> tool", "cache": "made"}
	if diff := cmp.Diff(whole, s.tree(t)); diff != "" {
		t.Errorf("given (-want +got):\n%s", diff)
	}
	info, err := os.Stat(filepath.Join(s.Root, treeDir, "deps/bin/tool"))
	if err != nil || info.Mode().Perm() != 0o755 || !info.ModTime().Equal(old) {
		t.Errorf("a copy has mode and time %v, %v, want those of the file (%v)", info.Mode(), info.ModTime(), err)
	}
	s.write(t, "deps/a", "of an agent")
	do(t, os.Remove(filepath.Join(s.Root, treeDir, "cache")))
	do(t, s.Give(t.Context()))
	if got := s.tree(t); got["deps/a"] != "of an agent" || got["cache"] != "made" {
		t.Errorf("what is there was changed, or what is gone is not back: %v", got)
	}

	other := filepath.Join(s.Root, "other")
	do(t, errors.Join(os.Mkdir(other, 0o755), os.WriteFile(filepath.Join(other, "cache"), []byte("kept"), 0o644)))
	do(t, s.place(t.Context(), other))
	for name, want := range map[string]string{"deps/bin/tool": "made", "cache": "kept"} {
		if data, err := os.ReadFile(filepath.Join(other, name)); err != nil || string(data) != want {
			t.Errorf("placed in another tree: %s is %q, %v", name, data, err)
		}
	}
	do(t, s.forget())
	if !s.Due("1") {
		t.Error("not due after it was forgotten")
	}
	do(t, s.Give(t.Context())) // nothing is there to be given
}

// A tree that was only given a part of what is kept, as before a kill, gets all of it.
func TestGivenInPart(t *testing.T) {
	s := newStore(t, map[string]string{"deps/a": "made", "deps/b": "made", "more": "made"})
	do(t, s.Take("1", []string{"deps", "more"}))
	do(t, s.Give(t.Context()))

	// While the tree was given its copies: one is half made.
	do(t, os.RemoveAll(filepath.Join(s.Root, treeDir, "deps")))
	do(t, os.MkdirAll(filepath.Join(s.Root, half, "c"), 0o755))
	do(t, s.Give(t.Context()))
	want := map[string]string{"deps/a": "made", "deps/b": "made", "more": "made"}
	if diff := cmp.Diff(want, s.tree(t)); diff != "" {
		t.Errorf("given again (-want +got):\n%s", diff)
	}
	s.write(t, "more", "of an agent")
	do(t, s.Give(t.Context()))
	if got := s.tree(t)["more"]; got != "of an agent" {
		t.Errorf("given once more, though it was whole: %q", got)
	}
}

// A folder on the way may have become a link out of the tree.
func TestGiveFollowsNoLink(t *testing.T) {
	s, outside := newStore(t, map[string]string{"web/deps/a": "made"}), t.TempDir()
	do(t, s.Take("1", []string{"web/deps"}))
	do(t, os.Remove(filepath.Join(s.Root, treeDir, "web")))
	do(t, os.Symlink(outside, filepath.Join(s.Root, treeDir, "web")))
	if err := s.Give(t.Context()); err == nil {
		t.Error("no error")
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) > 0 {
		t.Errorf("written outside: %v, %v", entries, err)
	}
}

func TestDigest(t *testing.T) {
	s := newStore(t, map[string]string{"go.sum": "1", "web/package-lock.json": "1", "tools/list.txt": "1", "main.go": "1", "node_modules/x/package-lock.json": "1", "readme.txt": "1"})
	commands := []pipelines.Setup{{Check: pipelines.Check{Name: "a", Run: "x"}, WhenChanged: []string{"tools/*.txt"}}}
	seen := []string{}
	changes := func(what string, want bool) {
		t.Helper()
		digest, err := s.digest(commands)
		do(t, err)
		if slices.Contains(seen, digest) == want {
			t.Errorf("%s: the digest changes is %v, want %v", what, !want, want)
		}
		seen = append(seen, digest)
	}
	changes("first", true)
	for _, name := range []string{"main.go", "node_modules/x/package-lock.json", "readme.txt"} {
		s.write(t, name, "2")
		changes(name, false)
	}
	for _, name := range []string{"go.sum", "web/package-lock.json", "tools/list.txt", "requirements-dev.txt", "src/app/app.csproj", "packages.lock.json", "gradle/libs.versions.toml", "app/build.gradle.kts"} {
		s.write(t, name, "2")
		changes(name, true)
	}
	commands[0].Run = "y"
	changes("a command", true)
}
