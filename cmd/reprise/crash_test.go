package main

import (
	"bytes"
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// stand is a folder with everything that a run needs, see world.
type stand struct {
	t   *testing.T
	dir string
	env []string
	as  string // name of the program; empty: reprise
	// under is the program with its arguments under which the program is
	// started; nil: none.
	under []string
}

// newStand is a stand whose repository has more files, by their names.
func newStand(t *testing.T, files map[string]string) *stand {
	t.Helper()
	s := &stand{t: t, dir: t.TempDir()}
	for name, text := range files {
		s.write(filepath.Join("project", name), text)
	}
	vars, err := world.Make(s.dir)
	testenv.Must(t, err)
	s.env = append(os.Environ(), vars...)
	return s
}

func (s *stand) path(name string) string { return filepath.Join(s.dir, name) }

func (s *stand) write(name, text string) {
	s.t.Helper()
	testenv.Put(s.t, s.path(name), text)
}

// life is one process of the program.
type life struct {
	cmd  *exec.Cmd
	said bytes.Buffer // on both streams
	over chan struct{}

	began time.Time
}

// soon is how long a process may take from now on for what it is to do at once: far
// less than an agent takes that hangs. A busy machine, on which it took long to come
// here, is slow at that as well.
func (l *life) soon() time.Duration { return time.Minute + 5*time.Since(l.began) }

// start starts the program in a session of its own.
func (s *stand) start(args ...string) *life {
	s.t.Helper()
	args = append(append(slices.Clone(s.under), program(s.t, s.as)), args...)
	l := &life{cmd: exec.Command(args[0], args[1:]...), over: make(chan struct{}), began: time.Now()}
	l.cmd.Dir, l.cmd.Env = s.path("project"), s.env
	l.cmd.Stdout, l.cmd.Stderr = &l.said, &l.said
	l.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	l.cmd.WaitDelay = time.Minute // for what it may have left behind, which holds its output
	testenv.Must(s.t, l.cmd.Start())
	go func() {
		defer close(l.over)
		_ = l.cmd.Wait() // the state tells how it ended
	}()
	return l
}

// program is the test binary under one of its other names.
func program(t *testing.T, as string) string {
	t.Helper()
	name, err := exec.LookPath(cmp.Or(as, "reprise"))
	testenv.Must(t, err)
	return name
}

// code waits for the end of a process and gives its exit code, -1 if it was
// killed.
func (l *life) code() int {
	<-l.over
	return l.cmd.ProcessState.ExitCode()
}

// session lists the processes of a session, but for those that are at work in
// origin: in earnest that is another machine.
func session(id int) []int {
	var pids []int
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		text, _ := os.ReadFile(filepath.Join(dir, "stat"))
		_, rest, _ := strings.Cut(string(text), ") ") // state, parent, group, session
		where, _ := os.Readlink(filepath.Join(dir, "cwd"))
		f := strings.Fields(rest)
		if len(f) > 3 && f[3] == strconv.Itoa(id) && filepath.Base(where) != "origin.git" {
			pid, _ := strconv.Atoi(filepath.Base(dir))
			pids = append(pids, pid)
		}
	}
	return pids
}

// run runs the program to its end, which has to come with that exit code.
func (s *stand) run(code int, args ...string) string {
	s.t.Helper()
	l := s.start(args...)
	if got := l.code(); got != code {
		s.t.Fatalf("reprise %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, code, l.said.String())
	}
	return l.said.String()
}

// origin gives the newest commit of a run on origin, or "".
func (s *stand) origin(id string) string {
	out, err := testenv.Git(s.path("origin.git"), "rev-parse", "--verify", "--quiet", "refs/heads/"+environ.BranchPrefix+id)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(out)
}

// holds checks the branch of a run on origin, commit by commit, and that it
// still has the commits that were there once.
func (s *stand) holds(id string, once ...string) metadata.Run {
	s.t.Helper()
	run, err := world.Audit(s.path("origin.git"), environ.BranchPrefix+id)
	if err != nil {
		s.t.Fatalf("issue %s: %v", id, err)
	}
	for _, commit := range once {
		branch := environ.BranchPrefix + id
		_, err := testenv.Git(s.path("origin.git"), "merge-base", "--is-ancestor", commit, branch)
		if at := world.RecordAt(s.path("origin.git"), branch); err != nil && at != branch {
			_, err = testenv.Git(s.path("origin.git"), "merge-base", "--is-ancestor", commit, at)
		}
		if err != nil {
			s.t.Errorf("issue %s: commit %s is lost: %v", id, commit, err)
		}
	}
	if out, err := testenv.Git(s.path("project"), "--no-optional-locks", "status", "--porcelain"); err != nil || out != "" {
		s.t.Errorf("the user's checkout has changed: %q, %v", out, err)
	}
	return run
}

// done lists the steps that succeeded.
func done(run metadata.Run) string {
	var steps []string
	for _, a := range run.Attempts {
		if a.Status == metadata.Succeeded {
			steps = append(steps, a.Phase+" "+string(a.Step))
		}
	}
	return strings.Join(steps, ", ")
}

// A process that is told to stop says so on the branch at once, and
// starting again repeats only the step it was at.
func TestToldToStop(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		signal syscall.Signal
		group  bool // as a terminal does it, to everything in the foreground
	}{
		{"interrupted", syscall.SIGINT, false},
		{"interrupted at a terminal", syscall.SIGINT, true},
		{"terminated", syscall.SIGTERM, false},
		{"left by its terminal", syscall.SIGHUP, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t, nil)
			s.write("own.cue", `
agents: own: {use: "command", command: ["sh", "-c", "`+waits+`"]}
phases: [{name: "plan", goal: "Plan.", review: false}, {name: "build", goal: "Build.", access: "tree", review: false}]
`)
			l := s.start("run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off")
			s.await(l, "home/working")
			pid := l.cmd.Process.Pid
			if test.group {
				pid = -pid
			}
			told, most := time.Now(), l.soon()
			testenv.Must(t, syscall.Kill(pid, test.signal))
			code := l.code()
			if took := time.Since(told); code != exit.Cancelled || took > most {
				t.Errorf("exit code %d after %v, want %d within %v\n%s", code, took, exit.Cancelled, most, l.said.String())
			}
			if run := s.holds("7"); run.Status != metadata.Interrupted || len(run.Attempts) != 2 || run.Attempts[1].Status != metadata.Cut {
				t.Errorf("the run is %s with %+v", run.Status, run.Attempts)
			}
			s.write("home/go-on", "")
			s.run(0, "run", "--issue", "7", "--sandbox", "off")
			testenv.Is(t, "did", done(s.holds("7")), "plan execute, build execute")
		})
	}
}

// waits is an agent that hangs in build until it may go on. Folders may have a
// space in their names.
const waits = `IFS=; if [ $REPRISE_PHASE = build ] && ! [ -e $HOME/go-on ]; then touch $HOME/working; sleep 300; fi; echo done >$REPRISE_ARTIFACT`

// await waits until a running process has made a file.
func (s *stand) await(l *life, name string) {
	s.t.Helper()
	for end := time.Now().Add(10 * time.Minute); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(s.path(name)); err == nil {
			return
		}
		select {
		case <-l.over:
			s.t.Fatalf("it ended before %s was there:\n%s", name, l.said.String())
		default:
		}
	}
	s.t.Fatalf("%s has not come", name)
}
