package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

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
