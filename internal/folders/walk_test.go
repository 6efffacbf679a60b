package folders

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestWalkDeep goes through more folders within each other than a walk holds open, and
// finds all names, each in the folder that it is told.
func TestWalkDeep(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	deep := "top" + strings.Repeat("/a", mostOpen+20)
	if err := root.MkdirAll(deep, 0o700); err != nil {
		t.Fatal(err)
	}
	var want []string
	for dir := deep; dir != "."; dir = path.Dir(dir) {
		want = append(want, dir, dir+"/file")
		if err := root.WriteFile(dir+"/file", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	open := func() int {
		entries, err := os.ReadDir("/dev/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	before, most := open(), 0
	var got []string
	err = WalkFolders(root, "top", func(at Place, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := at.In.Lstat(at.Base)
		if err != nil || info.IsDir() != e.IsDir() {
			t.Errorf("%s is not in its folder as %s: %v", at.Name, at.Base, err)
		}
		got, most = append(got, at.Name), max(most, open())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("visited\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if most-before > mostOpen+2 {
		t.Errorf("%d folders were open at once", most-before)
	}
}
