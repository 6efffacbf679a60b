package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/phases/engine"
)

// A key of a fixture may change its place. A file full of keys is refused after
// the first of them, and whatever else it has, a value is named.
func TestLeaks(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "repository")
	key := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 3) + "-----END RSA " + "PRIVATE KEY-----\n"
	if err := errors.Join(os.MkdirAll(dir, 0o755), os.WriteFile(filepath.Join(dir, "key.pem"), []byte(key), 0o644)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "start"}} {
		if _, err := testenv.Git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	src, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := git.Open(t.Context(), git.Options{Source: src, Root: t.TempDir(), Branch: "reprise/issue-7", State: ".reprise/issue-7"})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	g := leakGuard{secrets.New(secrets.Secret{Name: "A_TOKEN", Value: "canary-0123456789abcdef"}), repo}
	leaks := func(text string) []engine.Leak {
		out, err := g.Leaks(t.Context(), "moved.txt", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
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
