//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// hand is an agent whose work the test does. It is a program as any other, in
// the sandbox; it asks here what to do, and can be kept waiting.
type hand struct {
	mu    sync.Mutex
	calls []handCall
	// Calls for the phase kept wait until wait is closed; working gets a word
	// for each that waits.
	kept          string
	wait, working chan struct{}
	half          string // what a call does before it waits, for a shell
}

// handCall is one call of the agent.
type handCall struct {
	Phase, Step string
	task        string // as the agent is given it, with the prompt
}

// newHand makes a hub whose runs go through two phases, "plan" and "build",
// which a hand does.
func newHand(t *testing.T) (*hub, *hand) {
	t.Helper()
	return newHandOf(t, `[{name: "plan", goal: "Plan.", review: false}, {name: "build", goal: "Build.", access: "tree", review: false}]`)
}

// newHandOf is newHand with other phases, in CUE.
func newHandOf(t *testing.T, phases string) (*hub, *hand) {
	t.Helper()
	h, a := newActions(t, "claude"), &hand{working: make(chan struct{}, 100)}
	server := httptest.NewServer(a)
	t.Cleanup(func() {
		a.letGo()
		server.Close()
	})
	h.workflow("agent: claude\n", "pipeline: own\n")
	// The hand is a server of this test, which a closed network does not have.
	h.write("repo/.github/reprise/pipelines/own.cue", fmt.Sprintf(`name: "own"
network: "open"
agents: own: {use: "command", command: ["sh", "-c", "curl --silent --no-buffer --noproxy '*' --data-binary @\"$REPRISE_TASK_FILE\" %s | sh"]}
phases: %s
`, server.URL, phases))
	h.publish("Add a pipeline")
	return h, a
}

// ServeHTTP takes a task, and says what a shell has to do.
func (a *hand) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var task json.RawMessage
	if err := json.NewDecoder(r.Body).Decode(&task); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c := handCall{task: string(task)}
	if err := json.Unmarshal(task, &c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a.mu.Lock()
	a.calls = append(a.calls, c)
	n, wait, half := len(a.calls), a.wait, a.half
	if c.Phase != a.kept {
		wait = nil
	}
	a.mu.Unlock()
	if wait != nil {
		fmt.Fprintln(w, half)
		if err := http.NewResponseController(w).Flush(); err != nil {
			return // the agent is gone
		}
		a.working <- struct{}{}
		select {
		case <-wait:
		case <-r.Context().Done():
			return
		}
	}
	fmt.Fprintf(w, "echo 'Done in call %d.' >>\"$REPRISE_ARTIFACT\"\n", n)
	if c.Phase == "build" {
		fmt.Fprintf(w, "echo 'call %d' >\"$REPRISE_DIR/code.txt\"\n", n)
	}
}

// keep makes calls for a phase wait from now on, after they have done what a
// shell is told in half.
func (a *hand) keep(phase, half string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept, a.wait, a.half = phase, make(chan struct{}), half
}

// letGo ends the waiting.
func (a *hand) letGo() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.wait != nil {
		close(a.wait)
	}
	a.wait = nil
}

// steps are the calls so far.
func (a *hand) steps() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []string
	for _, c := range a.calls {
		all = append(all, c.Phase+" "+c.Step)
	}
	return strings.Join(all, ", ")
}
