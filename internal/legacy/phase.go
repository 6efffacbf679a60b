package legacy

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// anew lets a phase that had begun begin again.
func (t *Takeover) anew(rec, was *metadata.Phase) {
	start := or(was.StartedAt, &t.Old.Run.CreatedAt)
	rec.Status, rec.CurrentStep, rec.StartedAt, rec.Base = metadata.PhaseInProgress, metadata.Execute, &start, t.w.Repo.Tip()
}

// copy takes over what a phase has written, as one attempt.
func (t *Takeover) copy(p *pipelines.Phase, rec, was *metadata.Phase, docs []document, artifacts map[string]string) {
	run := &t.w.Run
	folder := path.Join(phases.Folder(run.IssueNumber), p.Folder)
	for i, d := range docs {
		to := path.Join(folder, path.Base(d.path))
		if i == 0 {
			to = path.Join(folder, p.Writes)
			rec.Digest = hexSum(d.data)
		}
		if _, taken := t.w.Frozen[to]; taken || slices.Contains([]string{phases.ReviewFile, phases.ChecksFile, phases.ReasonFile}, path.Base(to)) {
			t.note(d.path, "has a name that is taken: it stays where it is")
			continue
		}
		t.w.Frozen[to] = d.data
		rec.OutputFiles = append(rec.OutputFiles, to)
		artifacts[d.path] = to
	}
	start := or(was.StartedAt, &t.Old.Run.CreatedAt)
	end := or(was.CompletedAt, &start)
	run.Attempts = append(run.Attempts, metadata.Attempt{
		N: len(run.Attempts) + 1, Phase: p.Name, Step: metadata.Execute, Agent: importedAgent, Status: metadata.Succeeded,
		StartedAt: start, EndedAt: &end, DurationMS: end.Sub(start).Milliseconds(),
	})
	rec.StartedAt, rec.RetryCount, rec.CompletedSteps = &start, was.RetryCount, slices.Clone(was.CompletedSteps)
	rec.Written, rec.Base = len(run.Attempts), t.w.Repo.Tip()
}

// review takes over the newest review of a phase as a file, and gives its text.
func (t *Takeover) review(p *pipelines.Phase) (string, error) {
	d, err := t.Old.review(p.Name)
	if err != nil || d.path == "" {
		return "", err
	}
	t.w.Frozen[path.Join(phases.Folder(t.w.Run.IssueNumber), p.Folder, phases.ReviewFile)] = d.data
	const most = 50_000 // characters, which a prompt repeats
	all := []rune(strings.ToValidUTF8(string(d.data), "\uFFFD"))
	if len(all) > most {
		return string(all[:most]) + "\n\n(the rest is in " + d.path + ")", nil
	}
	return string(all), nil
}

// unfinished puts a phase to the step it was at. The older system kept no
// typed verdict, so the text of its review becomes the one finding of one.
func (t *Takeover) unfinished(p *pipelines.Phase, rec, was *metadata.Phase, review string) {
	rec.Status, rec.CurrentStep = metadata.PhaseInProgress, was.CurrentStep
	back := rec.RollbackContext != nil
	if review != "" && rec.CurrentStep == metadata.Revise && !back || review != "" && was.Status == metadata.PhaseFailed {
		rec.ReviewResult, rec.Round = string(metadata.Fail), 1
		rec.Verdict = &metadata.Verdict{Verdict: metadata.Fail, Gates: []metadata.Gate{}, Findings: []metadata.Finding{{
			ID: "IMPORTED", Severity: metadata.Blocker, Status: metadata.NewFinding, Title: "What the newest review of ai-workflow-agent found",
			Problem: review, Impact: "The review did not pass.", Solution: "What the review asks for.",
		}}}
	}
	switch {
	case was.Status == metadata.PhaseFailed && rec.Verdict != nil:
		rec.Status, rec.CurrentStep = metadata.PhaseFailed, ""
	case rec.CurrentStep == metadata.Revise && !back && rec.Verdict == nil, was.Status == metadata.PhaseFailed:
		t.note("phases."+p.Name, "has no review that says what to revise: it is reviewed first")
		rec.CurrentStep = metadata.Review
	}
	rec.CompletedSteps = slices.DeleteFunc(rec.CompletedSteps, func(s metadata.Step) bool { return s == rec.CurrentStep })
	if p.NoReview && rec.CurrentStep == metadata.Review {
		rec.CurrentStep = metadata.Execute // what makes the phase whole in this pipeline
	}
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
