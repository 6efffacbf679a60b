package folder_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/git/folder"
	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// Two trees differ in what git says they differ in.
func TestDifferIsWhatGitSays(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b")
	git := func(stdin string, args ...string) string {
		t.Helper()
		c := exec.Command("git", append([]string{"--git-dir=" + dir}, args...)...)
		c.Stdin = strings.NewReader(stdin)
		out, err := c.Output()
		if err != nil {
			t.Fatalf("git %s: %v", args, err)
		}
		return string(out)
	}
	git("", "init", "-q", "--bare")
	read := func(_ context.Context, id string) ([]byte, error) {
		return []byte(git("", "cat-file", "tree", id)), nil
	}
	var ids []string
	for i := range 3 {
		ids = append(ids, strings.TrimSpace(git(fmt.Sprint(i), "hash-object", "-w", "--stdin")))
	}
	names := []string{"a", "a/b", "a/b/c", "a.b", "a0", "b/c/d", "b/x", "日本 \\ \"x\n", "z/1", "z/2"}
	modes := []string{"100644", "100755", "120000", "160000"}
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	was := strings.TrimSpace(git("", "hash-object", "-t", "tree", "-w", "/dev/null"))
	for range 15 {
		git("", "read-tree", was)
		for range 1 + r.IntN(5) {
			info := fmt.Sprintf("%s %s\t%s\x00", modes[r.IntN(4)], ids[r.IntN(3)], names[r.IntN(len(names))])
			git(info, "update-index", "--replace", "--add", "-z", "--index-info")
		}
		is := strings.TrimSpace(git("", "write-tree"))
		all, err := folder.Differ(t.Context(), read, was, is)
		if err != nil {
			t.Fatal(err)
		}
		var got strings.Builder
		for _, d := range all {
			fmt.Fprintf(&got, "%s %s %s %s %s\n", d.Path, d.Was.Mode, d.Is.Mode, d.Was.ID, d.Is.ID)
		}
		var want strings.Builder
		fields := strings.Split(git("", "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", was, is), "\x00")
		for ; len(fields) > 1; fields = fields[2:] {
			f := strings.Fields(strings.TrimPrefix(fields[0], ":"))
			for i := range f[:4] {
				if strings.Trim(f[i], "0") == "" {
					f[i] = ""
				}
			}
			fmt.Fprintf(&want, "%s %s %s %s %s\n", fields[1], f[0], f[1], f[2], f[3])
		}
		if got.String() != want.String() {
			t.Fatalf("seed %d: got\n%s\nwant\n%s", seed, got.String(), want.String())
		}
		was = is
	}
}

// A folder that cannot be read, or is none, is an error.
func TestDifferOfWhatIsNone(t *testing.T) {
	t.Parallel()
	gone := errors.New("gone")
	for name, read := range map[string]func(context.Context, string) ([]byte, error){
		"gone":       func(context.Context, string) ([]byte, error) { return nil, gone },
		"not folder": func(context.Context, string) ([]byte, error) { return []byte("x"), nil },
	} {
		if all, err := folder.Differ(t.Context(), read, strings.Repeat("a", 40), strings.Repeat("b", 40)); err == nil || len(all) > 0 {
			t.Errorf("%s: %v, %v", name, all, err)
		}
	}
}
