package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// writeDictated writes the last message of an agent as the artifact, if the agent itself may not write.
func (e *Engine) writeDictated(w *work) error {
	text, artifact := phases.AnsweredDocument(w.call.result.Text), w.artifact()
	if phases.AccessOf(e.Plan, w.d).Writes() || text == "" {
		return nil
	}
	w.files[artifact] = []byte(text + "\n")
	return lay(e.Tree.Dir(), e.Tree.Dir(), map[string][]byte{artifact: w.files[artifact]})
}

// artifact gives the digest and size of a file as read has it, or says why it cannot be had.
func (e *Engine) artifact(ctx context.Context, read func(context.Context, string) ([]byte, error), name string) (sum string, size int, wrong metadata.Reason) {
	data, err := read(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, e.unwritten(name)
	case err != nil:
		return "", 0, metadata.Because("not_readable", "file", name, "error", err)
	}
	shown := strings.TrimFunc(string(data), func(r rune) bool { return unicode.IsSpace(r) || text.Invisible(r) })
	return phases.DigestOf(data), len(shown), ""
}

// unwritten says why there is no file where one was to be written.
func (e *Engine) unwritten(name string) metadata.Reason {
	if info, err := os.Lstat(filepath.Join(e.Tree.Dir(), filepath.FromSlash(name))); err == nil && !info.Mode().IsRegular() {
		return metadata.Because("not_regular", "file", name)
	}
	return metadata.Because("not_written", "file", name)
}

// files lists the artifact files of the phase after a writing step.
func (e *Engine) files(ctx context.Context, w *work) (out []string) {
	all := append([]string{w.artifact()}, w.rec.OutputFiles...)
	all = append(all, w.changes.Artifacts...)
	seen := map[string]bool{}
	for _, f := range all {
		if _, _, wrong := e.artifact(ctx, w.read, f); wrong == "" && !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// maxRefused is how many hosts that were refused are recorded.
const maxRefused = 20

// refusedText lists hosts that were refused: "example.com:443 (2), ...".
func refusedText(all []Refused) string {
	var out []string
	for _, r := range all[:min(len(all), maxRefused)] {
		out = append(out, fmt.Sprintf("%.100s (%d)", r.Host, r.Count))
	}
	return strings.Join(out, ", ")
}

// circumstances names what may explain why a call gave no result.
func circumstances(r Result) []metadata.Reason {
	out := hindrances(r)
	if r.ToolCalls == 0 {
		out = append(out, metadata.Because("no_tool_used"))
	}
	return append(out, lastWords(r))
}

// mostWords is how much of the end of what an agent said is quoted, in Unicode code points.
const mostWords = 300

// lastWords quotes the end of what an agent said that gave no result: it may have asked something.
func lastWords(r Result) metadata.Reason {
	said := []rune(strings.TrimSpace(phases.ValidText(r.Text)))
	if len(said) == 0 {
		return ""
	}
	if more := len(said) - mostWords; more > 0 {
		said = append([]rune("…"), said[more:]...)
	}
	return metadata.Because("last_words", "said", metadata.Said(string(said)))
}

// hindrances names what kept an agent from doing more.
func hindrances(r Result) (out []metadata.Reason) {
	if r.Limit != "" {
		out = append(out, metadata.Because("limit_reached", "limit", r.Limit))
	}
	if len(r.Denials) > 0 {
		out = append(out, metadata.Because("tools_refused", "tools", r.Denials))
	}
	if len(r.Refused) > 0 {
		out = append(out, metadata.Because("hosts_refused", "hosts", refusedText(r.Refused)))
	}
	return out
}

// Why says which agent failed, why, and what a person can do about it.
func (e *AgentError) Why() metadata.Reason { return e.WhyBroke(strings.Clone) }

// WhyBroke says which agent failed, in the masked words of its error, and what a person can do about it.
func (e *AgentError) WhyBroke(mask func(string) string) metadata.Reason {
	said := metadata.Said(mask(fmt.Sprint(e.Err)))
	if e.Hint == "" {
		return metadata.Because("agent_broke", "agent", e.Agent, "error", said)
	}
	return metadata.Because("agent_broke_do", "agent", e.Agent, "error", said, "hint", e.Hint)
}

// differ is what can be compared with a commit: the tip, or what is staged on it.
type differ interface {
	Diff(ctx context.Context, from string) (string, metadata.Diff, error)
}

// since gives what changed in the code since the phase began.
func (e *Engine) since(ctx context.Context, run metadata.Run, p *pipelines.Phase, rec *metadata.Phase) (text string, d metadata.Diff, err error) {
	from, err := e.began(ctx, run, p, rec)
	if from == "" || err != nil {
		return "", metadata.Diff{}, err
	}
	return e.Tree.Diff(ctx, from)
}

// began is the commit with the code that the phase began with, or "".
func (e *Engine) began(ctx context.Context, run metadata.Run, p *pipelines.Phase, rec *metadata.Phase) (string, error) {
	switch {
	case p.Access != pipelines.AccessTree:
		return "", nil
	case rec.Lane != nil && rec.Lane.Conflict != nil:
		return rec.Lane.Base, nil // what was merged before is the work of others
	case rec.Lane == nil && rec.Upstream != "":
		return e.Tree.WithBase(ctx, rec.Base, rec.Upstream, run.BaseCommit)
	}
	return rec.Base, nil
}

// own gives how much of what changed since the phase began is the run's: people may have put commits of theirs on the
// branch meanwhile. Changed says whether a phase that has to change the code did so: in its first generation since it
// began, later since the run began, because code is kept over a rollback.
func (e *Engine) own(ctx context.Context, now differ, run metadata.Run, p *pipelines.Phase, rec *metadata.Phase) (d metadata.Diff, changed bool, err error) {
	from, err := e.began(ctx, run, p, rec)
	if from == "" || err != nil {
		return d, false, err
	}
	if d, err = e.ownSince(ctx, now, from, rec.Base, rec); d.Files > 0 || rec.Generation == 0 || !p.MustChange || err != nil {
		return d, d.Files > 0, err
	}
	all, unknown := e.ownSince(ctx, now, run.BaseCommit, run.BaseCommit, rec)
	return d, unknown == nil && all.Files > 0, nil
}

// ownSince gives how the code differs from a commit, without what others have put on the branch since another one.
func (e *Engine) ownSince(ctx context.Context, now differ, from, since string, rec *metadata.Phase) (d metadata.Diff, err error) {
	if rec.Lane == nil { // else nobody else reaches its tree
		from, err = e.Tree.WithOthers(ctx, from, since)
	}
	if err == nil {
		_, d, err = now.Diff(ctx, from)
	}
	return d, err
}

// notice says what the agent of a decision has to know of earlier calls: of a writer, that one broke off and where
// its changes are, or what tests the last revise has broken; of a reviewer, that the writer was cut off.
func (e *Engine) notice(ctx context.Context, run metadata.Run, d phases.Decision) (string, error) {
	rec, words := run.Phase(d.Phase), prompts.Words(run.Language)
	if d.Do == phases.DoReview {
		if phases.CutOff(run, rec) {
			return metadata.Because("work_cut_off").In(words), nil
		}
		return "", nil
	}
	if b := rec.Best; d.Do == phases.DoRevise && b != nil && len(b.Lost) > 0 && b.Written == rec.Written {
		return metadata.Because("tests_lost", "attempt", b.Over, "tests", b.Lost).In(words), nil
	}
	broken := brokenOff(run, rec, d.Step())
	if len(broken) == 0 || !phases.AccessOf(e.Plan, d).Writes() {
		return "", nil
	}
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return "", err
	}
	for _, a := range broken {
		file := patchFile(run, e.Plan.Phase(d.Phase), a.N)
		switch _, err := tip.Read(ctx, file); {
		case errors.Is(err, fs.ErrNotExist): // it had changed nothing
			continue
		case err != nil:
			return "", err
		}
		return metadata.Because("patch_kept", "status", whyBroken(a), "file", file).In(words), nil
	}
	if a := broken[0]; a.Status == metadata.Cut && d.Resume > 0 && a.Session != "" && run.Attempts[d.Resume-1].Session == a.Session { // reprise was killed with it
		return metadata.Because("changes_lost", "status", whyBroken(a)).In(words), nil
	}
	return "", nil
}

// patchFile is where the changes of a call that broke off are kept, by the number of its attempt.
func patchFile(run metadata.Run, p *pipelines.Phase, attempt int) string {
	return path.Join(phases.PhaseFolder(run, p), fmt.Sprintf("attempt-%d.patch", attempt))
}

// brokenOff gives the calls for a step of a phase that broke off in its generation since one
// succeeded, the newest first: what they had changed was taken back, and no work has replaced it.
func brokenOff(run metadata.Run, rec *metadata.Phase, step metadata.Step) (broken []metadata.Attempt) {
	for _, a := range slices.Backward(run.Attempts) {
		switch {
		case a.Phase != rec.Name || a.Generation != rec.Generation:
		case a.Status == metadata.Succeeded && a.Step != metadata.Check:
			return broken
		case a.Step == step && (a.Status == metadata.Errored || a.Status == metadata.Cut):
			broken = append(broken, a)
		}
	}
	return broken
}

// whyBroken says in a word why a call broke off.
func whyBroken(a metadata.Attempt) string {
	if a.Status == metadata.Cut {
		return string(a.Status)
	}
	return string(a.Class)
}
