// Package scripts has the tests that run the program as people do: each is a script of
// commands, in testdata, with what they have to say.
package scripts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
)

// TestMain has the program built, which the scripts find in their PATH.
func TestMain(m *testing.M) { os.Exit(withProgram(m)) }

// built names the folder of the program for the process that runs the same tests as an
// ordinary user: there is no repository there.
const built = "REPRISE_TEST_PROGRAM"

func withProgram(m *testing.M) int {
	testenv.InMemory()
	testenv.Together(2, 16)
	dir := os.Getenv(built)
	if dir == "" {
		var err error
		if dir, err = build(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
	}
	defer testenv.Isolate()() // only now: it leaves go no home with a cache
	defer world.Models(os.TempDir())()
	for name, value := range map[string]string{built: dir, "PATH": dir + string(os.PathListSeparator) + os.Getenv("PATH")} {
		if err := os.Setenv(name, value); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	return m.Run()
}

// build builds the program into a folder of its own, with the race detector if these tests
// have it.
func build() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "reprise-program-"); err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { // for an ordinary user
		return "", err
	}
	args := []string{"build", "-ldflags=-s -w", "-o", filepath.Join(dir, "reprise")} // nobody debugs it, and it is linked in half the time
	if raced {
		args = append(args, "-race")
	}
	if out, err := exec.Command("go", append(args, "../../cmd/reprise")...).CombinedOutput(); err != nil {
		return "", errors.Join(fmt.Errorf("go build: %w\n%s", err, out), os.RemoveAll(dir))
	}
	return dir, nil
}

// The scripts run the program as people do: with real git, a repository of
// their own and a bare one as its origin.
func TestScripts(t *testing.T) { runScripts(t, "script", "") }

// The scripts about the sandbox.
func TestSandboxScripts(t *testing.T) { runScripts(t, "sandbox", testenv.OnDisk(t)) }

// The scripts about what keeps an ordinary user from working, but not root.
func TestOrdinaryScripts(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) { runScripts(t, "ordinary", "") }, "testdata")
}

// runScripts runs the scripts of a folder of testdata. They have their work in folders below
// root, or where temporary folders are.
func runScripts(t *testing.T, folder, root string) {
	t.Helper()
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("testdata", folder), Cmds: commands(), RequireUniqueNames: true, WorkdirRoot: root,
		Setup: func(e *testscript.Env) error {
			vars, err := world.Make(e.WorkDir)
			e.Vars, e.Cd = append(e.Vars, vars...), filepath.Join(e.WorkDir, "project")
			return err
		},
	})
}
