package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/ordinary"
	"github.com/reprise-ci/reprise/internal/testenv"
)

// TestMain lets the test binary be the program itself, too: for scripts, and
// as the child process that evaluates CUE.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == evaluateCommand {
		serveEvaluation()
	}
	if strings.HasSuffix(os.Args[0], ".test") {
		inMemory()
		together()
	}
	testscript.Main(sameEverywhere{m}, map[string]func(){"reprise": main, "hurried": hurried, "traced": traced})
}

// sameEverywhere runs the tests in the surroundings that all rooms have in common.
type sameEverywhere struct{ *testing.M }

// Run is called in the process that runs tests, and in no other.
func (s sameEverywhere) Run() int {
	defer testenv.Neutral()()
	return s.M.Run()
}

// together has more tests run at once than there are processors, unless somebody
// says how many: most of them wait for processes most of the time.
func together() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		_ = flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))) // a valid number
	}
}

// memory is a file system in memory that Linux has. Programs in the sandbox may
// write there if they may change code, so tests of the sandbox stay on the disk.
const memory = "/dev/shm"

// inMemory has temporary folders made in memory: tests make and remove many
// thousands of small files, which on a disk takes half of their time. Nothing
// here looks at what a power failure leaves; being killed loses nothing of
// either. Who has set TMPDIR names such a folder by REPRISE_TEST_MEMORY.
func inMemory() {
	const enough = 2 << 30 // bytes
	var stat unix.Statfs_t
	folder := os.Getenv("REPRISE_TEST_MEMORY")
	if folder == "" && os.Getenv("TMPDIR") == "" && unix.Statfs(memory, &stat) == nil && stat.Bavail*uint64(stat.Bsize) > enough {
		folder = memory
	}
	if folder != "" {
		disk = cmp.Or(os.Getenv("TMPDIR"), "/tmp")
		_ = os.Setenv("TMPDIR", folder) // a valid name
	}
}

// disk is where temporary folders are that are not in memory; "" where all are.
var disk string

// onDisk gives a temporary folder that is not in memory.
func onDisk(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(disk, "reprise-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a temporary folder
	return dir
}

// serveEvaluation is the program as its own child. The race detector waits a
// second at the end of a process unless the environment, which the parent
// keeps from its child, says otherwise.
func serveEvaluation() {
	if raced && os.Getenv("GORACE") == "" {
		self, err := os.Executable()
		if err == nil {
			err = syscall.Exec(self, os.Args, append(os.Environ(), noRaceWait))
		}
		fmt.Fprintln(os.Stderr, "starting over:", err)
		os.Exit(1)
	}
	main()
}

const noRaceWait = "GORACE=atexit_sleep_ms=0"

// The scripts run the program as people do: with real git, a repository of
// their own and a bare one as its origin.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: scriptCommands(), RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			vars, err := world(e.WorkDir)
			e.Vars, e.Cd = append(e.Vars, vars...), filepath.Join(e.WorkDir, "project")
			return err
		},
	})
}

// The scripts about the sandbox.
func TestSandboxScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/sandbox", Cmds: scriptCommands(), RequireUniqueNames: true, WorkdirRoot: onDisk(t),
		Setup: func(e *testscript.Env) error {
			vars, err := world(e.WorkDir)
			e.Vars, e.Cd = append(e.Vars, vars...), filepath.Join(e.WorkDir, "project")
			return err
		},
	})
}

// The scripts about what keeps an ordinary user from working, but not root.
func TestOrdinaryScripts(t *testing.T) {
	ordinary.Test(t, func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir: "testdata/ordinary", Cmds: scriptCommands(), RequireUniqueNames: true,
			Setup: func(e *testscript.Env) error {
				vars, err := world(e.WorkDir)
				e.Vars, e.Cd = append(e.Vars, vars...), filepath.Join(e.WorkDir, "project")
				return err
			},
		})
	}, "testdata")
}

// world lays out what a test finds in its folder:
//
//	7.md          an issue
//	project       a repository
//	origin.git    its origin
//	bin           first in the PATH; its files are programs
//	home          HOME
//	runs          REPRISE_HOME, not there yet
//	tmp           TMPDIR
//
// Files that are there stay as they are. It returns the environment for it.
func world(dir string) ([]string, error) {
	work := func(names ...string) string { return filepath.Join(append([]string{dir}, names...)...) }
	if err := lay("testdata/world", dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(work("tmp"), 0o755); err != nil {
		return nil, err
	}
	programs, err := filepath.Glob(work("bin", "*"))
	if err != nil {
		return nil, err
	}
	for _, p := range programs {
		if err := os.Chmod(p, 0o755); err != nil {
			return nil, err
		}
	}
	vars := []string{
		"PATH=" + work("bin") + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + work("home"),
		"REPRISE_HOME=" + work("runs"), "GIT_CONFIG_GLOBAL=" + work("home", ".gitconfig"), "GIT_CONFIG_NOSYSTEM=1",
		"XDG_CONFIG_HOME=", "XDG_CACHE_HOME=", // those of HOME
		"GOGC=400", // processes that live for a moment need not tidy up
		"TMPDIR=" + work("tmp"), noRaceWait, "NO_COLOR=1", "CI=", "GITHUB_ACTIONS=",
	}
	return vars, repository(append(os.Environ(), vars...), work("project"), work("origin.git"))
}

// repository makes a folder a repository with one commit, and an origin of it.
func repository(env []string, dir, origin string) error {
	for _, args := range [][]string{
		{"init", "--quiet", dir},
		{"-C", dir, "add", "--all"},
		{"-C", dir, "commit", "--quiet", "--message=start"},
		{"clone", "--quiet", "--bare", dir, origin},
		{"-C", origin, "config", "receive.autogc", "false"}, // a process for each push, which here finds nothing to do
		{"-C", dir, "remote", "add", "origin", origin},
	} {
		c := exec.Command("git", args...)
		c.Env = env
		if out, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, out)
		}
	}
	return nil
}

// lay copies a folder, but for what is there already.
func lay(from, to string) error {
	root := os.DirFS(from)
	return walkFiles(root, func(name string, data []byte) error {
		file := filepath.Join(to, filepath.FromSlash(name))
		if _, err := os.Lstat(file); err == nil {
			return nil
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o644)
	})
}
