package workspace

import (
	"cmp"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Options says which run to open and how.
type Options struct {
	issue.Query
	Choice

	Repo    string   // any folder of the repository
	Stubs   string   // file of scripted answers, for the rehearsal agent
	Sandbox string   // required, best-effort or off; empty: best-effort
	Token   string   // for origin, in place of the user's own credentials
	Base    string   // branch that a new run starts from; empty: what is checked out
	Docs    []string // documents of people for phases of a new run, as PHASE=PATH

	// Jobs is how many parts of a phase, and checks, are done at the same time; 0: as
	// many parts as the pipeline says, and as many checks as the machine allows.
	Jobs int

	Only string     // the part that alone is done, by a machine of its own; empty: all that is due
	Hear issue.Hear // reads what was said below an issue on GitHub; nil: no note is taken of that

	More               phases.Allowance
	Push               *bool // push every commit to origin; nil: as the run was started
	Pause              bool  // stop after every phase that passed its gates
	Refresh            bool  // take the pipeline and the prompts as they are defined now
	RefreshIssue       bool  // take the issue as it reads now
	TakeTheirs         bool  // go on from where the branch went elsewhere
	TrustBranch, Still bool  // go by the pipeline of the branch, whoever wrote it; start nothing but its hooks
	TakeOver           bool  // take the run also from a machine that holds it
	Scratch            bool  // work in a temporary folder and leave nothing behind
}

// checksAtOnce is how many checks run side by side: each may use several processors
// itself.
func (o Options) checksAtOnce() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return max(1, min(4, runtime.NumCPU()/2))
}

// partsAtOnce is how many parts of a phase are done at the same time.
func (o Options) partsAtOnce(plan *pipelines.Pipeline) int { return max(1, cmp.Or(o.Jobs, plan.Jobs)) }

// anew says to begin at the beginning, also where there is a run of this issue.
func (o Options) anew() bool { return o.Scratch && (o.File != "" || o.Online) }

// Keep refuses what a run that has begun would not go by, though the options
// ask for it: other phases, another pipeline or another language.
func (o Options) Keep(w *Workspace) error {
	if len(o.Docs) > 0 {
		return exit.Usagef("the run of issue %s has begun, and takes no more documents: put the text onto its branch, at the artifact of the phase, or say in a rollback where it is; leave --doc out", w.Issue.ID)
	}
	if o.Refresh {
		return nil
	}
	if err := o.samePart(w); err != nil {
		return err
	}
	return o.sameDefinition(w)
}

// samePart refuses phases that a run which has begun would not keep to: it would
// carry out, and spend on, more or others than were asked for.
func (o Options) samePart(w *Workspace) error {
	asked, has := o.Part, w.Plan.Part
	asked.Skip, has.Skip = slices.Sorted(slices.Values(asked.Skip)), slices.Sorted(slices.Values(has.Skip))
	if asked.IsZero() || reflect.DeepEqual(asked, has) {
		return nil
	}
	return exit.Usagef("the run of issue %s keeps the phases with which it began, so --phases and --jobs off cannot choose others: leave them out, or add --refresh, which takes the pipeline as it is defined now", w.Issue.ID)
}

// sameDefinition refuses a pipeline or a language that a run which has begun
// would not take: whoever names one expects it.
func (o Options) sameDefinition(w *Workspace) error {
	if o.Pipeline != "" && o.Pipeline != w.Plan.FullName() && filepath.Base(o.Pipeline) != path.Base(w.Plan.Source) {
		return exit.Usagef("the run of issue %s keeps pipeline %s, with which it began: leave --pipeline %s out, or add --refresh, which goes on with it; what is done stays done",
			w.Issue.ID, w.Plan.FullName(), o.Pipeline)
	}
	if o.Language != "" && o.Language != w.Run.Language {
		return exit.Usagef("the run of issue %s keeps language %s, with which it began: leave --language %s out, or add --refresh, which goes on in it", w.Issue.ID, w.Run.Language, o.Language)
	}
	return nil
}
