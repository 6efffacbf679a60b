package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A conflict in which two sides have the same text is one of modes, and said as such.
func TestModes(t *testing.T) {
	dir, git, run := mergeScratch(t)
	commit := func(modes map[string]os.FileMode) string {
		t.Helper()
		for name, mode := range modes {
			name = filepath.Join(dir, name)
			_ = os.Remove(name) // it may be there, with another mode
			if mode == 0 {
				continue
			}
			if err := os.WriteFile(name, []byte(strings.Repeat(filepath.Base(name)+"\n", 5)), mode); err != nil {
				t.Fatal(err)
			}
		}
		run("add", "--all")
		run("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--allow-empty", "--message=one")
		return run("rev-parse", "HEAD")
	}
	from := commit(map[string]os.FileMode{"old": 0o644, "plain": 0o644})
	theirs := commit(map[string]os.FileMode{"new": 0o644, "old": 0, "plain": 0o644})
	run("reset", "--quiet", "--hard", from)
	ours := commit(map[string]os.FileMode{"new": 0o755, "old": 0o755})
	r, err := mergeSince(t.Context(), git, ours, theirs, from)
	if err != nil {
		t.Fatal(err)
	}
	want := "new: branch 100755, yours 100644\nold: base 100644, branch 100755\n"
	if got := Modes(r.Conflicts, "base", "branch", "yours"); got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
	if got := Modes([]Conflict{{Path: "a", Ours: Version{Mode: "100644"}, Theirs: Version{Mode: "100644"}}, {Path: "b"}}, "base", "branch", "yours"); got != "" {
		t.Errorf("where all modes are the same it says %q", got)
	}
}
