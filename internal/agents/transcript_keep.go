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

// TranscriptsFolder is the folder of the transcripts of a run, in the folder that the run has on
// this machine.
func TranscriptsFolder(root string) string { return filepath.Join(root, "transcripts") }

// record is one line of a transcript.
type record struct {
	At   time.Time  `json:"at"`
	Call *callStart `json:"call,omitempty"` // begins a call
	Line *string    `json:"line,omitempty"` // as the program printed it
	Cut  bool       `json:"cut,omitempty"`  // something is left out here
	End  *callEnd   `json:"end,omitempty"`  // ends a call
}

// callStart is one call of an agent.
type callStart struct {
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

// callEnd is what came of a call.
type callEnd struct {
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
	room map[int]int // bytes that the lines of a call may still have, by its attempt
}

// NewKeeper gives the keeper for a folder, from which it first removes what is older
// than keep, or too much; 0 is 14 days. What mask gives is written in place of a text.
func NewKeeper(dir string, keep time.Duration, mask func(string) string, now func() time.Time) *Keeper {
	sweep(dir, now().Add(-cmp.Or(keep, keptFor)))
	return &Keeper{dir: dir, mask: mask, now: now, room: map[int]int{}}
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
	a.keeper.begin(t, callStart{
		Attempt: t.Attempt, Phase: t.Phase, Step: t.Step, Agent: a.name, Use: a.use, Model: t.Model, Resumed: t.Resume, Dir: t.Dir, Prompt: t.Prompt,
	})
	r, err := a.agent.Run(ctx, t)
	end := callEnd{Text: r.Text, Structured: r.Structured}
	if err != nil {
		end.Error = err.Error()
	}
	a.keeper.end(t, end)
	return r, err
}

func (k *Keeper) begin(t engine.Task, c callStart) {
	_ = os.MkdirAll(k.dir, 0o700) // without it, nothing can be written
	c.Prompt = k.mask(c.Prompt)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.room[t.Attempt] = mostOfCall
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
	k.write(t.Attempt, record{Line: &text, Cut: len(line) > mostOfLine})
	if k.room[t.Attempt] <= 0 {
		k.write(t.Attempt, record{Cut: true})
	}
}

// hasRoom reports whether lines of an attempt are still kept.
func (k *Keeper) hasRoom(attempt int) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.room[attempt] > 0
}

func (k *Keeper) end(t engine.Task, e callEnd) {
	e.Text, e.Error = k.mask(e.Text), k.mask(e.Error)
	e.Structured = json.RawMessage(k.mask(string(e.Structured)))
	if !json.Valid(e.Structured) {
		e.Structured = nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.write(t.Attempt, record{End: &e})
	delete(k.room, t.Attempt)
}

// write adds a record, which others may read at once.
func (k *Keeper) write(attempt int, r record) {
	r.At = k.now().UTC()
	var data bytes.Buffer
	enc := json.NewEncoder(&data)
	enc.SetEscapeHTML(false)
	if enc.Encode(r) == nil {
		k.room[attempt] -= data.Len() // with what is around a line: many are short
		add(filepath.Join(k.dir, name(attempt)), data.Bytes())
	}
}

// add writes a text to the end of a file, in one piece.
func add(file string, data []byte) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	_, _ = f.Write(data)
	_ = f.Close()
}

// name is the file of an attempt.
func name(attempt int) string { return fmt.Sprintf("attempt-%d.jsonl", attempt) }

// KeptAttempts lists the attempts that have a transcript, in their order.
func KeptAttempts(dir string) (all []int, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
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
		info, err := os.Stat(filepath.Join(dir, name(n)))
		if err != nil {
			continue
		}
		if total += info.Size(); total > mostOfAll || info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, name(n))) // it is tried again the next time
		}
	}
}

// CopyTranscripts copies the transcripts in a folder into another one, once more through mask, the newest first and at
// most so many bytes. It gives the number of files left out.
func CopyTranscripts(from, to string, most int, mask func(string) string) (left int, err error) {
	attempts, err := KeptAttempts(from)
	if err != nil || len(attempts) == 0 {
		return 0, err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return 0, err
	}
	for _, n := range slices.Backward(attempts) {
		data, err := os.ReadFile(filepath.Join(from, name(n)))
		if err != nil {
			return left, err
		}
		if len(data) > most {
			left++
			continue
		}
		most -= len(data)
		if err := os.WriteFile(filepath.Join(to, name(n)), []byte(mask(string(data))), 0o600); err != nil {
			return left, err
		}
	}
	return left, nil
}

// Kept is a transcript that lies in a folder.
type Kept struct {
	Attempt int // its number, as the machine counted that had the call
	Phase   string
}

// KeptIn gives the transcripts that lie in a folder, by their numbers. One that does not say
// what it is of is none.
func KeptIn(dir string) (all []Kept, err error) {
	attempts, err := KeptAttempts(dir)
	for _, n := range attempts {
		r, err := OpenTranscript(dir, n)
		if err != nil {
			return nil, err
		}
		first, err := r.next()
		_ = r.Close() // opened for reading
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if first.Call != nil {
			all = append(all, Kept{n, first.Call.Phase})
		}
	}
	return all, err
}
