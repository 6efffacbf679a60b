package refs

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/git/program"
)

// Refs are listed as git lists them, wherever it keeps them; where only git can tell them,
// nothing is said.
func TestList(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b")
	call := program.Call{Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_DIR=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}}
	git := func(args ...string) string {
		t.Helper()
		c := call
		c.Args = args
		out, err := c.Do(t.Context())
		must(t, err)
		return strings.TrimSpace(string(out))
	}
	git("init", "-q", "--bare", dir)
	empty := git("hash-object", "-t", "tree", "-w", "/dev/null")
	commit := func(text string) string {
		return git("-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-m", text, empty)
	}
	one, two := commit("one"), commit("two")
	names := []string{"refs/heads/run", "refs/remotes/origin/run", "refs/none", "refs/heads/x/y"}
	same := func(what string) {
		t.Helper()
		got, can := List(dir, names...)
		want := Parse([]byte(git(append([]string{"for-each-ref", Format}, names...)...) + "\n"))
		if diff := cmp.Diff(want, got); diff != "" || !can {
			t.Errorf("%s: %v (-git +ours):\n%s", what, can, diff)
		}
	}
	same("none")
	for _, name := range []string{"refs/heads/run/1", "refs/heads/run/a/b", "refs/heads/runs/1", "refs/heads/x", "refs/remotes/origin/run/2", "refs/heads/run-2"} {
		git("update-ref", name, one)
	}
	same("files")
	must(t, os.WriteFile(filepath.Join(dir, "refs/heads/run/1.lock"), nil, 0o644))
	must(t, os.WriteFile(filepath.Join(dir, "refs/heads/run/.x"), nil, 0o644))
	same("with a lock")
	must(t, os.Remove(filepath.Join(dir, "refs/heads/run/1.lock")))
	git("pack-refs", "--all")
	same("packed")
	git("-c", "user.name=a", "-c", "user.email=a@b", "tag", "-m", "peeled", "run", one)
	git("pack-refs", "--all")
	git("update-ref", "refs/heads/run/1", two)
	git("update-ref", "-d", "refs/heads/run/a/b")
	git("update-ref", "refs/heads/run/b", two)
	same("both")
	for name, text := range map[string]string{"symbolic": "ref: refs/heads/x\n", "broken": "x\n", "empty": ""} {
		file := filepath.Join(dir, "refs/heads/run/other")
		must(t, os.WriteFile(file, []byte(text), 0o644))
		if got, can := List(dir, names...); can {
			t.Errorf("%s: %v", name, got)
		}
		must(t, os.Remove(file))
	}
	for what, make := range map[string]func(string) error{
		"a link": func(file string) error { return os.Symlink("../x", file) },
		"a pipe": func(file string) error { return syscall.Mkfifo(file, 0o644) },
	} {
		file := filepath.Join(dir, "refs/heads/run/other")
		must(t, make(file))
		if got, can := List(dir, names...); can {
			t.Errorf("%s: %v", what, got)
		}
		must(t, os.Remove(file))
	}
	for _, name := range []string{"a..b", "a b", "a\nb", "a\x1b[2Jb", "a@{b", "a.", "a~1", "a?", "a[b", "a\\b"} {
		file := filepath.Join(dir, "refs/heads/run", name)
		must(t, os.WriteFile(file, []byte(one+"\n"), 0o644))
		if got, can := List(dir, names...); can {
			t.Errorf("git has no ref %q: %v", name, got)
		}
		must(t, os.Remove(file))
	}
	same("as before")
	must(t, os.Remove(filepath.Join(dir, "packed-refs")))
	must(t, syscall.Mkfifo(filepath.Join(dir, "packed-refs"), 0o644))
	if got, can := List(dir, names...); can {
		t.Errorf("read from a pipe: %v", got)
	}
	must(t, os.Remove(filepath.Join(dir, "packed-refs")))
	config, err := os.ReadFile(filepath.Join(dir, "config"))
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "config"), append(config, "[Extensions]\n\trefStorage = reftable:///elsewhere\n"...), 0o644))
	if got, can := List(dir, names...); can {
		t.Errorf("of another place: %v", got)
	}
	must(t, os.WriteFile(filepath.Join(dir, "config"), config, 0o644))
	same("as files again")
	must(t, os.Mkdir(filepath.Join(dir, "reftable"), 0o755))
	if got, can := List(dir, names...); can {
		t.Errorf("of another format: %v", got)
	}
}
