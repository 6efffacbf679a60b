package listing_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/git/listing"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// place is a work tree.
type place struct {
	t   *testing.T
	dir string
}

func newPlace(t *testing.T) place {
	t.Helper()
	p := place{t, filepath.Join(t.TempDir(), "a b")}
	p.git("init", "-q", p.dir)
	return p
}

func (p place) git(args ...string) string {
	p.t.Helper()
	c := exec.Command("git", args...)
	if args[0] != "init" {
		c.Dir = p.dir
	}
	out, err := c.Output()
	if err != nil {
		p.t.Fatalf("git %s: %v", args, err)
	}
	return string(out)
}

func (p place) put(name string) {
	p.t.Helper()
	name = filepath.Join(p.dir, name)
	must(p.t, os.MkdirAll(filepath.Dir(name), 0o755))
	must(p.t, os.WriteFile(name, []byte(name), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (p place) listing(without string) listing.Listing {
	p.t.Helper()
	return listing.Of([]byte(p.git("ls-tree", "-r", "-z", strings.TrimSpace(p.git("write-tree")))), "c", without)
}

// others is what the listing of a place does not have.
func (p place) others(fold bool) []string {
	p.t.Helper()
	top, err := os.OpenRoot(p.dir)
	must(p.t, err)
	defer func() { _ = top.Close() }()
	l := p.listing(".state/run")
	got, err := l.Others(top, fold)
	must(p.t, err)
	slices.Sort(got)
	return got
}

// What the index of a work tree does not have is what git says, whatever lies there.
func TestOthersIsWhatGitSays(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	names := []string{"a", "b/c", "b/d/e", "b.x/y", "b0", "f/g/h", "f/i", "k/l/m/n", "日本/x\ny"}
	for range 8 {
		p := newPlace(t)
		p.put(".gitignore")
		must(t, os.WriteFile(p.dir+"/.gitignore", []byte("b0\n*.x\n"), 0o644))
		for _, name := range names {
			if r.IntN(2) == 0 {
				p.put(name)
			}
		}
		p.git("add", "-A", "-f")
		for _, name := range names {
			switch r.IntN(6) {
			case 0:
				must(t, os.RemoveAll(filepath.Join(p.dir, name)))
			case 1:
				p.put(name + "-new")
			case 2:
				must(t, os.MkdirAll(filepath.Join(p.dir, name+"-empty", "x"), 0o755))
			case 3:
				p.git("init", "-q", filepath.Join(p.dir, name+"-repository"))
			case 4:
				_ = os.Symlink("/", filepath.Join(p.dir, name+"-link")) // its folder need not be there
			case 5:
				_ = syscall.Mkfifo(filepath.Join(p.dir, name+"-pipe"), 0o644) // likewise
			}
		}
		var want []string
		for _, name := range strings.Split(p.git("ls-files", "-z", "-o", "--directory", "--no-empty-directory"), "\x00") {
			if name != "" {
				want = append(want, strings.TrimSuffix(name, "/"))
			}
		}
		slices.Sort(want)
		if diff := cmp.Diff(want, p.others(false)); diff != "" {
			t.Fatalf("seed %d (-git +ours):\n%s", seed, diff)
		}
	}
}

// The folder that a listing is without is left alone, and nothing beside it. What is the same
// where case is folded is no other, and what somebody locked is found.
func TestOthersLeavesAlone(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	for _, name := range []string{"Read.me", "src/Ä", "src/b"} {
		p.put(name)
	}
	p.git("add", "-A")
	must(t, os.Rename(p.dir+"/Read.me", p.dir+"/read.ME"))
	must(t, os.Rename(p.dir+"/src", p.dir+"/SRC"))
	for _, name := range []string{".state/run/record", ".state/run/deep/x", ".state/junk", ".state/runs/x", "SRC/new", "locked/in/file"} {
		p.put(name)
	}
	must(t, os.Chmod(p.dir+"/locked/in", 0))
	must(t, os.MkdirAll(p.dir+"/pipes/in", 0o755))
	must(t, syscall.Mkfifo(p.dir+"/pipes/in/it", 0o644)) // no commit has any
	if diff := cmp.Diff([]string{".state/junk", ".state/runs", "SRC/new", "locked"}, p.others(true)); diff != "" {
		t.Errorf("folded (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{".state/junk", ".state/runs", "SRC", "locked", "read.ME"}, p.others(false)); diff != "" {
		t.Errorf("exact (-want +got):\n%s", diff)
	}
}
