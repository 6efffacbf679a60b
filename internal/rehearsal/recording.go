package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

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

// mostOfFile is the most that is kept of a file that an agent wrote, in bytes.
const mostOfFile = 4 << 20

// change is what a call left at a path. Exactly one of Text, Data, Link and Gone is set.
type change struct {
	Text *string `json:"text,omitempty"`
	Data []byte  `json:"data,omitempty"` // of a file that is no text
	Link string  `json:"link,omitempty"` // a symbolic link, to there
	Gone bool    `json:"gone,omitempty"`
	Runs bool    `json:"runs,omitempty"` // it may be executed
}

// recorder is an agent whose calls are recorded.
type recorder struct {
	*Recording
	tree  RecordedTree
	agent engine.Agent
}

// Run carries out a task with the agent. A call that broke off is not recorded: it says
// nothing about the work, and its changes do not stay.
func (r recorder) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	out, err := r.agent.Run(ctx, t)
	if err != nil {
		return out, err
	}
	c := call{Attempt: t.Attempt, Phase: t.Phase, Step: t.Step, Model: t.Model, Prompt: r.mask(steady(t)), Answer: r.masked(out)}
	if t.Access.Writes() && t.Dir == r.tree.Dir() && t.Step != metadata.Review {
		if c.Files, err = r.changes(ctx, path.Join(phases.Folder(t.Issue), metadata.File)); err != nil {
			return out, fmt.Errorf("recording %s %s: %w", t.Phase, t.Step, err)
		}
	}
	if err := r.add(c); err != nil {
		return out, fmt.Errorf("recording %s %s: %w", t.Phase, t.Step, err)
	}
	return out, nil
}

// add adds a call to the recording.
func (r *Recording) add(c call) error {
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	f, err := os.OpenFile(r.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return errors.Join(err, f.Close())
}

// masked gives what is kept of a result.
func (r *Recording) masked(out engine.Result) answer {
	a := answer{out, out.Session != ""}
	a.Text, a.Structured, a.Denials, a.Warnings = r.mask(out.Text), nil, nil, nil
	if data := []byte(r.mask(string(out.Structured))); json.Valid(data) {
		a.Structured = data
	}
	for _, s := range out.Denials {
		a.Denials = append(a.Denials, r.mask(s))
	}
	for _, s := range out.Warnings {
		a.Warnings = append(a.Warnings, r.mask(s))
	}
	return a
}

// changes gives what differs in the tree from its last commit, but for the record, which
// reprise writes.
func (r recorder) changes(ctx context.Context, record string) (map[string]change, error) {
	changed, err := r.tree.Changes(ctx)
	if err != nil || len(changed) == 0 {
		return nil, err
	}
	root, err := os.OpenRoot(r.tree.Dir())
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	out := map[string]change{}
	for _, c := range changed {
		if c.Path == record || c.Kind == phases.NestedKind || c.Kind == phases.OtherKind {
			continue // a run keeps none of these
		}
		if out[c.Path], err = r.look(root, c.Path); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// look gives what is at a path.
func (r *Recording) look(root *os.Root, name string) (change, error) {
	name = filepath.FromSlash(name)
	info, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return change{Gone: true}, nil
	case err != nil:
		return change{}, err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := root.Readlink(name)
		return change{Link: to}, err
	case !info.Mode().IsRegular():
		return change{Gone: true}, nil // a folder in place of a file; what is in it has its own path
	case info.Size() > mostOfFile:
		return change{}, fmt.Errorf("%s has %d bytes, and a recording takes files of at most %d", name, info.Size(), mostOfFile)
	}
	data, err := root.ReadFile(name)
	c := change{Runs: info.Mode()&0o100 != 0}
	if text := r.mask(string(data)); utf8.ValidString(text) {
		c.Text = &text
	} else {
		c.Data = []byte(text)
	}
	return c, err
}

// player is an agent that gives recorded answers.
type player struct{ *Recording }

// Run gives the recorded answer of the call, in the order of those of its step. One that was
// not asked in this way is stale, and ends the run.
func (p player) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	if err := ctx.Err(); err != nil {
		return engine.Result{}, &engine.AgentError{Class: metadata.Signal, Agent: "recording", Err: context.Cause(ctx)}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var there []call
	for _, c := range p.calls {
		if c.Phase == t.Phase && c.Step == t.Step {
			there = append(there, c)
		}
	}
	key := t.Phase + " " + string(t.Step)
	n := p.counts[key]
	p.counts[key]++
	why := fmt.Sprintf("no answer is recorded; there are %d of this step", len(there))
	if n < len(there) {
		why = differs(there[n], t, p.mask)
	}
	if why != "" {
		why = fmt.Sprintf("%s, call %d: %s", key, n+1, why)
		return engine.Result{}, errors.Join(fmt.Errorf("%s is stale: %s", p.file, why), os.WriteFile(StaleFile(p.file), []byte(why), 0o600))
	}
	out := there[n].Answer.Result
	if there[n].Answer.Session {
		out.Session = t.Session
	}
	if t.Notify != nil {
		t.Notify(engine.Activity{Session: out.Session, Text: "recorded"})
	}
	return out, write(t.Dir, there[n].Files)
}

// differs says how a task is not the one that was recorded; "" if it is.
func differs(c call, t engine.Task, mask func(string) string) string {
	if c.Model != t.Model {
		return fmt.Sprintf("the model is %q, and was %q", t.Model, c.Model)
	}
	now, was := mask(steady(t)), c.Prompt
	if now == was {
		return ""
	}
	asked, recorded := strings.Split(now, "\n"), strings.Split(was, "\n")
	n := 0
	for n < min(len(asked), len(recorded)) && asked[n] == recorded[n] {
		n++
	}
	return fmt.Sprintf("the prompt is another one from line %d on: %q, recorded %q", n+1, quoted(asked, n), quoted(recorded, n))
}

// quoted gives a line as far as it is quoted, or nothing where there is none.
func quoted(lines []string, i int) string {
	if i >= len(lines) {
		return ""
	}
	const most = 80 // characters
	if all := []rune(lines[i]); len(all) > most {
		return string(all[:most]) + "…"
	}
	return lines[i]
}

// write leaves in a tree what a call had left. It never leaves the tree, whatever links
// are in it.
func write(dir string, files map[string]change) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()        // nothing is written through it
	for _, gone := range []bool{true, false} { // a file may be where a folder was
		for _, name := range slices.Sorted(maps.Keys(files)) {
			if c := files[name]; c.Gone == gone {
				if err := c.put(root, filepath.FromSlash(name)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// put leaves it at a path.
func (c change) put(root *os.Root, name string) error {
	if err := root.RemoveAll(name); err != nil || c.Gone {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	mode, data := os.FileMode(0o644), c.Data
	if c.Runs {
		mode = 0o755
	}
	switch {
	case c.Link != "":
		return root.Symlink(c.Link, name)
	case c.Text != nil:
		data = []byte(*c.Text)
	}
	return root.WriteFile(name, data, mode)
}

// fence finds the boundaries of the texts from outside in a prompt, which are drawn anew
// each time.
var fence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<<<([a-z2-7]{16})\b`) })

// passing finds what the output of the same check says otherwise each time: times, hashes
// of commits, temporary folders.
var passing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d+\.\d+ ?(ns|µs|us|ms|s|sec|seconds?|m|min|minutes?)\b|\b\d+ ?ms\b|\(cached\)|duration_ms:? [\d.]+|` +
		`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b|` +
		`\b[0-9a-f]{40}([0-9a-f]{24})?\b|\S*/reprise-[0-9a-f]{12}-[^\s/]*|/go-build\d+`)
})

// steady is the prompt of a task without what differs from run to run although the same
// is asked: boundaries, the folder of the run, and what a check prints otherwise each time.
func steady(t engine.Task) string {
	text := t.Prompt
	for _, m := range fence().FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, m[1], "BOUNDARY")
	}
	if filepath.IsAbs(t.Dir) {
		text = strings.ReplaceAll(text, t.Dir, "TREE")
		text = strings.ReplaceAll(text, filepath.Dir(t.Dir)+string(filepath.Separator), "RUN/")
	}
	return passing().ReplaceAllString(text, "…")
}
