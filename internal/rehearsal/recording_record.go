package rehearsal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

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
