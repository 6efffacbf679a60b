package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// What is kept at most, and for how long.
const (
	mostOfCall = 4 << 20             // bytes of one call, its end aside
	mostOfLine = 64 << 10            // bytes of one line
	mostOfAll  = 64 << 20            // bytes of all transcripts of a run; the oldest go first
	keptFor    = 14 * 24 * time.Hour // unless a pipeline says otherwise
)

// Folder is the folder of the transcripts of a run, in the folder that the run has on
// this machine.
func TranscriptsFolder(root string) string { return filepath.Join(root, "transcripts") }

// record is one line of a transcript.
type record struct {
	At   time.Time  `json:"at"`
	Call *CallStart `json:"call,omitempty"` // begins a call
	Line *string    `json:"line,omitempty"` // as the program printed it
	Cut  bool       `json:"cut,omitempty"`  // something is left out here
	End  *CallEnd   `json:"end,omitempty"`  // ends a call
}

// Call is one call of an agent.
type CallStart struct {
	Attempt int           `json:"attempt"`
	Phase   string        `json:"phase"`
	Step    metadata.Step `json:"step"`
	Agent   string        `json:"agent"` // as the pipeline names it
	Use     string        `json:"use"`   // which program it is: it decides how its lines are read
	Model   string        `json:"model,omitempty"`
	Resumed bool          `json:"resumed,omitempty"`
	Dir     string        `json:"dir"` // the work tree
	Prompt  string        `json:"prompt"`
}

// End is what came of a call.
type CallEnd struct {
	Text       string          `json:"text,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	Error      string          `json:"error,omitempty"`
}

// Keeper keeps the transcripts of a run. What cannot be written is lost: that stops no
// work.
type Keeper struct {
	dir  string
	mask func(string) string
	now  func() time.Time

	mu   sync.Mutex
	open map[int]*file // by attempt
}

// NewKeeper gives the keeper for a folder, from which it first removes what is older
// than keep, or too much; 0 is 14 days. What mask gives is written in place of a text.
func NewKeeper(dir string, keep time.Duration, mask func(string) string, now func() time.Time) *Keeper {
	sweep(dir, now().Add(-cmp.Or(keep, keptFor)))
	return &Keeper{dir: dir, mask: mask, now: now, open: map[int]*file{}}
}

// file is the transcript of an attempt, while its call lasts.
type file struct {
	f         *os.File
	remaining int // bytes that it may still have, the end of the call aside
}

// Agent gives an agent whose calls are kept. Use says which program it is.
func (k *Keeper) Agent(name, use string, a engine.Agent) engine.Agent {
	return kept{k, name, use, a}
}

type kept struct {
	keeper    *Keeper
	name, use string
	agent     engine.Agent
}

// Run carries out a task with the agent.
func (a kept) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	a.keeper.begin(t, CallStart{
		Attempt: t.Attempt, Phase: t.Phase, Step: t.Step, Agent: a.name, Use: a.use, Model: t.Model, Resumed: t.Resume, Dir: t.Dir, Prompt: t.Prompt,
	})
	r, err := a.agent.Run(ctx, t)
	end := CallEnd{Text: r.Text, Structured: r.Structured}
	if err != nil {
		end.Error = err.Error()
	}
	a.keeper.end(t, end)
	return r, err
}

func (k *Keeper) begin(t engine.Task, c CallStart) {
	if err := os.MkdirAll(k.dir, 0o700); err != nil {
		return
	}
	f, err := os.OpenFile(filepath.Join(k.dir, name(t.Attempt)), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	c.Prompt = k.mask(c.Prompt)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open[t.Attempt] = &file{f, mostOfCall}
	k.write(t.Attempt, record{Call: &c})
}

// Line keeps a line that the program of a call has printed.
func (k *Keeper) Line(t engine.Task, line []byte) {
	if !k.hasRoom(t.Attempt) { // masking takes long, and a program may print without end
		return
	}
	text := k.mask(string(line[:min(len(line), mostOfLine)]))
	k.mu.Lock()
	defer k.mu.Unlock()
	to := k.open[t.Attempt]
	if to == nil || to.remaining <= 0 {
		return
	}
	k.write(t.Attempt, record{Line: &text, Cut: len(line) > mostOfLine})
	if to.remaining <= 0 {
		k.write(t.Attempt, record{Cut: true})
	}
}

// hasRoom reports whether lines of an attempt are still kept.
func (k *Keeper) hasRoom(attempt int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	to := k.open[attempt]
	return to != nil && to.remaining > 0
}

func (k *Keeper) end(t engine.Task, e CallEnd) {
	e.Text, e.Error = k.mask(e.Text), k.mask(e.Error)
	if masked := []byte(k.mask(string(e.Structured))); len(masked) > 0 && json.Valid(masked) {
		e.Structured = masked
	} else {
		e.Structured = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.write(t.Attempt, record{End: &e})
	if to := k.open[t.Attempt]; to != nil {
		_ = to.f.Close() // what was written is out
		delete(k.open, t.Attempt)
	}
}

// write adds a record, which others may read at once.
func (k *Keeper) write(attempt int, r record) {
	to := k.open[attempt]
	if to == nil {
		return
	}
	r.At = k.now().UTC()
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if enc.Encode(r) == nil {
		to.remaining -= data.Len() // with what is around a line: many are short
		_, _ = data.WriteTo(to.f)
	}
}

// Requests gives what takes the requests of a call to its models, with their answers,
// one whole text at a time. They lie in a file of their own, so that they leave the
// transcript its room.
func (k *Keeper) Requests(t engine.Task) io.WriteCloser {
	return &requests{file: filepath.Join(k.dir, requestsName(t.Attempt)), mask: k.mask}
}

// requests is the file with the requests of an attempt, made with the first one.
type requests struct {
	file string
	mask func(string) string

	mu sync.Mutex // an answer may end while the call ends
	f  *os.File
}

// Write adds a text, masked. It never fails: what cannot be written is lost.
func (r *requests) Write(data []byte) (int, error) {
	text := r.mask(string(data))
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		f, err := os.OpenFile(r.file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return len(data), nil
		}
		r.f = f
	}
	_, _ = r.f.WriteString(text)
	return len(data), nil
}

// Close closes the file.
func (r *requests) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.f == nil {
		return nil
	}
	return r.f.Close()
}

// requestsName is the file with the requests of an attempt.
func requestsName(attempt int) string { return fmt.Sprintf("attempt-%d.requests.txt", attempt) }

// name is the file of an attempt.
func name(attempt int) string { return fmt.Sprintf("attempt-%d.jsonl", attempt) }

// Attempts lists the attempts that have a transcript, in their order.
func KeptAttempts(dir string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []int
	for _, e := range entries {
		digits, is := strings.CutPrefix(strings.TrimSuffix(e.Name(), ".jsonl"), "attempt-")
		if n, err := strconv.Atoi(digits); is && err == nil && name(n) == e.Name() {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all, nil
}

// sweep removes transcripts from before a time, and the oldest of too many.
func sweep(dir string, before time.Time) {
	all, err := KeptAttempts(dir)
	if err != nil {
		return // it is found out when one is written
	}
	total := int64(0)
	for _, n := range slices.Backward(all) {
		for _, file := range []string{filepath.Join(dir, name(n)), filepath.Join(dir, requestsName(n))} {
			info, err := os.Stat(file)
			if err != nil {
				continue
			}
			if total += info.Size(); total > mostOfAll || info.ModTime().Before(before) {
				_ = os.Remove(file) // it is tried again the next time
			}
		}
	}
}
