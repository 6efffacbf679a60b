package sandbox

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestWaysLeadAsTheSystemDoes compares paths through folders, files and links that were
// drawn at random, some of them to each other, with what the standard library finds.
func TestWaysLeadAsTheSystemDoes(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		top, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		path := func() string {
			words := make([]string, 1+r.IntN(4))
			for i := range words {
				words[i] = []string{"a", "b", "c", "d", "..", ".", "", "a"}[r.IntN(8)]
			}
			return strings.Join(words, "/")
		}
		for range 8 {
			name := filepath.Join(top, []string{"a", "b", "c", "d", "a/a", "a/b", "b/a", "b/c", "c/d"}[r.IntN(9)])
			switch r.IntN(4) { // what cannot be made, as the folder is none, is not there
			case 0:
				_ = os.WriteFile(name, nil, 0o600)
			case 1:
				_ = os.Symlink(path(), name)
			case 2:
				_ = os.Symlink(top+"/"+path(), name)
			default:
				_ = os.Mkdir(name, 0o700)
			}
		}
		w := ways{}
		for range 40 {
			ask := top + "/" + path()
			want, err1 := filepath.EvalSymlinks(ask)
			got, err2 := w.end(ask)
			if (err1 != nil) != (err2 != nil) || err1 == nil && got != want {
				t.Fatalf("seed %d: %s leads to %q, %v; want %q, %v\n%s", seed, ask, got, err2, want, err1, listed(top))
			}
		}
	}
}

// TestWaysAskOnce finds a path again that is gone meanwhile, as it was for this call.
func TestWaysAskOnce(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(top, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := ways{}
	for range 2 {
		if got, err := w.end(file); err != nil || got != file {
			t.Errorf("%s leads to %q, %v", file, got, err)
		}
		if err := os.RemoveAll(top); err != nil {
			t.Fatal(err)
		}
	}
}

// listed says what a folder holds.
func listed(top string) string {
	var out strings.Builder
	_ = filepath.WalkDir(top, func(name string, d os.DirEntry, err error) error {
		target, _ := os.Readlink(name) // most are no links
		fmt.Fprintln(&out, name, d.Type(), target, err)
		return nil
	})
	return out.String()
}
