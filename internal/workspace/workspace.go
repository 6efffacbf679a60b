// Package workspace is one run on this machine: its branch, the work tree on it,
// what it was defined by, and its record. It wires the engine that carries the run
// on, and prints only what somebody has to know to go on.
package workspace

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Workspace is one run on this machine: its branch and tree, what it was
// defined by, and its record.
type Workspace struct {
	Definition
	Source     *git.Source
	Repo       Checkout
	backend    Backend
	Issue      issue.Issue
	Given      issue.Issue // as the command line or an event has it, of a run that has begun
	Branch     string
	Run        metadata.Run
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
	besides     *laneTrees          // of parts that are done at the same time; nil: none was needed yet
	agents      *agents.Options     // what all agents share; nil: not worked out yet
	Box         sandbox.Confinement // what programs are kept in
	noSandbox   string              // why there is no sandbox; empty if there is one
	saidLacking bool                // SayLacking has printed its lines
	guidance    string              // what people tell all agents that work in the repository
	Notes       []string            // what a person who begins the run or goes on with it should know
}

// Close lets go of the run. One that never had a commit leaves no folder.
func (w *Workspace) Close() error {
	if w.Repo.New() {
		_ = folders.RemoveAll(filepath.Dir(w.Repo.Tree())) // what is left does not get in the way of a next start
	}
	w.others.Close()
	w.forgetAgents()
	err := errors.Join(w.besides.Close(), w.Repo.Close())
	w.clean()
	return err
}

// Engine wires the engine that carries this run on.
func (w *Workspace) Engine(env environ.Env, o Options, report engine.Reporter) (*engine.Engine, error) {
	eval, err := Evaluator()
	if err != nil {
		return nil, err
	}
	opts, err := AgentOptions(env, w, o)
	if err != nil {
		return nil, err
	}
	opts.Sweep() // the run is this process's alone
	calls, err := w.calls(env, &opts)
	if err != nil {
		return nil, err
	}
	w.others.Close() // of an engine before
	w.others = w.otherRuns(env)
	e := &engine.Engine{
		Journal: engine.Journal{
			Plan: w.Plan, Tree: Tree{w.Repo, w.Run.BaseCommit}, Frozen: w.Frozen, LeakGuard: engine.LeakGuard{Secrets: leakGuard{env.Finder(), w.Repo}}, Now: env.Now,
		},
		Calls: engine.Calls{
			Prompts: w.Words,
			Agent:   calls(opts, Tree{w.Repo, w.Run.BaseCommit}),
			Issue: prompts.Issue{
				ID: w.Issue.ID, URL: w.Issue.URL, Title: w.Issue.Title, Author: w.Issue.Author, Labels: w.Issue.Labels, Body: w.Issue.Body, Notes: w.guidance,
				Said: w.Issue.Discussion.Said(), Older: w.Issue.Discussion.Older,
			},
			See:       issue.ImagesBeside(env, o.Token, issue.ImagesFolder(filepath.Dir(w.Repo.Tree())), w.Run, w.Issue).See,
			Elsewhere: w.Elsewhere,
			NewID:     uuid.NewString,
			Rand:      rand.Reader,
		},
		Commands: engine.Commands{
			Checker:    opts,
			Installer:  opts.ForSetup(),
			Jobs:       o.checksAtOnce(),
			Provisions: provisionsFor(w.Repo, w.Plan.Setup),
		},
		Conditions: engine.Conditions{
			CheckReport: eval.CheckReport,
			Matches:     eval.Matches,
			Invented: func(agent, phase string) bool {
				return w.Plan.Agents[agent].Use == agents.Rehearsal && !opts.Rehearsal.Stubs.Report(phase)
			},
		},
		OtherRuns: engine.OtherRuns{
			Others: w.others.Tell,
			Spent:  w.others.SpentToday,
		},
		Report: report, Store: RecordFolder(w.Repo.Tree(), w.Issue.ID), PauseAtGates: o.Pause, Sleep: environ.Sleep,
	}
	tellHooks(w, e, env, o, opts)
	w.besides = &laneTrees{
		dir: lanesBeside(w.Repo.Tree()), tree: w.tree, base: w.Run.BaseCommit, mark: TempMark,
		opts: opts, calls: calls, secrets: env.Finder(), open: map[string]*lane{}, requested: o.Jobs > 0,
		tell: func(of error) {
			_, _ = fmt.Fprintln(env.Stderr, "reprise: "+w.Shown("one by one", "why", exit.Why(of).In(w.Catalogue())))
		},
	}
	e.Beside = (&engine.LaneSide{Engine: e, Trees: w.besides, Jobs: o.partsAtOnce(w.Plan), Only: o.Only}).Run
	return e, nil
}

// calls gives what makes the agents that work in a tree, by their names in the pipeline.
func (w *Workspace) calls(env environ.Env, opts *agents.Options) (func(agents.Options, Tree) func(string) (engine.Agent, error), error) {
	if given := w.backend.Agent; given != nil {
		return func(agents.Options, Tree) func(string) (engine.Agent, error) { return given }, nil
	}
	recorded, err := rehearsal.OpenRecording(env.Getenv, env.Finder().Mask)
	if err != nil {
		return nil, exit.AsUsage(err)
	}
	keeper := agents.NewKeeper(agents.TranscriptsFolder(filepath.Dir(w.Repo.Tree())), w.Plan.KeepTranscripts.Duration(), env.Finder().Mask, env.Now)
	opts.Transcript, opts.Requests = keeper.Line, keeper.Requests
	return func(opts agents.Options, tree Tree) func(string) (engine.Agent, error) {
		return func(name string) (engine.Agent, error) {
			use := w.Plan.Agents[name].Use
			a, err := recorded.Agent(tree, func() (engine.Agent, error) { return agents.For(use, w.Plan.Agents[name], opts) })
			if err != nil {
				return nil, err
			}
			return keeper.Agent(name, use, a), nil
		}
	}, nil
}

// Catalogue has the words of the language of the run.
func (w *Workspace) Catalogue() prompts.Catalogue { return prompts.Words(w.Run.Language) }

// Shown gives words of what commands show, in the language of the run.
func (w *Workspace) Shown(what string, pairs ...any) string {
	return w.Catalogue().Shown(what, pairs...)
}

// otherRuns gives the other runs of the repository, as this one is told of them.
func (w *Workspace) otherRuns(env environ.Env) *OtherRuns {
	src := w.Source
	if w.backend.Agent != nil { // branches that a test keeps in memory
		src = nil
	}
	return OtherRunsOf(env, OtherRunsConfig{
		Source: src, Issue: w.Issue.ID, Tips: func() []string { return []string{w.Repo.Tip()} }, Folder: filepath.Join(filepath.Dir(w.Repo.Tree()), "origin"), Token: w.tree.Token,
		Push: w.tree.Remote != "", RepoDayUSD: w.Plan.Budget.RepoDayUSD, Words: w.Catalogue(),
	})
}

// SameFiles says which open runs of other issues change the same files as the run whose
// engine was wired.
func (w *Workspace) SameFiles(run metadata.Run) metadata.Reason { return w.others.SameFiles(run) }

// Busy says that another machine works on the run, or nothing: what is done here
// meanwhile could not be pushed.
func (w *Workspace) Busy(at time.Time) error {
	lease := w.Run.Execution.Lease
	if lease == nil || !at.Before(lease.Expires) || !w.Push {
		return nil
	}
	return fmt.Errorf("%s works on issue %s: wait for it, or end it with /cancel on the issue; if it is gone, the run is free at %s, or now with: reprise run --issue %s --take over",
		lease.Owner, w.Issue.ID, lease.Expires.UTC().Format("15:04 UTC"), w.Issue.ID)
}

// PauseFile is the name of the note, beside the work tree, that a run is being
// paused.
const PauseFile = "pause"

// StopTime is how long to wait for a process that was told to stop: it ends its
// agent, and pushes what there is.
const StopTime = 20 * time.Second

// Paused reports whether a run was interrupted because it is being paused. An
// older note is of a process that was killed before it could take it away.
func (w *Workspace) Paused(run metadata.Run) bool {
	note, err := os.Lstat(filepath.Join(filepath.Dir(w.Repo.Tree()), PauseFile))
	return run.Status == metadata.Interrupted && err == nil && time.Since(note.ModTime()) < 2*StopTime
}
