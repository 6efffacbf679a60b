package sandbox

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
)

// helper is what waits in a sandbox for its next call.
func (c *cell) helper() *process.Standby {
	c.box.ahead.Lock()
	defer c.box.ahead.Unlock()
	return c.box.ahead.helper
}

// held is a call in the sandbox, which is then given up.
func (c *cell) held(what string) *process.Standby {
	c.t.Helper()
	call := c.call("true")
	leave, err := c.box.MoveIn(c.t.Context(), &call, Home{Program: "sh"})
	if err != nil {
		c.t.Fatal(what, err)
	}
	defer leave(false)
	if call, err = c.box.Hold(call); err != nil {
		c.t.Fatal(what, err)
	}
	for _, f := range call.Files {
		_ = f.Close()
	}
	return call.Standby
}

// A call takes the helper that waits for one of its kind, and starts its own where there
// is none.
func TestHelperAhead(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	if !c.together(separation{namespaced: true, network: c.box.together.network}) {
		c.box.GetReady(false)
		if c.box.ahead.helper != nil || c.held("without namespaces") != nil {
			t.Error("a helper was started where it has no namespaces")
		}
		return
	}
	take := func(what string, want bool) {
		t.Helper()
		got := c.held(what)
		if (got != nil) != want {
			t.Errorf("%s: the helper that waited was taken: %v", what, got != nil)
		}
		if got != nil {
			got.End()
		}
	}
	take("nobody has got ready", false)
	c.box.GetReady(false)
	first := c.helper()
	c.box.GetReady(false)
	if first == nil || c.helper() != first {
		t.Errorf("getting ready twice gives %p and %p", first, c.helper())
	}
	take("an open network", true)
	take("used up", false)
	c.box.GetReady(false)
	c.helper().End()
	for end := time.Now().Add(5 * time.Minute); c.helper().Waits(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a helper does not end")
		}
	}
	take("it has ended", false)
	c.box.GetReady(false)
	last := c.helper()
	c.box.End()
	if c.helper() != nil {
		t.Error("it is kept after its end")
	}
	for end := time.Now().Add(5 * time.Minute); last.Waits(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("a helper that is not needed does not end")
		}
	}
	if !c.box.together.network {
		return
	}
	c.box.GetReady(true)
	take("a closed network waits for an open one", false)
	c.box.GetReady(false)
	c.network = &Network{Port: 9}
	take("an open network waits for a closed one", false)
	c.box.GetReady(true)
	take("a closed network", true)
	c.box.End()
}

// What comes out is the same, whether the helper has waited or not: its program, its
// folder, its variables, what it reads, and that nothing else is open in it.
func TestHelperAheadChangesNothing(t *testing.T) {
	t.Parallel()
	c, look := newCell(t), "true"
	if c.box.together.namespaced {
		look = "ls " + memory // elsewhere it is everybody's, and others put files there meanwhile
	}
	for _, network := range []*Network{nil, {}, {Listen: true}} {
		var said []string
		for _, ready := range []bool{false, true} {
			c.network = network
			call := c.call(`cat; pwd; env | sort | grep -v REPRISE_TASK; ls /proc/self/fd; ulimit -f; cat /proc/self/oom_score_adj; umask; grep -E "^(Sig[PBIC]|Cap|NoNew|Seccomp)" /proc/self/status; ` + look)
			call.Env = append(call.Env, "ODD=two\nlines \xff")
			if ready {
				c.box.GetReady(network != nil)
			}
			e, err := endingOf(c, call, "read this\n")
			if err != nil || e.Code() != 0 {
				t.Fatalf("it ended with %+v, %v", e, err)
			}
			said = append(said, e.Stdout)
		}
		if said[0] != said[1] || !strings.Contains(said[0], "read this") {
			t.Errorf("with %+v it says\n%s\nand ahead\n%s", network, said[0], said[1])
		}
	}
	c.box.End()
}

// endingOf runs a call in the sandbox with a standard input, and does not get ready for it.
func endingOf(c *cell, call Call, stdin string) (process.Ending, error) {
	call.Temp = c.t.TempDir()
	leave, err := c.box.MoveIn(c.t.Context(), &call, Home{Program: "sh"})
	if err != nil {
		return process.Ending{}, err
	}
	defer leave(false)
	if call, err = c.box.Hold(call); err != nil {
		return process.Ending{}, err
	}
	return process.Program{
		Argv: call.Argv, Env: call.Env, Dir: call.Dir, Stdin: stdin, Own: call.Own, Network: call.Apart, Files: call.Files, Standby: call.Standby,
		Whole: time.Minute, Line: func([]byte) process.Reaction { return process.GoOn },
	}.Run(c.t.Context())
}

// A helper on standby can be told only once what to start, and then says what is wrong
// with it as any helper does.
func TestHelperAheadOfWhatDoesNotStart(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	c.box.GetReady(false)
	call := c.call("true")
	call.Argv = []string{c.dir + "/no such program"}
	e, err := endingOf(c, call, "")
	if err != nil || e.Code() == 0 || !strings.Contains(e.Stderr, fmt.Sprintf("starting %s: no such file", call.Argv[0])) {
		t.Errorf("it ended with %+v, %v", e, err)
	}
}
