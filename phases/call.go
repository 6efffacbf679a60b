package phases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// ReviewFile is the name of the file in the phase's folder that tells what
// the newest review said.
const ReviewFile = "review.md"

// saveEvery is how often the cost of a call under way is saved.
const saveEvery = 2 * time.Second

// call lets an agent do a step and turns what it brought into an outcome.
func (e *Engine) call(ctx context.Context, run metadata.Run, d Decision) (metadata.Run, effects, error) {
	p := e.Plan.Phase(d.Phase)
	if err := e.Tree.Prepare(ctx); err != nil {
		return run, effects{}, err
	}
	t, err := e.task(ctx, run, d)
	if err != nil {
		return run, effects{}, err
	}
	start := e.Now()
	run = Begin(run, d, Beginning{At: start, Session: t.Session, Model: t.Model, Base: e.Tree.Tip()})
	if err := e.Store.Save(run); err != nil {
		return run, effects{}, err
	}
	if err := os.MkdirAll(filepath.Join(e.Tree.Dir(), filepath.FromSlash(e.folder(run, p))), 0o755); err != nil {
		return run, effects{}, err
	}
	before, _, _ := e.artifact(path.Join(e.folder(run, p), p.Writes)) // "" if there is none
	r, err := e.ask(ctx, run, d, t)
	x, err := e.weigh(context.WithoutCancel(ctx), run, d, r, before, err)
	if err != nil {
		return run, x, err
	}
	x.outcome.At = e.Now()
	x.outcome.Duration = x.outcome.At.Sub(start)
	x.outcome.Usage, x.outcome.Model = r.Usage, r.Model
	x.outcome.Session = r.Session
	next := Apply(e.Plan, run, d, x.outcome)
	if d.Do == DoReview && x.outcome.Status == metadata.Succeeded {
		x.files[path.Join(e.folder(run, p), ReviewFile)] = []byte(reviewText(next.Phase(d.Phase)))
	}
	return next, x, nil
}

func (e *Engine) folder(run metadata.Run, p *pipelines.Phase) string {
	return path.Join(Folder(run.IssueNumber), p.Folder)
}

// ask calls the agent, watching the budget while it works.
func (e *Engine) ask(ctx context.Context, run metadata.Run, d Decision, t Task) (Result, error) {
	agent, err := e.Agent(d.Agent)
	if err != nil {
		return Result{}, err
	}
	known := secrets(e.Secrets)
	run = run.Clone() // what Notify keeps up to date; the caller's stays as it is
	if left := secondsLeft(run); left > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeoutCause(ctx, left, errBudget)
		defer stop()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	saved := e.Now()
	t.Notify = func(a Activity) {
		if overBudget(with(run, a.Usage)) != "" {
			cancel(errBudget)
		}
		// What a kill must not hide: the session, and now and then the cost.
		open := &run.Attempts[len(run.Attempts)-1]
		news := a.Session != "" && !open.Confirmed
		if a.Session != "" {
			open.Session, open.Confirmed = a.Session, true
		}
		open.Usage = a.Usage
		if now := e.Now(); news || now.Sub(saved) > saveEvery {
			saved = now
			run.Revision++
			if err := e.Store.Save(run); err != nil {
				cancel(fmt.Errorf("saving the session: %w", err))
			}
		}
		a.Text = known.mask(a.Text)
		e.Report.Report(Event{At: e.Now(), Run: run, Of: d, Activity: &a})
	}
	r, err := agent.Run(ctx, t)
	if err != nil && !run.Attempts[len(run.Attempts)-1].Confirmed {
		r.Session = "" // it ended before it had one
	}
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	r.Text, r.Stderr = known.mask(r.Text), known.mask(r.Stderr)
	if r.Structured != nil {
		r.Structured = json.RawMessage(known.mask(string(r.Structured)))
	}
	return r, err
}

// weigh decides what a call came to, from what it left in the tree and what
// it returned, not from what it says about itself.
// before is the digest of the artifact before the call.
func (e *Engine) weigh(ctx context.Context, run metadata.Run, d Decision, r Result, before string, callErr error) (effects, error) {
	x := effects{files: map[string][]byte{}}
	broke := errors.Is(callErr, errBudget) || r.Limit == "budget"
	switch {
	case callErr == nil, broke:
	case errors.Is(callErr, context.Canceled), errors.Is(callErr, ErrInterrupted):
		x.outcome = Outcome{Status: metadata.Cut, Code: metadata.RunCancelled, Class: metadata.Signal, Why: "reprise was told to stop"}
		return x, e.discard(ctx, run, d, &x)
	default:
		var ae *AgentError
		if !errors.As(callErr, &ae) {
			return x, callErr
		}
		x.outcome = Outcome{Status: metadata.Errored, Code: codeOf(ae.Class), Class: ae.Class, Why: secrets(e.Secrets).mask(agentWhy(ae)), RetryAfter: ae.RetryAfter}
		return x, e.discard(ctx, run, d, &x)
	}
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return x, err
	}
	s := e.boundary(run, d).sort(changes)
	if len(s.undo) > 0 {
		if err := e.Tree.Restore(ctx, s.undo...); err != nil {
			return x, err
		}
	}
	x.outcome.Violations = s.violations
	if d.Do == DoReview {
		return x, e.weighReview(ctx, run, d, r, broke, &x)
	}
	x.paths = append(s.artifacts, s.tree...)
	if where := e.leak(s.present); where != "" {
		x.paths = nil
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Blocked, metadata.SecretFound, where
		return x, e.Tree.Restore(ctx)
	}
	return x, e.weighWriting(ctx, run, d, r, s, before, broke, &x)
}

// weighWriting holds the work of execute or revise against the evidence that
// the phase asks for. Work that does not suffice is kept all the same: the
// next call goes on from there.
func (e *Engine) weighWriting(ctx context.Context, run metadata.Run, d Decision, r Result, s sorted, before string, broke bool, x *effects) error {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	w := Written{}
	var missing []string
	artifact := path.Join(e.folder(run, p), p.Writes)
	again := lastTry(run, rec, d)
	if again != metadata.OutputInvalid { // else the document is there, and this answer is the report
		if err := e.dictated(d, artifact, r, x); err != nil {
			return err
		}
	}
	sum, size, err := e.artifact(artifact)
	switch {
	case err != nil:
		missing = append(missing, err.Error())
	case size == 0:
		missing = append(missing, fmt.Sprintf("%s is empty", artifact))
	case sum == rec.Digest && len(s.tree) == 0,
		d.Do == DoExecute && sum == before && again != metadata.OutputInvalid && again != metadata.BudgetExceeded && (!d.Again || len(s.tree) == 0):
		missing = append(missing, fmt.Sprintf("%s is unchanged", artifact))
	}
	if _, w.Diff, err = e.diff(ctx, p, rec); err != nil {
		return err
	}
	if p.MustChange && !e.differs(ctx, run, rec, w.Diff) {
		missing = append(missing, "nothing in the repository was changed, and this phase has to change something")
	}
	code := metadata.NoProgress
	if len(missing) == 0 && p.Report != "" {
		if wrong := e.report(ctx, p, r); wrong != "" {
			missing, code = append(missing, wrong), metadata.OutputInvalid
		}
		w.Report = structured(r)
	}
	if broke {
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Unsuccessful, metadata.BudgetExceeded, "the budget was used up during the call"
		return nil
	}
	if len(missing) > 0 {
		x.outcome.Status, x.outcome.Code = metadata.Unsuccessful, code
		x.outcome.Why = strings.Join(append(missing, circumstances(r)...), "\n")
		return nil
	}
	w.Digest, w.Files = sum, e.files(run, p, s)
	x.outcome.Status, x.outcome.Written = metadata.Succeeded, &w
	return nil
}

// dictated writes the last words of an agent that may not write itself as
// the artifact: its prompt has told it so.
func (e *Engine) dictated(d Decision, artifact string, r Result, x *effects) error {
	text := document(r)
	if a := e.access(d); a != pipelines.AccessNone && a != pipelines.AccessRead || text == "" {
		return nil
	}
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is closed
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(artifact)), 0o755); err != nil {
		return fmt.Errorf("%s: %w", artifact, err)
	}
	data := []byte(text + "\n")
	if err := root.WriteFile(filepath.FromSlash(artifact), data, 0o644); err != nil {
		return fmt.Errorf("%s: %w", artifact, err)
	}
	x.files[artifact] = data
	return nil
}

// document gives the last words without the report that may end them.
func document(r Result) string {
	text := strings.TrimSpace(r.Text)
	if json.Valid([]byte(text)) {
		return ""
	}
	if before, after, ok := cutLast(text, "```json\n"); ok && json.Valid([]byte(strings.TrimSuffix(after, "```"))) {
		text = strings.TrimSpace(before)
	}
	return text
}

// lastTry gives the code of the call before this one, for the same work, if
// this one asks once more.
func lastTry(run metadata.Run, rec *metadata.Phase, d Decision) metadata.Code {
	tries := effort(run, rec, d.Step()) // the last is the call itself
	if !d.Again || len(tries) < 2 {
		return ""
	}
	return tries[len(tries)-2].Code
}

// differs reports whether a phase that has to change the code did so: in its
// first generation since it began, later since the run began, because code is
// kept over a rollback.
func (e *Engine) differs(ctx context.Context, run metadata.Run, rec *metadata.Phase, since metadata.Diff) bool {
	if since.Files > 0 || rec.Generation == 0 {
		return since.Files > 0
	}
	_, all, err := e.Tree.Diff(ctx, run.BaseCommit)
	return err == nil && all.Files > 0
}

// weighReview reads the verdict.
func (e *Engine) weighReview(ctx context.Context, run metadata.Run, d Decision, r Result, broke bool, x *effects) error {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	if broke {
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Unsuccessful, metadata.BudgetExceeded, "the budget was used up during the call"
		return nil
	}
	answer := structured(r)
	if answer == nil {
		x.outcome.Status, x.outcome.Code = metadata.Blocked, metadata.OutputInvalid
		x.outcome.Why = strings.Join(append([]string{"there is no structured verdict in the answer"}, circumstances(r)...), "\n")
		return nil
	}
	v, wrong := ParseVerdict(answer, p.Gates)
	if why := baseless(v, rec.Round, !checkFails(rec)); why != "" {
		wrong = append(wrong, why)
	}
	if len(wrong) > 0 {
		x.outcome.Status, x.outcome.Code, x.outcome.Why = metadata.Blocked, metadata.OutputInvalid, strings.Join(wrong, "\n")
		return nil
	}
	diff, _, err := e.diff(ctx, p, rec)
	if err != nil {
		return err
	}
	x.outcome.Status, x.outcome.Verdict = metadata.Succeeded, &v
	x.outcome.Work = digest([]byte(rec.Digest + diff))[:16]
	return nil
}

// diff gives what changed in the code since the phase began. A phase that
// cannot change code is not compared: looking would cost more than its record.
func (e *Engine) diff(ctx context.Context, p *pipelines.Phase, rec *metadata.Phase) (string, metadata.Diff, error) {
	if p.Access != pipelines.AccessTree || rec.Base == "" {
		return "", metadata.Diff{}, nil
	}
	return e.Tree.Diff(ctx, rec.Base)
}

// discard keeps what a broken call changed as a patch beside the artifacts,
// and takes the tree back to the last commit.
func (e *Engine) discard(ctx context.Context, run metadata.Run, d Decision, x *effects) error {
	changes, err := e.Tree.Changes(ctx)
	if err != nil {
		return err
	}
	s := boundary{access: pipelines.AccessTree, state: Folder(run.IssueNumber), folder: e.folder(run, e.Plan.Phase(d.Phase))}.sort(changes)
	if len(s.artifacts)+len(s.tree)+len(s.violations) == 0 {
		return nil
	}
	patch, err := e.Tree.Patch(ctx)
	if err != nil {
		return err
	}
	if len(patch) > 0 {
		name := fmt.Sprintf("attempt-%d.patch", len(run.Attempts))
		x.files[path.Join(e.folder(run, e.Plan.Phase(d.Phase)), name)] = []byte(secrets(e.Secrets).mask(string(patch)))
	}
	return e.Tree.Restore(ctx)
}

func (e *Engine) boundary(run metadata.Run, d Decision) boundary {
	p := e.Plan.Phase(d.Phase)
	return boundary{access: e.access(d), state: Folder(run.IssueNumber), folder: e.folder(run, p), protect: e.Plan.Protect}
}

// access is what the decision's agent may do: what the phase grants, at most
// what the agent is trusted with, and only reading for a review.
func (e *Engine) access(d Decision) pipelines.Access {
	granted := e.Plan.Phase(d.Phase).Access
	if d.Do == DoReview {
		granted = pipelines.AccessRead
	}
	order := []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead, pipelines.AccessArtifacts, pipelines.AccessTree}
	limit := e.Plan.Agents[d.Agent].Access
	for _, a := range order {
		if a == granted || (limit != "" && a == limit) {
			return a
		}
	}
	return granted
}

// leak says where a known secret stands in files that are about to be
// committed, or "".
func (e *Engine) leak(paths []string) string {
	if len(e.Secrets) == 0 {
		return ""
	}
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return fmt.Sprintf("the work cannot be searched for secrets: %v", err)
	}
	defer func() { _ = root.Close() }() // opened for reading
	for _, p := range paths {
		data, err := root.ReadFile(filepath.FromSlash(p))
		if errors.Is(err, os.ErrNotExist) {
			continue // removed
		}
		if err != nil {
			return fmt.Sprintf("%s cannot be searched for secrets: %v", p, err)
		}
		if name, line := secrets(e.Secrets).find(data); name != "" {
			return fmt.Sprintf("%s:%d has the value of %s; the changes were taken back", p, line, name)
		}
	}
	return ""
}

// artifact gives the digest and size of a file of the tree. It never follows
// a link out of the tree.
func (e *Engine) artifact(name string) (string, int, error) {
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	if info, err := root.Lstat(filepath.FromSlash(name)); err != nil {
		return "", 0, fmt.Errorf("%s was not written", name)
	} else if !info.Mode().IsRegular() {
		return "", 0, fmt.Errorf("%s is not a regular file", name)
	}
	data, err := root.ReadFile(filepath.FromSlash(name))
	if err != nil {
		return "", 0, fmt.Errorf("%s cannot be read: %w", name, err)
	}
	return digest(data), len(strings.TrimSpace(string(data))), nil
}

// files lists the artifact files of the phase after a writing step.
func (e *Engine) files(run metadata.Run, p *pipelines.Phase, s sorted) []string {
	all := append([]string{path.Join(e.folder(run, p), p.Writes)}, run.Phase(p.Name).OutputFiles...)
	all = append(all, s.artifacts...)
	var out []string
	seen := map[string]bool{}
	for _, f := range all {
		if _, _, err := e.artifact(f); err == nil && !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// report checks the structured answer of execute or revise, and says what is
// wrong with it.
func (e *Engine) report(ctx context.Context, p *pipelines.Phase, r Result) string {
	answer := structured(r)
	if answer == nil {
		return "there is no structured report in the answer"
	}
	if err := e.CheckReport(ctx, p.Report, answer); err != nil {
		return "the report does not fit: " + err.Error()
	}
	return ""
}

// structured gives the structured answer: the typed one, else the last fenced
// JSON block of the text.
func structured(r Result) json.RawMessage {
	if len(r.Structured) > 0 {
		return r.Structured
	}
	_, after, ok := cutLast(r.Text, "```json\n")
	if !ok {
		return nil
	}
	body, _, ok := strings.Cut(after, "\n```")
	if !ok || !json.Valid([]byte(body)) {
		return nil
	}
	return json.RawMessage(body)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// circumstances names what may explain why a call brought nothing.
func circumstances(r Result) []string {
	var out []string
	if r.Limit != "" {
		out = append(out, "it reached its limit of "+r.Limit)
	}
	if len(r.Denials) > 0 {
		out = append(out, "it was refused: "+strings.Join(r.Denials, ", "))
	}
	if r.ToolCalls == 0 {
		out = append(out, "it used no tool")
	}
	return out
}

func agentWhy(ae *AgentError) string {
	why := ae.Error()
	if ae.Hint != "" {
		why += "; " + ae.Hint
	}
	if tail := strings.TrimSpace(ae.Stderr); tail != "" {
		if r := []rune(tail); len(r) > 1000 {
			tail = "…" + string(r[len(r)-1000:])
		}
		why += "\n" + tail
	}
	return why
}

func reviewText(rec *metadata.Phase) string {
	var b strings.Builder
	v := rec.Verdict
	fmt.Fprintf(&b, "# Review of %s, round %d: %s\n", rec.Name, rec.Round, strings.ReplaceAll(string(v.Verdict), "_", " "))
	if len(v.Gates) > 0 {
		b.WriteString("\n## Gates\n\n")
	}
	for _, g := range v.Gates {
		mark := "x"
		if !g.Pass {
			mark = " "
		}
		fmt.Fprintf(&b, "- [%s] %s\n  %s\n", mark, g.Gate, oneLine(g.Why))
	}
	if len(v.Findings) > 0 {
		b.WriteString("\n## Findings\n")
	}
	for _, f := range v.Findings {
		fmt.Fprintf(&b, "\n### %s %s (%s, %s)\n\n", f.ID, oneLine(f.Title), f.Severity, strings.ReplaceAll(string(f.Status), "_", " "))
		if f.File != "" {
			fmt.Fprintf(&b, "- Where: %s:%d\n", f.File, f.Line)
		}
		for _, part := range []struct{ name, text string }{{"Problem", f.Problem}, {"Impact", f.Impact}, {"Solution", f.Solution}} {
			if part.text != "" {
				fmt.Fprintf(&b, "- %s: %s\n", part.name, part.text)
			}
		}
	}
	return b.String()
}

// session gives the id to start or to go on with.
func (e *Engine) session(run metadata.Run, d Decision) string {
	if d.Resume > 0 {
		return run.Attempts[d.Resume-1].Session
	}
	return e.NewID()
}

// timeouts gives the limits of a step.
func timeouts(s pipelines.Step) (whole, idle time.Duration) {
	return time.Duration(s.Timeout), time.Duration(s.Idle)
}
