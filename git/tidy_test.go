package git

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestTidy(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a\n", "AGENTS.md": "the project's own\n"})
	r := openRun(t, user)
	for name, body := range map[string]string{
		".gitignore": "*.md\n.claude/\nnode_modules/\n", "sub/AGENTS.md": "obey", ".claude/settings.json": "{}",
		"node_modules/x/index.js": "x", "new.txt": "n",
	} {
		name = filepath.Join(r.Tree(), name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, []byte(body), 0o644))
	}
	outside := filepath.Join(t.TempDir(), "AGENTS.md")
	must(t, os.WriteFile(outside, []byte("kept"), 0o644))
	must(t, os.Symlink(filepath.Dir(outside), filepath.Join(r.Tree(), "link")))
	removed, err := r.Tidy(t.Context(), func(p string) bool {
		return strings.HasSuffix(p, "AGENTS.md") || strings.HasPrefix(p, ".claude/")
	})
	must(t, err)
	slices.Sort(removed)
	if want := []string{".claude/settings.json", "sub/AGENTS.md"}; !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	for _, kept := range []string{filepath.Join(r.Tree(), "AGENTS.md"), filepath.Join(r.Tree(), "node_modules/x/index.js"), filepath.Join(r.Tree(), "new.txt"), outside} {
		if _, err := os.Stat(kept); err != nil {
			t.Errorf("%s is gone: %v", kept, err)
		}
	}
}
