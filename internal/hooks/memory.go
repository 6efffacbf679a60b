package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"

	"github.com/reprise-ci/reprise/internal/hooks/hook"
	"github.com/reprise-ci/reprise/metadata"
)

// mostLeft is how many events are kept for hooks that did not take them. The newest count.
const mostLeft = 100

// memory is what a machine knows of what the hooks of a run were told.
type memory struct {
	Run    string   `json:"run"`    // id of its execution
	Commit string   `json:"commit"` // with the record up to which all was told; empty: nothing was
	Left   []letter `json:"left,omitempty"`
}

// letter is an event that a hook has not taken.
type letter struct {
	Hook  string `json:"hook"` // its digest: a pipeline may get other hooks
	Event Event  `json:"event"`
}

func digest(h hook.Hook) string {
	data, _ := json.Marshal(h) // texts only
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// recall reads what is known of a run; ok is false where nothing is, as on a machine that
// has not worked on it.
func (t *Teller) recall(run metadata.Run) (m memory, ok bool) {
	data, err := os.ReadFile(t.File)
	if err != nil || json.Unmarshal(data, &m) != nil || m.Run != run.Execution.ID {
		return memory{Run: run.Execution.ID}, false
	}
	return m, true
}

func (t *Teller) remember(m memory) {
	m.Left = m.Left[max(0, len(m.Left)-mostLeft):]
	data, err := json.Marshal(m)
	if err == nil {
		err = os.WriteFile(t.File, data, 0o600)
	}
	if err != nil {
		t.Warn("what hooks were told could not be noted, so they may be told of it again: " + err.Error())
	}
}

// Begin is called before anything is told. Nothing was told yet of a run that has no commit:
// that is noted, so that its first event is told by the next start if this one is killed
// before. Of one that has some, what a start before this one could not tell waits for Missed.
func (t *Teller) Begin(run metadata.Run) {
	if t.Known.Execution.ID == "" {
		t.remember(memory{Run: run.Execution.ID})
	} else {
		t.begun = t.Tip()
	}
}

// Missed tells what a start before this one was killed before it could tell, and what hooks
// have not taken. On a machine that has not worked on the run, such as that of a new job, it
// tells what the newest commit says if whoever made that has not given the run back, and so
// was killed: some of it may be told twice, with the same ids. Once is enough. Of nil it does
// nothing.
func (t *Teller) Missed(ctx context.Context) {
	if t == nil || t.begun == "" {
		return
	}
	commit := t.begun
	t.begun = ""
	m, ok := t.recall(t.Known)
	if !ok && t.Known.Execution.Lease == nil || ok && len(m.Left) == 0 && m.Commit == commit {
		return
	}
	before := t.Known
	switch {
	case !ok:
		older, err := t.Before(ctx, commit)
		if err != nil {
			t.Warn("what hooks were told last is not known: " + err.Error())
			return
		}
		if before = older; older.Execution.ID != t.Known.Execution.ID {
			before = metadata.Run{}
		}
	case m.Commit == "":
		before = metadata.Run{}
	case m.Commit != commit && t.Newest:
		older, err := t.At(ctx, m.Commit)
		if err != nil {
			t.Warn("what hooks were told last is not known any more: " + err.Error())
			break
		}
		before = older
	}
	t.tell(ctx, before, t.Known, commit)
}

// Committed tells of a record that has come on the branch.
func (t *Teller) Committed(ctx context.Context, run metadata.Run) {
	t.Missed(ctx)
	before := t.Known
	t.Known = run.Clone()
	t.tell(ctx, before, run, t.Tip())
}

// again tells once more what hooks have not taken, each until it fails, and gives what is left.
func (t *Teller) again(ctx context.Context, left []letter) (still []letter) {
	failed := map[string]bool{}
	for _, l := range left {
		i := slices.IndexFunc(t.Hooks, func(h hook.Hook) bool { return digest(h) == l.Hook })
		if i < 0 { // the pipeline has it no more
			continue
		}
		l.Event.kind = l.Event.Data.Kind
		if failed[l.Hook] || t.one(ctx, t.Hooks[i], l.Event, 1) != nil { // people were warned of it before
			failed[l.Hook] = true
			still = append(still, l)
		}
	}
	return still
}
