//go:build unix

package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// awaiting is a helper on standby that says what it was told to start, and what follows.
func awaiting([]string) int {
	argv, env, err := AwaitOrder()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	dir, _ := os.Getwd()
	rest, _ := io.ReadAll(os.Stdin)
	slices.Sort(env)
	fmt.Printf("%q\n%q\n%q\n%d %q\n", dir, argv, env, len(rest), rest[:min(len(rest), 20)])
	return 0
}

func waiting(t *testing.T) *Standby {
	t.Helper()
	cmd := exec.Command(self(t), "fake", "await an order")
	cmd.SysProcAttr = Apart()
	s, err := start(cmd, uuid.NewString(), false, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Standby{started: s}
}

// A helper that waits is told all of a program, whatever is in it, and takes no byte of
// what is the program's.
func TestStandby(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/a folder\n"
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		argv, env []string
		stdin     string
	}{
		{[]string{"/bin/x"}, nil, ""},
		{[]string{"/bin/x", "", "two words", "line\nline", "\xff\xfe", ""}, []string{"A=", "B=\xff=\n", "LONG=" + strings.Repeat("x", 300_000)}, strings.Repeat("0 0\n", 50_000)},
	} {
		s := waiting(t)
		p := program(tt.argv...)
		p.Env, p.Dir, p.Stdin, p.Standby = tt.env, dir, tt.stdin, s
		e, err := p.Run(t.Context())
		if err != nil || e.Code() != 0 {
			t.Fatalf("it ended with %+v, %v", e, err)
		}
		env := append(slices.Clone(tt.env), markerVar+"="+s.task, treeVar+"="+dir)
		slices.Sort(env)
		want := fmt.Sprintf("%q\n%q\n%q\n%d %q\n", dir, tt.argv, env, len(tt.stdin), tt.stdin[:min(len(tt.stdin), 20)])
		if got := e.Stdout; got != want && !(len(want) > 200_000 && strings.HasPrefix(want, got[:1000]) && strings.HasSuffix(want, got[len(got)-1000:])) {
			t.Errorf("it was told %.2000q, want %.2000q", got, want)
		}
	}
}

// What cannot be told is an error, and then no helper is left.
func TestStandbyCannotBeTold(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	p := program("/bin/x", "a\x00b")
	p.Standby = s
	if _, err := p.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "NUL") {
		t.Errorf("got %v", err)
	}
	mustEnd(t, s)
}

// A helper that is not needed ends, and one that has ended is seen to have.
func TestStandbyEnds(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	if !s.Waits() {
		t.Error("it does not wait")
	}
	s.End()
	mustEnd(t, s)
	if s.Waits() {
		t.Error("it still waits")
	}
}

// A helper whose reprise has ended without a word ends by itself.
func TestStandbyOfAnEndedReprise(t *testing.T) {
	t.Parallel()
	s := waiting(t)
	_ = s.pipes.stdin.Close()
	mustEnd(t, s)
	said, _ := io.ReadAll(s.pipes.stderr)
	if !strings.Contains(string(said), "needs no helper") {
		t.Errorf("it says %q", said)
	}
	s.End()
}

func mustEnd(t *testing.T, s *Standby) {
	t.Helper()
	select {
	case <-s.child.exited:
	case <-time.After(5 * time.Minute):
		t.Fatal("it is still there")
	}
}
