package git

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mergeScratch makes an empty repository: how merge calls git in it, and how a test does, which
// ends where git refuses.
func mergeScratch(t *testing.T) (dir string, git reader, run func(args ...string) string) {
	t.Helper()
	dir = t.TempDir()
	git = func(_ context.Context, c call) ([]byte, error) {
		cmd := exec.Command("git", c.Args...)
		cmd.Dir = dir
		return cmd.Output()
	}
	run = func(args ...string) string {
		t.Helper()
		out, err := git.git(t.Context(), args...)
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "--quiet")
	return dir, git, run
}

// Attributes in a tree hide a conflict from git, and Attributes keep them from that.
func TestAttributes(t *testing.T) {
	for attributes, want := range map[string]string{"": "", "* " + mergeAttributes + "\n": "a.txt"} {
		dir, git, run := mergeScratch(t)
		put := func(name, text string) {
			t.Helper()
			name = filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		commit := func(text string) string {
			t.Helper()
			put("a.txt", text)
			run("add", "--all")
			run("-c", "user.name=A", "-c", "user.email=a@example.com", "commit", "--quiet", "--message=one")
			return run("rev-parse", "HEAD")
		}
		put(".gitattributes", "* merge=union\n")
		from := commit("a\n")
		other := commit("theirs\n")
		run("reset", "--quiet", "--hard", from)
		tip := commit("ours\n")
		put(".git/info/attributes", attributes)
		got, err := compareWithBase(t.Context(), git, tip, other, from)
		if err != nil || got.Behind != 1 || strings.Join(got.Conflicts, " ") != want {
			t.Errorf("with %q it is %+v, %v", attributes, got, err)
		}
	}
}
