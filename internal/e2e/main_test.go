//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// programs is where npm puts the agent programs. REPRISE_E2E_PROGRAMS names
// another folder, to try other versions of them.
var programs string

// binary builds reprise, once, and gives its path. The tests of the agents
// alone do without.
var binary = sync.OnceValues(build)

// scratch is a folder that is gone after the tests.
var scratch string

func TestMain(m *testing.M) {
	if os.Getenv(wordServer) != "" {
		serveWords(os.Stdin, os.Stdout, os.Getenv("KEY"))
		return
	}
	code := 1
	if err := prepare(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
	} else {
		testenv.Together(3, 24)
		code = m.Run()
	}
	os.RemoveAll(scratch)
	os.Exit(code)
}

// prepare makes sure that what the tests are about is there.
func prepare() error {
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	programs = filepath.Join(here, "node_modules", ".bin")
	if other := os.Getenv("REPRISE_E2E_PROGRAMS"); other != "" {
		programs = other
	}
	for _, name := range []string{"claude", "codex", "gemini"} {
		if out, err := exec.Command(filepath.Join(programs, name), "--version").CombinedOutput(); err != nil {
			return fmt.Errorf("%s does not run: %w %s\nthese tests drive the real programs; install them with: npm ci --prefix internal/e2e", name, err, out)
		}
	}
	// Not below the usual temporary folder: codex keeps that writable in every
	// sandbox, so a forbidden write there would prove nothing.
	cache, err := os.UserCacheDir()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	scratch, err = os.MkdirTemp(cache, "reprise-e2e-")
	return err
}

func build() (string, error) {
	path := filepath.Join(scratch, "reprise")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/reprise-ci/reprise/cmd/reprise").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build reprise: %w\n%s", err, out)
	}
	return path, nil
}

// built is the program, which has to be there.
func built(t testing.TB) string {
	t.Helper()
	path, err := binary()
	testenv.Must(t, err)
	return path
}
