package legacy

import (
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// Tell says what was taken over, what was not and why, and how to go on.
func Tell(t *Takeover, env environ.Env, o Options, w *workspace.Workspace) error {
	if o.Json {
		out := map[string]any{
			"dry_run": o.Dry, "issue": w.Run.IssueNumber, "from": t.Old.Name, "branch": w.Run.BranchName, "base_commit": w.Run.BaseCommit,
			"pushed": w.Push && !o.Dry, "status": w.Run.Status, "phases": t.Taken, "dropped": text.List(t.Old.Notes),
		}
		if !o.Dry {
			out["head_sha"] = w.Repo.Tip()
		}
		return text.PrintJSON(env.Stdout, out)
	}
	r := terminal.NewReport(env.Stdout, terminal.ShowOptions(env))
	r.Titled(w.Plan, w.Run)
	r.Line("%s", "from "+text.Flat(t.Old.Name))
	r.Line("")
	r.Table(takeoverTable(t), "")
	r.Line("")
	r.Line("%s spent", text.USD(w.Run.Cost.USD))
	if len(t.Old.Notes) > 0 {
		r.Heading("Not taken over as it was")
		for _, n := range t.Old.Notes {
			r.Line("  %s: %s", text.Flat(n.What), text.Flat(n.Why))
		}
	}
	r.Line("")
	if o.Dry {
		r.Line("Dry run: nothing was changed.")
		return nil
	}
	start := "It starts where the older branch ends, which stays as it is."
	if t.Old.Base == "" {
		start = "It starts at what is checked out."
	}
	r.Line("Branch %s at %.12s. %s", w.Run.BranchName, w.Repo.Tip(), start)
	goOn(r, w.Run, t.Old)
	return nil
}

// takeoverTable shows what became of each phase.
func takeoverTable(t *Takeover) *text.Table {
	out := &text.Table{}
	out.Add("", "phase", "was", "is", "artifact")
	for _, p := range t.Taken {
		files := slices.Sorted(maps.Keys(p.Artifacts))
		for i, f := range files {
			files[i] = strings.TrimPrefix(f, t.Old.Top+"/")
		}
		out.Add(view.Sign(p.Status), text.Flat(p.Name), text.Words(p.Was), text.Words(p.Status), text.Flat(strings.Join(files, " ")))
	}
	return out
}

// goOn says what can be done now.
func goOn(r terminal.Report, run metadata.Run, old *OlderRun) {
	id := run.IssueNumber
	if run.Status == metadata.Completed {
		r.Line("Every phase is done. To take one back: reprise rollback --issue %s --to-phase PHASE --reason TEXT", id)
	} else {
		r.Line("Go on with: reprise run --issue %s", id)
	}
	// A branch that does not start from the older one cannot be pushed over it.
	if head := old.Branch; run.PRNumber > 0 && head == old.Base && head != "" && head != run.BranchName {
		r.Line("Pull request %d shows %s. For it to show what comes now, too: git push origin %s:%s", run.PRNumber, text.Flat(head), run.BranchName, text.Flat(head))
	}
}
