package folders

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// Links that lead to a folder are not below it; every other one on the way is.
func TestLinkBelow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"top/in", "out/in"} {
		if err := errors.Join(os.MkdirAll(at(name), 0o755), os.WriteFile(at(name+"/x"), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"top/link": "../out", "top/in/link": at("out"), "top/self": ".", "top/x": "in/x", "top/gone": "nothing", "name": "top", "out/link": "in"} {
		if err := os.Symlink(to, at(link)); err != nil {
			t.Fatal(err)
		}
	}
	for file, want := range map[string]string{
		"top/in/x": "", "top/in/none": "", "top": "", "out/in/x": "", "out/link/x": "", "name/in/x": "", "none/x": "",
		"top/link/in/x": "top/link", "top/in/link/in/x": "top/in/link", "top/x": "top/x", "top/gone": "top/gone", "top/self/in/x": "top/self", "top/self/in/link/in/x": "top/self",
		"name/link/in/x": "name/link", "name/x": "name/x",
	} {
		for _, top := range []string{"top", "name"} {
			got := LinkBelow(at(top), at(file))
			if want != "" {
				if got != at(want) {
					t.Errorf("%s below %s leads through %q, want %s", file, top, got, want)
				}
			} else if got != "" {
				t.Errorf("%s below %s leads through %q, want none", file, top, got)
			}
		}
	}
	if got := LinkBelow(at("none"), at("top/link/in/x")); got != "" {
		t.Errorf("below a folder that is not there: %q", got)
	}
}
