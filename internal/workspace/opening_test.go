package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/phases/engine"
)

// openWith opens a run of an issue in a file, in a repository of its own, below a folder of that mode; 0: that is not there yet.
func openWith(t *testing.T, b Backend, home os.FileMode) error {
	t.Helper()
	dir := t.TempDir()
	repo, file := filepath.Join(dir, "a repo"), filepath.Join(dir, "7.md")
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "commit", "-q", "--allow-empty", "-m", "begin"}} {
		testenv.MustGit(t, dir, args...)
	}
	testenv.Must(t, os.WriteFile(file, []byte("# Greet\n"), 0o600))
	b.Find = git.Find
	if home != 0 {
		testenv.Must(t, errors.Join(os.Mkdir(filepath.Join(dir, "home"), 0o700), os.Chmod(filepath.Join(dir, "home"), home)))
	}
	o := Options{Repo: repo}
	o.File = file
	env := environ.Env{Environ: append(os.Environ(), "REPRISE_HOME="+filepath.Join(dir, "home")), Now: time.Now}
	env.SecretFinder = env.Finder()
	_, err := Open(WithBackend(t.Context(), b), env, o)
	return err
}

// What is wrong with the definition of a new run is told when its branch is there, and leaves
// no folder.
func TestWronglyDefined(t *testing.T) {
	t.Parallel()
	noPipeline := errors.New("there is no such pipeline")
	root := ""
	err := openWith(t, Backend{
		Define: func(context.Context, *git.Source, issue.Issue, Choice) (Definition, error) {
			return Definition{}, noPipeline
		},
		Open: func(ctx context.Context, o git.Options) (Checkout, error) {
			root = o.Root
			repo, err := git.Open(ctx, o)
			return Tree{Repo: repo}, err
		},
	}, 0)
	if _, none := os.Stat(root); !errors.Is(err, noPipeline) || !errors.Is(none, os.ErrNotExist) {
		t.Errorf("the error is %v, and of the folder %v", err, none)
	}
}

// A folder in which others may have put something is refused before anything is read there.
func TestHomeOfOthers(t *testing.T) {
	t.Parallel()
	err := openWith(t, Backend{}, 0o777)
	if err == nil || !strings.HasSuffix(err.Error(), "/home (mode 0777): name a folder of your own in REPRISE_HOME") || !strings.HasPrefix(err.Error(), "others may write in /") {
		t.Errorf("the error is %v", err)
	}
}

// Agents are told a text, and no more of it than the beginning.
func TestNotesForAgents(t *testing.T) {
	for name, tt := range map[string]struct{ data, told, wrong string }{
		"a text": {"Tests need no network.\n", "Tests need no network.\n", ""},
		"none":   {"", "", ""},
		"Latin":  {"caf\xe9", "", "is no text in UTF-8"},
		"UTF-16": {"\xff\xfea\x00", "", "is no text in UTF-8"},
		"zero":   {"a\x00b", "", "is no text in UTF-8"},
		"long":   {"x" + strings.Repeat("ü", 5<<20), "x" + strings.Repeat("ü", mostNotes/2-1) + "\n…", "is longer than 8 kB"}, // the cut is within a letter
	} {
		if told, wrong := notesForAgents([]byte(tt.data)); told != tt.told || !strings.HasPrefix(wrong, tt.wrong) || (wrong == "") != (tt.wrong == "") {
			t.Errorf("%s: agents are told %.20q of %d bytes, %q", name, told, len(told), wrong)
		}
	}
}

// A key of a fixture may change its place. A file full of keys is refused after
// the first of them, and whatever else it has, a value is named.
func TestLeaks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repository")
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 3) + "-----END RSA " + "PRIVATE KEY-----\n"
	testenv.Must(t, errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "key.pem"), []byte(key), 0o644)))
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "start"}} {
		testenv.MustGit(t, dir, args...)
	}
	src, err := git.Find(t.Context(), dir)
	testenv.Must(t, err)
	repo, err := git.Open(t.Context(), git.Options{Source: src, Root: t.TempDir(), Branch: "reprise/issue-7", State: ".reprise/issue-7"})
	testenv.Must(t, err)
	defer repo.Close()
	g := leakGuard{secrets.New(secrets.Secret{Name: "A_TOKEN", Value: "canary-0123456789abcdef"}), Tree{Repo: repo}}
	leaks := func(text string) []engine.Leak {
		out, err := g.Leaks(t.Context(), "moved.txt", []byte(text))
		testenv.Must(t, err)
		return out
	}
	if got := leaks("it was elsewhere:\r\n" + strings.ReplaceAll(key, "\n", "\r\n")); got != nil {
		t.Errorf("a key that is there already: %+v", got)
	}
	if got := leaks(strings.ReplaceAll(key, "IIEv", "IIEw")); len(got) != 1 {
		t.Errorf("a new key: %+v", got)
	}
	var many strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&many, "AKIA"+"Q3EGRIV2N5XZ%c%c%c%c\n", 'A'+i%25, 'B'+i/25%25, 'C'+i%7, 'D'+i%11)
	}
	got := leaks(many.String() + "canary-0123456789abcdef")
	if n := len(got); n != maxLeaks+1 || got[n-1] != (engine.Leak{Line: 2001, Name: "A_TOKEN", Known: true}) {
		t.Errorf("many keys: %+v", got)
	}
}
