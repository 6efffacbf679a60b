package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pointerText = "version https://git-lfs.github.com/spec/v1\noid sha256:9daf3206115737fb0f2e4ab7d7b74f9897299e34335bde98bc0e9a65964f8d43\nsize 28893\n"

func TestLacksNothing(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{"a": "a\n", ".gitattributes": "*.txt text\n"}))
	if got := r.Lacks(); got != nil {
		t.Errorf("an ordinary repository lacks %q", got)
	}
}

// What Git LFS keeps is known in the tree of an agent; what would be committed
// as it is instead of as a pointer is told apart.
func TestLFS(t *testing.T) {
	user := newUser(t, map[string]string{"a.bin": pointerText, "b.bin": pointerText, "dir/.gitattributes": "*.dat filter=lfs -text\n", ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n"})
	r := openRun(t, user)
	if got := strings.Join(r.Lacks(), "\n"); !strings.Contains(got, "Git LFS") {
		t.Errorf("nothing is said about Git LFS: %q", got)
	}
	write(t, filepath.Join(r.Tree(), "a.bin"), strings.Repeat("plain", 5000))
	write(t, filepath.Join(r.Tree(), "dir/new.dat"), "plain")
	write(t, filepath.Join(r.Tree(), "text"), "plain")
	must(t, os.Rename(filepath.Join(r.Tree(), "b.bin"), filepath.Join(r.Tree(), "moved.bin")))
	changes, err := r.Changes(t.Context())
	must(t, err)
	var large []string
	for _, c := range changes {
		if c.Large {
			large = append(large, c.Path)
		}
	}
	if got := strings.Join(large, " "); got != "a.bin dir/new.dat" {
		t.Errorf("Git LFS would have to convert %q", got)
	}
}

// A repository that begins to use Git LFS in the call itself.
func TestLFSBegins(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{"a": "a\n"}))
	write(t, filepath.Join(r.Tree(), ".gitattributes"), "*.bin filter=lfs\n")
	write(t, filepath.Join(r.Tree(), "new.bin"), "plain")
	changes, err := r.Changes(t.Context())
	must(t, err)
	if len(changes) != 2 || changes[0].Large || !changes[1].Large {
		t.Errorf("changes: %+v", changes)
	}
}

func TestSubmodulesAreNamed(t *testing.T) {
	inner := filepath.Join(realTemp(t), "inner")
	sh(t, ".", "init", "-q", inner)
	sh(t, inner, "commit", "-q", "--allow-empty", "-m", "inner")
	user := newUser(t, map[string]string{"a": "a\n"})
	sh(t, user, "submodule", "add", "-q", inner, "vendor/lib")
	sh(t, user, "commit", "-q", "-m", "a submodule")
	r := openRun(t, user)
	if got := strings.Join(r.Lacks(), "\n"); !strings.HasPrefix(got, "vendor/lib is empty") {
		t.Errorf("nothing is said about the submodule: %q", got)
	}
}
