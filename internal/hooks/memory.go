package hooks

import (
	"context"
	"encoding/json"
	"os"

	"github.com/reprise-ci/reprise/metadata"
)

// memory is what a machine knows of what the hooks of a run were told.
type memory struct {
	Run    string            `json:"run"`    // id of its execution
	Commit string            `json:"commit"` // with the record up to which all was told; empty: nothing was
	Left   []metadata.Untold `json:"left,omitempty"`
}

// recall reads what is known of a run. On a machine that has not worked on it, ok is false,
// and what hooks have not taken is what the record says.
func (t *Teller) recall(run metadata.Run) (m memory, ok bool) {
	data, err := os.ReadFile(t.File)
	if err != nil || json.Unmarshal(data, &m) != nil || m.Run != run.Execution.ID {
		return memory{Run: run.Execution.ID, Left: run.Execution.Untold}, false
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
// have not taken: as this machine knows it and, if others have worked on the run since or it
// never did, as the record says. On a machine that has not worked on the run, such as that of
// a new job, it also tells what the newest commit says if whoever made that has not given the
// run back, and so was killed: some of it may be told twice, with the same ids. Once is
// enough. Of nil it does nothing.
func (t *Teller) Missed(ctx context.Context) {
	if t == nil || t.begun == "" {
		return
	}
	commit := t.begun
	t.begun = ""
	m, ok := t.recall(t.Known)
	killed := !ok && t.Known.Execution.Lease != nil
	if ok && m.Commit != commit {
		m.Left = together(m.Left, t.Known.Execution.Untold)
	}
	if !killed && len(m.Left) == 0 && (!ok || m.Commit == commit) {
		return
	}
	before := t.Known
	switch {
	case killed:
		older, err := t.Before(ctx, commit)
		if err != nil {
			t.Warn("what hooks were told last is not known: " + err.Error())
			break
		}
		if before = older; older.Execution.ID != t.Known.Execution.ID {
			before = metadata.Run{}
		}
	case !ok:
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
	m.Left = t.retell(ctx, t.Known, m.Left)
	t.tell(ctx, m, Between(before, t.Known, t.Words), commit)
}

// Committed tells of a record that has come on the branch and, if that is an event, also of
// those that hooks have not taken.
func (t *Teller) Committed(ctx context.Context, run metadata.Run) {
	t.Missed(ctx)
	before := t.Known
	t.Known = run.Clone()
	m, _ := t.recall(run)
	events := Between(before, run, t.Words)
	if len(events) > 0 {
		m.Left = t.retell(ctx, run, m.Left)
	}
	t.tell(ctx, m, events, t.Tip())
}
