//go:build e2e

package e2e

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// place is where one test happens: a model, a repository with a bare origin,
// and a home that nobody else uses.
type place struct {
	t     *testing.T
	model *model.Server
	root  string // holds the rest
	repo  string // a clone of origin with one commit on main
	home  string
	user  int      // whose processes run here; 0: the tests' own
	more  []string // variables besides environ
	opens string   // a file that programs start with, as descriptor 7; "" is none

	mu     sync.Mutex
	script model.Script // what the model says, see says
}

// newPlace makes a place for a test, which then runs beside others.
func newPlace(t *testing.T) *place {
	t.Helper()
	return newPlaceOf(t, scratch, 0)
}

// newPlaceOf makes a place in a folder for processes of a user.
func newPlaceOf(t *testing.T, folder string, user int) *place {
	t.Helper()
	t.Parallel()
	root, err := os.MkdirTemp(folder, "place-")
	testenv.Must(t, err)
	p := &place{t: t, user: user, root: root, repo: filepath.Join(root, "repo"), home: filepath.Join(root, "home")}
	p.model = model.Start(func(r model.Request) model.Reply {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.script(r)
	})
	t.Cleanup(func() {
		if asked := p.model.Refused(); len(asked) > 0 {
			t.Errorf("the agent asked for what the model does not serve: %q", asked)
		}
		p.model.Close()
		os.RemoveAll(root)
	})
	p.write("home/.gitconfig", "[user]\n\tname = Tester\n\temail = tester@example.com\n[init]\n\tdefaultBranch = main\n")
	p.git(root, "init", "--quiet", "--bare", "origin.git")
	p.git(root, "clone", "--quiet", "origin.git", "repo")
	p.write("repo/README.md", "# Demo\n")
	p.write("repo/main.go", "package main\n\nfunc main() {}\n")
	p.git(p.repo, "add", ".")
	p.git(p.repo, "commit", "--quiet", "-m", "Start")
	p.git(p.repo, "push", "--quiet", "origin", "main")
	return p
}

// says sets the script of the model, before it is asked for the first time or
// while nobody asks.
func (p *place) says(script model.Script) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = script
}

// environ is what a process sees at this place: the model as the only service
// in the world, and a token that no agent may ever see.
func (p *place) environ() []string {
	return append([]string{
		"PATH=" + programs + ":" + os.Getenv("PATH"),
		"HOME=" + p.home,
		"REPRISE_HOME=" + filepath.Join(p.root, "runs"),
		"LANG=C.UTF-8",
		"ANTHROPIC_BASE_URL=" + p.model.URL,
		"ANTHROPIC_API_KEY=test-key",
		"OPENAI_BASE_URL=" + p.model.URL + "/v1",
		"OPENAI_API_KEY=test-key",
		"GITHUB_TOKEN=" + canary,
		"ACTIONS_RUNTIME_TOKEN=" + canary,
	}, p.more...)
}

// canary stands for a secret: it must not turn up anywhere.
const canary = "canary-5d41402abc4b"

// write makes a file, given by its path from the root of the place.
func (p *place) write(name, content string) {
	p.t.Helper()
	name = filepath.Join(p.root, name)
	testenv.Put(p.t, name, content)
}

// read gives a file's content, or "" if there is none.
func (p *place) read(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(name)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(data)
}

// git runs git and gives what it printed.
func (p *place) git(dir string, args ...string) string {
	p.t.Helper()
	out := p.exec(dir, "git", args...)
	if out.code != 0 {
		p.t.Fatalf("git %s: exit code %d\n%s", strings.Join(args, " "), out.code, out.stderr)
	}
	return strings.TrimSpace(out.stdout)
}

// reprise runs the program in the repository.
func (p *place) reprise(args ...string) output {
	p.t.Helper()
	return p.begin(args...).wait()
}

// begin starts the program in the repository.
func (p *place) begin(args ...string) *process {
	p.t.Helper()
	path := built(p.t)
	return p.launch(p.repo, path, args...)
}

func (p *place) exec(dir, name string, args ...string) output {
	p.t.Helper()
	return p.launch(dir, name, args...).wait()
}

// process is a program that was started.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr string // files
}

// output is what a process left. The code is -1 if a signal ended it.
type output struct {
	code           int
	stdout, stderr string
}

func (p *place) launch(dir, name string, args ...string) *process {
	p.t.Helper()
	said := p.t.TempDir() // in files: an agent that outlives its parent may hold on to them
	c := &process{t: p.t, cmd: exec.CommandContext(p.t.Context(), name, args...), stdout: filepath.Join(said, "stdout"), stderr: filepath.Join(said, "stderr")}
	c.cmd.Dir, c.cmd.Env = dir, p.environ()
	for file, stream := range map[string]*io.Writer{c.stdout: &c.cmd.Stdout, c.stderr: &c.cmd.Stderr} {
		f, err := os.Create(file)
		testenv.Must(p.t, err)
		defer f.Close()
		*stream = f
	}
	p.own(c.cmd)
	if p.opens != "" {
		f, err := os.Open(p.opens)
		testenv.Must(p.t, err)
		defer f.Close()
		c.cmd.ExtraFiles = []*os.File{4: f} // they begin at descriptor 3
	}
	testenv.Must(p.t, c.cmd.Start())
	return c
}

// own lets a program run as the user of the place, who has all there is here.
func (p *place) own(c *exec.Cmd) {
	p.t.Helper()
	if p.user == 0 {
		return
	}
	if err := filepath.WalkDir(p.root, func(path string, _ fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a temporary file of a program at work
		}
		return errors.Join(err, os.Lchown(path, p.user, p.user))
	}); err != nil && !errors.Is(err, fs.ErrNotExist) {
		p.t.Fatal(err)
	}
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(p.user), Gid: uint32(p.user)}}
}

// wait gives what is left when the process has ended.
func (c *process) wait() output {
	c.cmd.Wait() // the exit code tells how it ended
	stdout, err := os.ReadFile(c.stdout)
	stderr, failed := os.ReadFile(c.stderr)
	testenv.Must(c.t, errors.Join(err, failed))
	return output{c.cmd.ProcessState.ExitCode(), string(stdout), string(stderr)}
}
