package engine

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// tree is a folder with spaces in its name that has some files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a tree")
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// What is asked for is what the files had before they were taken back, and nothing that a
// person could not read.
func TestTake(t *testing.T) {
	dir := tree(t, map[string]string{
		"changed": "new\n", "same": "same\n", "made": "made\n", "empty": "", "bytes": "\xff\xfe", "large": strings.Repeat("x", phases.MostOpenedBytes+1), "was": "text\n",
	})
	if err := os.Symlink("changed", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	paths := []string{"changed", "same", "made", "empty", "bytes", "large", "link", "was", "gone"}
	all, refused, err := TakeOpened(dir, paths, func() error {
		for name, text := range map[string]string{"changed": "old\n", "same": "same\n", "empty": "full\n", "was": strings.Repeat("x", phases.MostOpenedBytes+1)} {
			write(t, dir, name, text)
		}
		return os.Remove(filepath.Join(dir, "made"))
	})
	if got := strings.Join(phases.OpenedPaths(all), " "); err != nil || got != "changed made empty" {
		t.Errorf("asked for is %q (%v)", got, err)
	}
	if got := strings.Join(refused, " "); got != "bytes large link was gone" {
		t.Errorf("refused are %q", got)
	}
	if all[0].Text != "new\n" || all[0].Before == "" || all[1].Before != "" || all[2].Text != "" {
		t.Errorf("asked for is %+v", all)
	}
	if _, _, err := TakeOpened(dir, paths, func() error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("an error becomes %v", err)
	}
}

// What was approved gets there only in place of what it was made for.
func TestLeft(t *testing.T) {
	ask := phases.OpenedChange("sub/a.yml", []byte("old\n"), "new\n")
	made := phases.OpenedChange("b.md", nil, "")
	shown := ask
	shown.Text = "worse\n" // while the difference is that of another text
	for name, tt := range map[string]struct {
		files map[string]string
		all   []metadata.Opened
		left  int
		moved bool
	}{
		"as it was":             {map[string]string{"sub/a.yml": "old\n"}, []metadata.Opened{ask, made}, 2, false},
		"it is there":           {map[string]string{"sub/a.yml": "new\n", "b.md": ""}, []metadata.Opened{ask, made}, 0, false},
		"something else":        {map[string]string{"sub/a.yml": "other\n"}, []metadata.Opened{ask}, 0, true},
		"nothing any more":      {nil, []metadata.Opened{ask}, 0, true},
		"something where none":  {map[string]string{"b.md": "x"}, []metadata.Opened{made}, 0, true},
		"another one was shown": {map[string]string{"sub/a.yml": "old\n"}, []metadata.Opened{shown}, 0, true},
		"a folder in its place": {map[string]string{"b.md/x": "x"}, []metadata.Opened{made}, 0, true},
	} {
		dir := tree(t, tt.files)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		left, err := UnplacedOpened(dir, tt.all)
		if no := (&phases.Refusal{}); len(left) != tt.left || errors.As(err, &no) != tt.moved {
			t.Errorf("%s: %+v (%v)", name, left, err)
		}
		if err := LayOutOpened(dir, tt.all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		placed, err := PlaceOpened(tree(t, tt.files), tt.all)
		if no := (&phases.Refusal{}); len(tt.files) > 0 && (len(placed) != tt.left || errors.As(err, &no) != tt.moved) {
			t.Errorf("%s: placed is %+v (%v)", name, placed, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "sub/a.yml")); tt.left == 2 && string(got) != "new\n" || tt.moved && string(got) == "new\n" {
			t.Errorf("%s: an agent finds %q", name, got)
		}
	}
}

// A script stays one that can be run.
func TestPutKeepsRights(t *testing.T) {
	dir := tree(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	file := filepath.Join(dir, "run.sh")
	err := errors.Join(os.Chmod(file, 0o755), PutOpened(dir, metadata.Opened{Path: "run.sh", Text: "#!/bin/sh\necho\n"}))
	if info, e := os.Stat(file); err != nil || e != nil || info.Mode()&0o100 == 0 {
		t.Errorf("it is %v (%v, %v)", info, err, e)
	}
}
