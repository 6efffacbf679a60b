package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// The variables of a process that name the file of a recording.
const (
	Records = "REPRISE_RECORD" // calls of agents are added to it
	Plays   = "REPRISE_PLAY"   // its answers are given, and no agent is called
)

// staleFile is where a process that plays a recording notes each call that was not asked
// for in this way when it was recorded.
func staleFile(recording string) string { return recording + ".stale" }

// call is one line of a recording.
type call struct {
	Attempt int               `json:"attempt"`
	Phase   string            `json:"phase"`
	Step    metadata.Step     `json:"step"`
	Model   string            `json:"model_asked,omitempty"`
	Prompt  string            `json:"prompt"` // as steady gives it
	Answer  answer            `json:"answer"`
	Files   map[string]change `json:"files,omitempty"` // that the call left changed, by path
}

// answer is the part of an engine.Result that a run goes by.
type answer struct {
	engine.Result
	Session bool `json:"session,omitempty"` // there was one, which a later call can go on with
}

// StaleCall is a call that is not the one that was recorded: its answer says nothing of how
// an agent would answer now.
type StaleCall struct {
	Phase string        `json:"phase"`
	Step  metadata.Step `json:"step"`
	Call  int           `json:"call"` // of this step; counts from 1
	Why   string        `json:"why"`
}

// String says which call it is, and why it is stale.
func (s StaleCall) String() string {
	return fmt.Sprintf("%s %s, call %d: %s", s.Phase, s.Step, s.Call, s.Why)
}

// RecordedTree is where agents work.
type RecordedTree interface {
	Dir() string
	Changes(ctx context.Context) ([]phases.Change, error)
}

// Recording records the calls of a run, or plays them. Nil does neither.
type Recording struct {
	file string
	mask func(string) string

	mu     sync.Mutex
	calls  []call         // what is played
	plays  bool           // else it records
	counts map[string]int // calls of this process so far, by phase and step
}

// Playing reports whether a process with these variables plays a recording.
func Playing(getenv func(string) string) bool { return getenv(Plays) != "" }

// OpenRecording gives the recording that the variables of a process name, or nil. What mask gives
// is written in place of a text.
func OpenRecording(getenv func(string) string, mask func(string) string) (*Recording, error) {
	r := &Recording{file: getenv(Records), mask: mask, counts: map[string]int{}}
	if !Playing(getenv) {
		if r.file == "" {
			return nil, nil
		}
		return r, nil
	}
	r.file, r.plays = getenv(Plays), true
	var err error
	r.calls, err = calls(r.file)
	return r, err
}

// Agent gives the agent that make gives, with its calls in a tree recorded; or one that plays them,
// which asks nothing of make.
func (r *Recording) Agent(tree RecordedTree, make func() (engine.Agent, error)) (engine.Agent, error) {
	if r != nil && r.plays {
		return player{r}, nil
	}
	a, err := make()
	if r == nil || err != nil {
		return a, err
	}
	return recorder{r, tree, a}, nil
}

// calls gives the calls of a recording in their order. A call that a kill had done again
// counts as it was done last.
func calls(file string) (all []call, err error) {
	lines, err := linesOf[call](file)
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w; record it anew", err)
	}
	for i, c := range lines {
		if i+1 == len(lines) || lines[i+1].Attempt != c.Attempt {
			all = append(all, c)
		}
	}
	return all, nil
}

// StaleCalls gives what was noted while a recording was played; nothing if there is no
// such file.
func StaleCalls(recording string) ([]StaleCall, error) {
	all, err := linesOf[StaleCall](staleFile(recording))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return all, err
}

// linesOf reads the values that add has added to a file.
func linesOf[T any](file string) (all []T, err error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(data)) {
		var one T
		if err := json.Unmarshal([]byte(line), &one); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, len(all)+1, err)
		}
		all = append(all, one)
	}
	return all, nil
}

// add adds a value as a line to a file.
func add(file string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}
