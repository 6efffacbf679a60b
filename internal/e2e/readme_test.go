//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestReadme types what README.md says, in order, as somebody does who has just cloned reprise and has an empty home: all
// but "go test ./...", which the stage suite of .ci/run takes from there. That README.ja.md has the same commands is held
// in internal/house.
func TestReadme(t *testing.T) {
	p := newPlace(t)
	p.says((&worker{change: "echo '// It greets.' >> main.go"}).script())
	out, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE").Output()
	testenv.Must(t, err)
	caches := strings.Fields(string(out)) // or everything is fetched and compiled again
	bin := filepath.Join(p.home, "go", "bin")
	p.more = []string{"PATH=" + bin + ":" + programs + ":" + os.Getenv("PATH"), "GOCACHE=" + caches[0], "GOMODCACHE=" + caches[1]}
	p.write("home/go/bin/gh", "#!/bin/sh\necho \"$*\" >>\"$HOME/asked-of-github\"\n")
	testenv.Must(t, os.Chmod(filepath.Join(bin, "gh"), 0o755))
	here, err := filepath.Abs("../..")
	testenv.Must(t, err)
	clone := filepath.Join(p.root, "clone")
	p.git(p.root, "clone", "--quiet", here, clone)
	p.write("repo/hello.md", "# It does not greet\n\nmain.go should greet.\n")
	blocks := shellBlocks(t, "README.md")
	if len(blocks) != 5 {
		t.Fatalf("README.md has %d blocks of commands; this test knows where to type five", len(blocks))
	}
	testenv.Has(t, "what it says", p.typed(clone, strings.Replace(blocks[0], "go test ./...\n", "", 1), 0), "✗ fail", "revise", "✓ completed", "Nothing was left behind.")
	p.typed(clone, blocks[1], 0)
	before := p.git(p.repo, "rev-list", "--count", "main")
	work, end, found := strings.Cut(blocks[2], "reprise finish")
	if !found {
		t.Fatalf("no run is finished by\n%s", blocks[2])
	}
	testenv.Has(t, "what it says", p.typed(p.repo, work, 0), "✓ claude", "+// It greets.")
	testenv.Has(t, "what it says", p.typed(p.repo, blocks[3], 0), "keep the API REST", "completed") // the README: before that
	p.typed(p.repo, "reprise finish"+end, 0)
	if diff := p.git(p.repo, "diff", "--name-only", "HEAD~1"); diff != "main.go" || before != p.git(p.repo, "rev-list", "--count", "main~1") {
		t.Errorf("the merge is not one commit that changes main.go alone: %s", diff)
	}
	p.typed(p.repo, blocks[4], 0)
	testenv.Has(t, "what it says", p.read(filepath.Join(p.home, "asked-of-github")), "secret set ANTHROPIC_API_KEY")
	testenv.Has(t, "what it says", p.git(p.root, "-C", "origin.git", "show", "main:.github/workflows/reprise.yml"), "OWNER/reprise@main")
}
