package bare

import (
	"encoding/base64"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func newRepository(t *testing.T) Repository {
	t.Helper()
	r := Repository(filepath.Join(t.TempDir(), "origin.git"))
	script := `git init -q --bare -b main "$1" && cd "$1" && c=$(git commit-tree -m first "$(git hash-object -t tree -w /dev/null)") && git update-ref refs/heads/main "$c"`
	if out, err := exec.Command("sh", "-c", script, "sh", string(r)).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return r
}

func TestPut(t *testing.T) {
	r := newRepository(t)
	first := r.Ref("refs/heads/main")
	if err := r.Put("main", "docs/a.md", "a word", base64.StdEncoding.EncodeToString([]byte("hello\n"))); err != nil {
		t.Fatal(err)
	}
	second := r.Ref("refs/heads/main")
	if second == first || second == "" || !r.Ahead(second, first) || r.Ahead(first, second) {
		t.Errorf("main was at %s and is at %s", first, second)
	}
	if _, kind, data, found := r.Object("main:docs/a.md"); !found || kind != "blob" || string(data) != "hello\n" {
		t.Errorf("%v %s %q", found, kind, data)
	}
	if _, _, _, found := r.Object("main:docs/b.md"); found {
		t.Error("there is a file that nobody made")
	}
	if err := r.Put("nowhere", "a.md", "a word", ""); err == nil {
		t.Error("a file came to a branch that is not there")
	}
}

func TestRefs(t *testing.T) {
	r := newRepository(t)
	at := r.Ref("refs/heads/main")
	if known, err := r.Create("refs/heads/side", at); !known || err != nil || r.Ref("refs/heads/side") != at {
		t.Errorf("%v (%v), side is at %q", known, err, r.Ref("refs/heads/side"))
	}
	if known, err := r.Create("refs/heads/side", at); !known || err == nil {
		t.Errorf("side is made twice: %v (%v)", known, err)
	}
	if known, err := r.Create("refs/heads/other", "0123456789012345678901234567890123456789"); known || err != nil {
		t.Errorf("a commit that is not there: %v (%v)", known, err)
	}
	if _, err := r.Git("pack-refs", "--all"); err != nil || r.Ref("refs/heads/side") != at {
		t.Errorf("packed, side is at %q (%v)", r.Ref("refs/heads/side"), err)
	}
	if got := Repository("").Ref("refs/heads/main"); got != "" {
		t.Errorf("no repository has %s", got)
	}
}
