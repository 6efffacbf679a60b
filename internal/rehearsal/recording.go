package rehearsal

import (
	"context"
	"encoding/json"
	"fmt"
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

// StaleFile is where a process that plays a recording says which call was not asked for in this way
// when it was recorded.
func StaleFile(recording string) string { return recording + ".stale" }

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
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading a recording: %w; record it anew", err)
	}
	n := 0
	for line := range strings.Lines(string(data)) {
		var c call
		n++
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			return nil, fmt.Errorf("reading a recording: %s:%d: %w; record it anew", file, n, err)
		}
		if last := len(all) - 1; last >= 0 && all[last].Attempt == c.Attempt {
			all = all[:last]
		}
		all = append(all, c)
	}
	return all, nil
}
