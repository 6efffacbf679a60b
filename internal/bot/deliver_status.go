package bot

import (
	"cmp"
	"context"
	"fmt"
	"net/http"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// statuses keep a commit status at the newest commit of a branch, where the pipeline asks for it.
type statuses struct {
	*delivery
	newest  said
	refused bool // the token may not
}

// said is what a status says.
type said struct{ commit, state, text string }

// Keep has the status of a commit say how a run stands, if it does not yet. A token that
// may not do that is a warning, once; the run goes on.
func (s *statuses) Keep(ctx context.Context, c phases.Course, commit string) {
	now := said{commit: commit, text: describe(c.Run)}
	now.state = cmp.Or(map[metadata.Status]string{metadata.Completed: "success", metadata.Failed: "failure", metadata.Cancelled: "error"}[c.Run.Status], "pending")
	if !c.Plan.Statuses || s.refused || commit == "" || now == s.newest || s.Expired() {
		return
	}
	body := map[string]any{"state": now.state, "context": github.OwnStatus, "description": now.text}
	if link := s.Voice.Facts(c.Run).Job; link != "" {
		body["target_url"] = link
	}
	err := s.ask(ctx, fmt.Sprintf("give commit %s a status", shortCommit(commit)), "statuses: write", http.MethodPost, "/statuses/"+commit, body)
	s.refused = github.IsKind(err, github.Forbidden, github.NotFound, github.Gone)
	if err == nil {
		s.newest = now
	}
	s.Voice.warnOf(unlessKind(err, github.Refused)) // of a commit that could not be pushed
}

// mostDescribed is the most characters that GitHub takes of what a status says.
const mostDescribed = 140

// describe says where a run is: its phase and step, or how it has ended.
func describe(run metadata.Run) string {
	words := prompts.Words(run.Language)
	parts := []string{words.Word("statuses", string(run.Status))}
	if rec := run.Phase(phases.AtHand(run)); rec != nil && run.Status != metadata.Completed {
		parts = append(parts, rec.Name)
		if rec.CurrentStep != "" {
			parts = append(parts, words.Word("steps", string(rec.CurrentStep)))
		}
	}
	return text.Cut(text.Flat(text.Join(" · ", parts...)), mostDescribed)
}
