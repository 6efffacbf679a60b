package setup

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestLook goes through small repositories. The first file of each says what is
// to be found in it.
func TestLook(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d repositories, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			testenv.Must(t, err)
			fsys := fstest.MapFS{}
			for _, f := range a.Files[1:] {
				fsys[f.Name] = &fstest.MapFile{Data: f.Data}
			}
			got := tell(Detect(fsys))
			if *testenv.Update {
				a.Files[0].Data = []byte(got)
				testenv.Put(t, file, string(txtar.Format(a)))
			}
			if diff := cmp.Diff(string(a.Files[0].Data), got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// tell writes down what was found.
func tell(f Found) string {
	var out strings.Builder
	commands := func(kind string, list []FoundCommand) {
		for _, c := range list {
			fmt.Fprintf(&out, "%s %s: %s (%s)", kind, c.Name, c.Run, c.Why)
			for _, name := range slices.Sorted(maps.Keys(c.Env)) {
				fmt.Fprintf(&out, " %s=%s", name, c.Env[name])
			}
			if len(c.Hosts) > 0 {
				out.WriteString(" from " + strings.Join(c.Hosts, " "))
			}
			if len(c.Leaves) > 0 {
				out.WriteString(" leaves " + strings.Join(c.Leaves, " "))
			}
			out.WriteString("\n")
		}
	}
	commands("setup", f.Setup)
	commands("check", f.Checks)
	for _, n := range f.Unused {
		fmt.Fprintf(&out, "unused %s: %s\n", n.What, n.Why)
	}
	for _, n := range f.Needs {
		fmt.Fprintf(&out, "needs %s\n", n)
	}
	return out.String()
}

// A repository may be anybody's: what is no file is not opened, and what leads out
// of it is not followed.
func TestLookAtWhatIsNoFile(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	testenv.Put(t, filepath.Join(outside, "Cargo.toml"), "")
	testenv.Must(t, syscall.Mkfifo(filepath.Join(dir, "go.mod"), 0o644))
	testenv.Must(t, os.Symlink(filepath.Join(outside, "Cargo.toml"), filepath.Join(dir, "Cargo.toml")))
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	defer root.Close()
	if got := tell(Detect(root.FS())); got != "" {
		t.Errorf("found\n%s", got)
	}
}

// Names stay unique and short enough for a pipeline, however many folders there are.
func TestNames(t *testing.T) {
	fsys := fstest.MapFS{}
	for _, dir := range []string{"a/b", "a-b", "a.b", strings.Repeat("long", 10) + "/" + strings.Repeat("x", 40), strings.Repeat("long", 10) + "/" + strings.Repeat("y", 40)} {
		fsys[dir+"/go.mod"] = &fstest.MapFile{}
	}
	seen := map[string]bool{}
	for _, c := range Detect(fsys).Checks {
		if name := strings.ToLower(c.Name); seen[name] || len(name) > 40 {
			t.Errorf("%q is too long, or there twice", c.Name)
		}
		seen[strings.ToLower(c.Name)] = true
	}
	if len(seen) != 10 {
		t.Errorf("%d checks, want 10", len(seen))
	}
}
