package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// importResult is what was taken over, for programs.
type importResult struct {
	DryRun bool            `json:"dry_run"`
	Issue  string          `json:"issue"`
	From   string          `json:"from"` // the older record
	Branch string          `json:"branch"`
	Base   string          `json:"base_commit"`
	Head   string          `json:"head_sha,omitempty"` // empty in a dry run
	Pushed bool            `json:"pushed"`
	Status metadata.Status `json:"status"`
	Phases []takenPhase    `json:"phases"`
	Notes  []note          `json:"dropped"`
}

// tell says what was taken over, what was not and why, and how to go on.
func (t *takeover) tell(env environment, o importOptions, w *workspace) error {
	if o.json {
		r := importResult{
			DryRun: o.dry, Issue: w.run.IssueNumber, From: t.old.name, Branch: w.run.BranchName, Base: w.run.BaseCommit,
			Pushed: w.push && !o.dry, Status: w.run.Status, Phases: t.taken, Notes: t.notes,
		}
		if !o.dry {
			r.Head = w.repo.Tip()
		}
		if r.Notes == nil {
			r.Notes = []note{}
		}
		return printJSON(env.stdout, r)
	}
	r := newReport(env.stdout, showOptions(env))
	r.titled(w.plan, w.run)
	r.line("%s", "from "+flat(t.old.name))
	r.line("")
	r.table(t.table(), "")
	r.line("")
	r.line("%s spent, %s", usd(w.run.Cost.USD), plural(len(w.run.RollbackHistory), "rollback"))
	if len(t.notes) > 0 {
		r.heading("Not taken over as it was")
		for _, n := range t.notes {
			r.line("  %s: %s", flat(n.What), flat(n.Why))
		}
	}
	r.line("")
	if o.dry {
		r.line("Dry run: nothing was changed.")
		return nil
	}
	r.line("Branch %s at %.12s. %s", w.run.BranchName, w.repo.Tip(), t.old.start())
	r.goOn(w.run, t.old)
	return nil
}

// start says where the new branch starts.
func (old *olderRun) start() string {
	if old.base == "" {
		return "It starts at what is checked out."
	}
	return "It starts where the older branch ends, which stays as it is."
}

// table shows what became of each phase.
func (t *takeover) table() *table {
	out := &table{}
	out.add("", "phase", "was", "is", "step", "artifact")
	for _, p := range t.taken {
		files := slices.Sorted(maps.Keys(p.Artifacts))
		for i, f := range files {
			files[i] = strings.TrimPrefix(f, t.old.top+"/")
		}
		out.add(statusSign(p.Status), flat(p.Name), words(p.Was), words(p.Status), string(p.Step), flat(strings.Join(files, " ")))
	}
	return out
}

// goOn says what can be done now.
func (r report) goOn(run metadata.Run, old *olderRun) {
	id := run.IssueNumber
	switch run.Status {
	case metadata.Completed:
		r.line("Every phase is done. To take one back: reprise rollback --issue %s --to-phase PHASE --reason TEXT", id)
	case metadata.Failed:
		r.line("Phase %s had failed. Try it again: reprise retry --issue %s", run.CurrentPhase, id)
	default:
		r.line("Go on with: reprise run --issue %s", id)
	}
	// A branch that does not start from the older one cannot be pushed over it.
	if head := old.Run.BranchName; run.PRNumber > 0 && head == old.base && head != "" && head != run.BranchName {
		r.line("Pull request %d shows %s. For it to show what comes now, too: git push origin %s:%s", run.PRNumber, flat(head), run.BranchName, flat(head))
	}
}
