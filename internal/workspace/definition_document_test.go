package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A document is a file of the repository, and nothing that a link, a pipe or a huge file
// makes of its path.
func TestDocumentIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a repository")
	for name, text := range map[string]string{"docs/spec.md": "REST", ".git/config": "token", "large": strings.Repeat("x", mostDocument+1)} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	err := errors.Join(
		os.Symlink("../.git/config", filepath.Join(dir, "docs/link.md")), os.Symlink(".git", filepath.Join(dir, "notes")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644),
	)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := DocumentIn(dir, "docs/spec.md"); err != nil || string(text) != "REST" {
		t.Errorf("%q (%v)", text, err)
	}
	for _, name := range []string{"gone.md", "gone/spec.md"} {
		if _, err := DocumentIn(dir, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"docs/link.md": "symbolic link", "notes/config": "symbolic link", "pipe": "no file", "docs": "no file", "large": "more than", "../x": "escapes"} {
		if text, err := DocumentIn(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q (%v), want %q", name, text, err, want)
		}
	}
}
