// Package workspace is one run on this machine: its branch, the work tree on it,
// what it was defined by, and its record. It wires the engine that carries the run
// on, and prints only what somebody has to know to go on.
package workspace

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/hooks"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/metadata/store"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Workspace is one run on this machine: its branch and tree, what it was defined by, and its record.
type Workspace struct {
	Recorded
	Repo       Checkout
	backend    Backend
	Given      issue.Issue // as the command line or an event has it, of a run that has begun
	Branch     string
	Push       bool               // every commit goes to origin
	Fresh      bool               // the run has no commit yet
	Frozen     map[string][]byte  // what the first commit takes along
	Unfinished []metadata.Attempt // begun and never ended by the process before: of several parts of a phase, each
	// Elsewhere is how many attempts other machines have made: their sessions are not here.
	Elsewhere int
	// removed is what the issue hid from people and was taken out.
	Removed []clean.Removal
	clean   func() // removes what a dry run made

	there   *issue.Reference // where the issue can be read if it has no run; nil: nowhere
	nowhere string           // why that is so

	Warn  func(error)   // hears what went wrong beside the run; nil: it is printed
	Hooks *hooks.Teller // of the newest engine; nil: there are none

	known       metadata.Run        // the record that is on the branch; the zero value if there is none
	tree        git.Options         // with which Repo was opened
	others      *OtherRuns          // of the repository; nil: no engine was wired
	slot        slot                // where checks run; the zero value: none was needed yet
	besides     *laneTrees          // of parts that are done at the same time; nil: none was needed yet
	agents      *agents.Options     // what all agents share; nil: not worked out yet
	stubs       *rehearsal.Stubs    // what a rehearsal plays back; nil: nothing
	Box         sandbox.Confinement // what programs are kept in
	noSandbox   string              // why there is no sandbox; empty if there is one
	absent      []metadata.Reason   // which agents are not here, and who does their work
	saidLacking bool                // SayLacking has printed its lines
	guidance    string              // what people tell all agents that work in the repository
	Left        *metadata.Run       // of a task: what an earlier one of its part on this machine has recorded; nil: nothing
	Notes       []string            // what a person who begins the run or goes on with it should know
}

// Close lets go of the run. One that never had a commit leaves no folder.
func (w *Workspace) Close() error {
	if w.Repo.New() {
		_ = folders.RemoveAll(filepath.Dir(w.Repo.Dir())) // what is left does not get in the way of a next start
	}
	w.others.Close()
	w.agents = nil
	err := errors.Join(w.besides.Close(), w.Repo.Close(), w.slot.free())
	w.clean()
	return err
}

// Signing is who signs the commits of the run.
func (w *Workspace) Signing() *git.Signing { return w.tree.Signing }

// Engine wires the engine that carries this run on.
func (w *Workspace) Engine(o Options, report engine.Reporter) (*engine.Engine, error) {
	eval, err := evaluator()
	if err != nil {
		return nil, err
	}
	opts, err := AgentOptions(w, o)
	if err != nil {
		return nil, err
	}
	w.Signing().Off = w.Plan.SignOff
	opts.Sweep() // the run is this process's alone
	calls := w.calls(&opts)
	w.others.Close() // of an engine before
	w.others = w.otherRuns()
	e := &engine.Engine{
		Journal: engine.Journal{
			Plan: w.Plan, Tree: w.Repo.At(w.Run.BaseCommit), Frozen: w.Frozen, SecretFinder: leakGuard{w.Env.Finder(), w.Repo}, Now: w.Env.Now,
		},
		Calls: engine.Calls{
			Prompts: w.Words,
			Agent:   calls(opts),
			Issue: prompts.Issue{
				ID: w.Issue.ID, URL: w.Issue.URL, Title: w.Issue.Title, Author: w.Issue.Author, Labels: w.Issue.Labels, Body: w.Issue.Body, Notes: w.guidance,
				Said: w.Issue.Discussion.Said(), Older: w.Issue.Discussion.Older,
			},
			See:       issue.ImagesBeside(w.Env, o.Token, filepath.Join(filepath.Dir(w.Repo.Dir()), "images"), w.Run, w.Issue).See,
			Elsewhere: w.Elsewhere,
			NewID:     uuid.NewString,
			Rand:      rand.Reader,
		},
		Commands: engine.Commands{
			Checker:    opts,
			Base:       opts.Unchanged(),
			Jobs:       o.checksAtOnce(),
			Provisions: provisionsFor(Tree{w.Git().Repo, w.Run.BaseCommit}, w.slot, w.Plan.Setup),
		},
		Conditions: engine.Conditions{
			CheckReport: eval.CheckReport,
			Matches:     eval.Matches,
			Policy:      func(ctx context.Context, plan *pipelines.Pipeline) error { return w.hold(ctx, o, plan) },
			Invented: func(agent, phase string) bool {
				return w.Plan.Agents[agent].Use == agents.Rehearsal && !w.stubs.Report(phase)
			},
		},
		OtherRuns: engine.OtherRuns{
			Others: w.others.tell,
			Spent:  w.others.spentToday,
		},
		Report: report, Store: recordFolder(w.Repo.Dir(), w.Issue.ID), PauseAtGates: o.Pause, Sleep: environ.Sleep,
	}
	tellHooks(w, e, o, opts)
	w.besides = &laneTrees{
		dir: lanesBeside(w.Repo.Dir()), tree: w.tree, base: w.Run.BaseCommit, slot: w.takeSlot,
		opts: opts, calls: calls, secrets: w.Env.Finder(), open: map[string]*lane{}, requested: o.Jobs > 0,
		tell: func(of error) {
			_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+w.Shown("one by one", "why", prompts.Why(of).In(w.Catalogue())))
		},
	}
	if w.Signing().By != nil { // commits of parts beside others do not reach the forge one by one
		return e, nil
	}
	e.Lanes = &engine.Lanes{Trees: w.besides, Jobs: max(1, cmp.Or(o.Jobs, w.Plan.Jobs)), Only: o.Only}
	return e, nil
}

// calls gives what makes the agents of some options, by their names in the pipeline.
func (w *Workspace) calls(opts *agents.Options) func(agents.Options) func(string) (engine.Agent, error) {
	if given := w.backend.Agent; given != nil {
		return func(agents.Options) func(string) (engine.Agent, error) { return given }
	}
	keeper := agents.NewKeeper(agents.TranscriptsFolder(filepath.Dir(w.Repo.Dir())), w.Plan.KeepTranscripts.Duration(), w.Env.Finder().Mask, w.Env.Now)
	opts.Transcript = keeper.Line
	return func(opts agents.Options) func(string) (engine.Agent, error) {
		return func(name string) (engine.Agent, error) {
			use := w.Plan.Agents[name].Use
			a, err := agents.For(use, w.Plan.Agents[name], opts)
			if err != nil {
				return nil, err
			}
			return keeper.Agent(name, use, a), nil
		}
	}
}

// Shown gives words of what commands show, in the language of the run.
func (w *Workspace) Shown(what string, pairs ...any) string {
	return w.Catalogue().Shown(what, pairs...)
}

// otherRuns gives the other runs of the repository, as this one is told of them.
func (w *Workspace) otherRuns() *OtherRuns {
	src := w.Source
	if w.backend.Agent != nil { // branches that a test keeps in memory
		src = nil
	}
	return otherRunsOf(w.Env, OtherRunsConfig{
		Source: src, Issue: w.Issue.ID, Tips: func() []string { return []string{w.Repo.Tip()} }, Folder: filepath.Join(filepath.Dir(w.Repo.Dir()), "origin"), Token: w.tree.Token,
		Push: w.tree.Remote != "", RepoDayUSD: w.Plan.Budget.RepoDayUSD, Words: w.Catalogue(),
	})
}

// SameFiles says which open runs of other issues change the same files as the run whose engine was wired.
func (w *Workspace) SameFiles(run metadata.Run) metadata.Reason { return w.others.sameFiles(run) }

// Busy says that another machine works on the run, or nothing: what is done here could not be pushed.
func (w *Workspace) Busy(at time.Time) error {
	lease := w.Run.Execution.Lease
	switch {
	case lease == nil || !at.Before(lease.Expires) || !w.Push:
		return nil
	case phases.LeftToTasks(w.Run):
		return fmt.Errorf("parts of issue %s are left to tasks: take in what they have done, and go on, with: reprise join --issue %[1]s", w.Issue.ID)
	}
	return exit.Held{Err: fmt.Errorf("%s works on issue %s: wait for it, or end it with /cancel on the issue; if it is gone, the run is free at %s, or now with: reprise run --issue %s --take over",
		lease.Owner, w.Issue.ID, lease.Expires.UTC().Format("15:04 UTC"), w.Issue.ID)}
}

// PauseFile is the note, beside the work tree, that a run is being paused.
const PauseFile = "pause"

// StopTime is how long to wait for a process that was told to stop: it ends its agent, and pushes what there is.
const StopTime = 20 * time.Second

// Paused reports whether a run was interrupted to be paused. An older note is of a process killed before removing it.
func (w *Workspace) Paused(run metadata.Run) bool {
	note, err := os.Lstat(filepath.Join(filepath.Dir(w.Repo.Dir()), PauseFile))
	return run.Status == metadata.Interrupted && err == nil && time.Since(note.ModTime()) < 2*StopTime
}

// Options says which run to open and how.
type Options struct {
	issue.Query
	Choice

	Repo    string    // any folder of the repository
	Stubs   string    // file of scripted answers, for the rehearsal agent
	Sandbox string    // required, best-effort or off; empty: best-effort
	Token   string    // for origin, in place of the user's own credentials
	Base    string    // branch that a new run starts from; empty: what is checked out
	Author  [2]string // name and address of who commits where git is told nobody; empty: reprise
	Docs    []string  // documents of people for phases of a new run, as PHASE=PATH

	// Jobs is how many parts and checks are done at the same time; 0: as pipeline and machine allow.
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
	Beside             bool  // share with other runs of this user what is known of the limits of services
}

// checksAtOnce is how many checks run side by side: each may use several processors itself.
func (o Options) checksAtOnce() int {
	if o.Jobs > 0 {
		return o.Jobs
	}
	return max(1, min(4, runtime.NumCPU()/2))
}

// anew says to begin at the beginning, also where there is a run of this issue.
func (o Options) anew() bool { return o.Scratch && (o.File != "" || o.Online) }

// Keep refuses other phases, another pipeline or language than a begun run goes by.
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

// samePart refuses other phases: a run that has begun would do, and spend on, more than was asked for.
func (o Options) samePart(w *Workspace) error {
	asked, has := o.Part, w.Plan.Part
	asked.Skip, has.Skip = slices.Sorted(slices.Values(asked.Skip)), slices.Sorted(slices.Values(has.Skip))
	if asked.IsZero() || reflect.DeepEqual(asked, has) {
		return nil
	}
	return exit.Usagef("the run of issue %s keeps the phases with which it began, so --phases and --jobs off cannot choose others: leave them out, or add --refresh, which takes the pipeline as it is defined now", w.Issue.ID)
}

// sameDefinition refuses a pipeline or language that a run which has begun would not take.
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

// HomeBase gives a folder of all that reprise keeps here, in REPRISE_HOME, else in the user's caches, for work in dir.
// It is an error if others can have put something there.
func HomeBase(env environ.Env, dir string, names ...string) (string, error) {
	base := env.Getenv("REPRISE_HOME")
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("there is no folder to work in: %w; name one in REPRISE_HOME", err)
		}
		base = filepath.Join(cache, "reprise")
	}
	err := folders.Own(base, dir)
	for _, name := range names {
		base = filepath.Join(base, name)
		err = cmp.Or(err, folders.Own(base, dir))
	}
	if err != nil {
		return base, fmt.Errorf("%w: name a folder of your own in REPRISE_HOME", err)
	}
	return base, nil
}

// HomeFolder gives where a run lives here: outside the repository, as many tools pass over what is below ".git".
func HomeFolder(env environ.Env, src *git.Source, id string) (string, error) {
	return HomeBase(env, src.Dir, filepath.Base(src.Dir)+"-"+phases.DigestOf([]byte(src.CommonDir))[:8], id)
}

// recordFolder is where a run's record is kept between two commits: beside the work, in its tree.
func recordFolder(tree, id string) store.Folder {
	return store.Folder{Dir: filepath.Join(tree, filepath.FromSlash(phases.Folder(id))), Within: tree}
}

// savedRun gives the record in the folder of a run; nil if none is there that can be read.
func savedRun(folder, id string) *metadata.Run {
	run, err := recordFolder(filepath.Join(folder, "tree"), id).Load()
	if err != nil {
		return nil
	}
	return &run
}

// KeptRef is the full name by which the record of a run is kept.
func KeptRef(id string) string { return git.KeptRefs + phases.RecordName(id) }

// RecordReader gives how a run's record and definition are read from a ref, also where the folder was taken off it.
func RecordReader(ctx context.Context, src *git.Source, ref, id string) func(name string) ([]byte, error) {
	commit, none := src.Shelf(ctx, ref, phases.Folder(id))
	return func(name string) ([]byte, error) {
		if none != nil {
			return nil, none
		}
		return src.ReadFile(ctx, commit, name)
	}
}

// definedBy are the files of the record of a run, and of what it was defined by.
func definedBy(id string) (names []string) {
	for _, name := range []string{metadata.File, phases.PipelineFile, promptsFile, phases.IssueFile, phases.DiscussionFile} {
		names = append(names, path.Join(phases.Folder(id), name))
	}
	return names
}
