package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/secrets"
)

// workspace is one run on this machine: its branch and tree, what it was
// defined by, and its record.
type workspace struct {
	definition
	source *git.Source
	repo   checkout
	issue  issue
	given  issue // as the command line or an event has it, of a run that has begun
	branch string
	run    metadata.Run
	push   bool              // every commit goes to origin
	fresh  bool              // the run has no commit yet
	frozen map[string][]byte // what the first commit takes along
	local  *metadata.Run     // what the process before had saved and not committed
	left   *metadata.Attempt // begun and never ended by the process before
	// removed is what the issue hid from people and was taken out.
	removed []prompts.Removal
	clean   func() // removes what a dry run made

	there   *reference // where the issue can be read if it has no run; nil: nowhere
	nowhere string     // why that is so

	elsewhere int      // attempts that other machines have made
	box       boxed    // what programs are kept in
	lack      string   // why they are kept in nothing
	told      bool     // that, or what the sandbox lacks, was said
	notes     []string // what a person who goes on with the run should know
}

// opening says which run to open and how.
type opening struct {
	repo     string // any folder of the repository
	id       string // of a run that exists
	file     string // issue file, instead of id
	url      string // address of the issue on GitHub, instead of id
	online   bool   // an issue that has no run is read from GitHub
	pipeline string // name, name/preset or path; empty: chosen by the issue
	language string
	agent    string // does the work of every agent of the pipeline
	stubs    string // file of scripted answers, for the rehearsal agent
	sandbox  string // required, best-effort or off; empty: best-effort
	part     pipelines.Part

	given   *issue   // the issue itself, instead of id; it is on GitHub
	token   string   // for origin, in place of the user's own credentials
	base    string   // branch that a new run starts from; empty: what is checked out
	model   string   // for every step; empty: as the pipeline says
	protect []string // paths besides the pipeline's

	more    phases.Allowance
	push    *bool // push every commit to origin; nil: as the run was started
	pause   bool  // stop after every phase that passed its gates
	refresh bool  // take the pipeline and the prompts as they are defined now
	reissue bool  // take the issue as it reads now
	theirs  bool  // go on from where the branch went elsewhere
	over    bool  // take the run also from a machine that holds it
	scratch bool  // work in a temporary folder and leave nothing behind
}

// anew says to begin at the beginning, also where there is a run of this issue.
func (o opening) anew() bool { return o.scratch && (o.file != "" || o.online) }

// branchPrefix begins the names of branches; REPRISE_BRANCH_PREFIX has another.
const branchPrefix = "reprise/issue-"

// prefix is what the names of branches begin with.
func (e environment) prefix() string { return cmp.Or(e.getenv("REPRISE_BRANCH_PREFIX"), branchPrefix) }

// branch names the branch of a run.
func (e environment) branch(id string) string { return e.prefix() + id }

// checkID says what is wrong with the id of an issue in the command line.
func checkID(id string) error {
	switch {
	case id == "":
		return usagef("which issue? Give --issue ID")
	case metadata.CheckID(id) != nil:
		return usagef("--issue %.80q: an id is a number, or a name of at most 64 small letters, digits, dots, dashes and _", id)
	}
	return nil
}

// recordFile is the path of a run's record on its branch.
func recordFile(id string) string { return path.Join(phases.Folder(id), metadata.File) }

// openWorkspace finds the run of an issue, or prepares a new one. Nothing is
// committed yet.
func openWorkspace(ctx context.Context, env environment, o opening) (*workspace, error) {
	w := &workspace{clean: func() {}}
	var err error
	if w.source, err = env.repositories().find(ctx, o.repo); err != nil {
		return nil, err
	}
	switch {
	case o.given != nil:
		w.issue = *o.given
	case o.file != "":
		w.issue, err = readIssue(o.file)
	default:
		w.issue.ID, w.there, w.nowhere, err = o.find(env, w.source)
	}
	switch {
	case err != nil:
		return nil, err
	case o.anew() && o.file == "" && o.given == nil && w.there == nil:
		return nil, usagef("--dry-run rehearses an issue from its beginning: give --issue-file FILE (issue %s cannot be read from GitHub: %s)", w.issue.ID, w.nowhere)
	}
	if err := w.openTree(ctx, env, o); err != nil {
		w.clean()
		return nil, err
	}
	if err := w.load(ctx, env, o); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

// close lets go of the run. One that never had a commit leaves no folder.
func (w *workspace) close() error {
	if w.repo.New() {
		_ = folders.RemoveAll(filepath.Dir(w.repo.Tree())) // what is left does not get in the way of a next start
	}
	err := w.repo.Close()
	w.clean()
	return err
}

// openTree opens branch and work tree.
func (w *workspace) openTree(ctx context.Context, env environment, o opening) error {
	root, err := rootOf(env, w.source, w.issue.ID)
	if err != nil {
		return err
	}
	w.branch = env.branch(w.issue.ID)
	opts := git.Options{
		Source: w.source, Root: root, Branch: w.branch, Base: o.base, State: phases.Folder(w.issue.ID),
		TakeTheirs: o.theirs, Scrap: recordFile(w.issue.ID), Locked: endLeftovers,
		Fit: func(read func(string) ([]byte, error)) error {
			_, err := w.parse(read(recordFile(w.issue.ID)))
			return err
		},
	}
	if o.token != "" {
		opts.Token = func(context.Context) (string, error) { return o.token, nil }
	}
	w.local = saved(root, w.issue.ID)
	if w.push, err = w.pushes(ctx, o); err != nil {
		return err
	}
	if w.push {
		opts.Remote = "origin"
	}
	if o.scratch {
		if opts.Root, err = os.MkdirTemp("", "reprise-"); err != nil {
			return err
		}
		opts.Scratch = true
		if o.anew() {
			opts.Branch = filepath.Base(opts.Root) // one that nobody has
		}
		if _, err := w.source.ReadFile(ctx, w.branch, recordFile(w.issue.ID)); err == nil && !o.anew() {
			opts.Base = w.branch // perhaps only origin has the branch
		}
		w.clean = func() { _ = folders.RemoveAll(opts.Root) } // a temporary folder; the system removes what is left
	}
	if o.scratch {
		w.local = nil // its folder is empty
	}
	w.repo, err = env.repositories().open(ctx, opts)
	return err
}

// endLeftovers ends what an earlier process, which was killed, has left at work
// in a tree: it would go on writing into what the next call does.
func endLeftovers(tree string) string {
	n := agents.EndLeftovers(tree)
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("a call that was never over had left %s at work in %s: ended", plural(n, "program"), tree)
}

// pushes says whether commits go to origin: what the command line says, else
// what the run was started with.
func (w *workspace) pushes(ctx context.Context, o opening) (bool, error) {
	if o.push != nil || o.scratch {
		return o.push != nil && *o.push, nil
	}
	name := recordFile(w.issue.ID)
	data, err := w.source.ReadFile(ctx, w.branch, name)
	if errors.Is(err, fs.ErrNotExist) {
		here, err := w.source.Branches(ctx, w.branch)
		if err != nil || !slices.Contains(here, w.branch) {
			// One that only origin has, or a new run. People follow an issue on
			// GitHub there; for a file, --push says so.
			return o.file == "" && o.given == nil && w.source.RemoteURL != "", err
		}
	} else if err != nil {
		return false, err
	}
	if run, err := metadata.Parse(data, name); err == nil {
		return run.Execution.Push, nil
	}
	// The record is broken or gone. What repairs it may be on origin, so that it
	// is looked for there unless the run is known to be of this machine alone.
	return w.source.RemoteURL != "" && (w.local == nil || w.local.Execution.Push), nil
}

// store keeps the record beside the work, between two commits.
func store(tree, id string) metadata.Store {
	return metadata.Store{Dir: filepath.Join(tree, filepath.FromSlash(phases.Folder(id))), Within: tree}
}

// rootOf gives the folder where a run lives on this machine. It is outside
// the repository: many tools pass over what lies below ".git".
func rootOf(env environment, src *git.Source, id string) (string, error) {
	base := env.getenv("REPRISE_HOME")
	if base == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("there is no folder to work in: %w; name one in REPRISE_HOME", err)
		}
		base = filepath.Join(cache, "reprise")
	}
	sum := sha256.Sum256([]byte(src.CommonDir))
	return filepath.Join(base, filepath.Base(src.Dir)+"-"+hex.EncodeToString(sum[:4]), id), nil
}

// load reads the run from its branch, or prepares a new one.
func (w *workspace) load(ctx context.Context, env environment, o opening) error {
	read := func(name string) ([]byte, error) { return w.repo.ReadFile(ctx, w.repo.Tip(), name) }
	data, err := read(recordFile(w.issue.ID))
	if w.repo.New() && (errors.Is(err, fs.ErrNotExist) || o.anew() || !o.scratch) {
		// The commit it starts from may hold a run of the same issue that was
		// merged long ago.
		return w.begin(ctx, env, o)
	}
	if w.run, err = w.parse(data, err); err != nil {
		return err
	}
	given := w.issue
	if w.definition, w.issue, err = thaw(w.run, read); err != nil {
		return err
	}
	given.hide(env)
	if removed := given.clean(); o.reissue {
		w.removed = removed
	}
	if err := w.sameTitle(o, given); err != nil {
		return err
	}
	if w.given = given; !o.refresh && !o.reissue {
		w.notes = w.without(o, given)
	}
	if err := w.touched(ctx, env.now()); err != nil {
		return err
	}
	if w.local == nil || w.local.Execution.ID != w.run.Execution.ID {
		w.elsewhere = len(w.run.Attempts)
	}
	if !o.scratch {
		w.absorb(env.now())
	}
	return w.assign(o)
}

// begin prepares a new run.
func (w *workspace) begin(ctx context.Context, env environment, o opening) error {
	var err error
	switch {
	case o.file != "", o.given != nil:
	case w.there != nil:
		if w.issue, err = w.there.read(ctx, env); err != nil {
			return err
		}
	case o.online:
		return usagef("%w; it cannot be read from GitHub: %s", noRun(ctx, env, w.source, w.issue.ID), w.nowhere)
	case o.scratch && w.source.RemoteURL != "": // which does not look at origin
		return usagef("%w; one that only origin has comes here with: git fetch origin", noRun(ctx, env, w.source, w.issue.ID))
	default:
		return noRun(ctx, env, w.source, w.issue.ID)
	}
	w.issue.hide(env)
	w.removed = w.issue.clean()
	if w.definition, err = env.repositories().define(ctx, w.source, w.issue, o); err != nil {
		return err
	}
	var digest string
	if w.frozen, digest, err = w.freeze(w.issue); err != nil {
		return err
	}
	w.fresh = true
	repository := w.source.GitHub
	if repository == "" && w.there != nil {
		repository = w.there.repository()
	}
	w.run = phases.Fresh(w.plan, metadata.Run{
		IssueNumber: w.issue.ID, IssueURL: w.issue.URL, IssueTitle: w.issue.Title, Repository: repository,
		WorkflowVersion: version, Language: w.plan.Language, BranchName: w.branch, BaseCommit: w.repo.Tip(),
		Pipeline:  metadata.Pipeline{Name: w.plan.Name, Digest: digest, Definition: w.defined, Source: w.plan.Source},
		Execution: metadata.Execution{ID: uuid.NewString(), Push: w.push},
		Issue:     metadata.Issue{Title: w.issue.Title, Labels: w.issue.Labels, Author: w.issue.Author, Digest: w.issue.digest()},
	}, env.now())
	w.run = phases.Allow(w.run, o.more)
	return nil
}

// engine wires the engine that carries this run on.
func (w *workspace) engine(env environment, o opening, report phases.Reporter) (*phases.Engine, error) {
	eval, err := evaluator()
	if err != nil {
		return nil, err
	}
	opts, err := agentOptions(env, w, o)
	if err != nil {
		return nil, err
	}
	opts.Sweep() // the run is this process's alone
	agent := env.repositories().agent
	if agent == nil {
		agent = func(name string) (phases.Agent, error) {
			return agents.For(w.plan.Agents[name].Use, w.plan.Agents[name], opts)
		}
	}
	return &phases.Engine{
		Plan: w.plan, Prompts: w.words, Tree: tree{w.repo, w.run.BaseCommit}, Report: report,
		Store:       store(w.repo.Tree(), w.issue.ID),
		Checker:     opts,
		Agent:       agent,
		CheckReport: eval.CheckReport, Matches: eval.Matches,
		Issue: prompts.Issue{
			ID: w.issue.ID, URL: w.issue.URL, Title: w.issue.Title, Author: w.issue.Author, Labels: w.issue.Labels, Body: w.issue.Body,
		},
		Elsewhere: w.elsewhere, Frozen: w.frozen, Secrets: guard{env.finder(), w.repo}, PauseAtGates: o.pause,
		Now: env.now, NewID: uuid.NewString, Rand: rand.Reader, Sleep: sleep,
	}, nil
}

// rehearsal is the agent that needs no program, key or network.
const rehearsal = "rehearsal"

// agentOptions says what all agents of a run share.
func agentOptions(env environment, w *workspace, o opening) (agents.Options, error) {
	eval, err := evaluator()
	if err != nil {
		return agents.Options{}, err
	}
	opts := agents.Options{
		Environ: env.environ, Prices: w.plan.Prices, FirstPhase: w.plan.Phases[0].Name, Mark: tempMark(w.repo.Tree()),
		Quiet: func(ctx context.Context, phase string, report json.RawMessage) (json.RawMessage, error) {
			return eval.Quiet(ctx, w.plan, phase, report)
		},
		Learn: func(agent string, found []string) {
			for _, value := range found {
				env.finder().Learn(secrets.Secret{Name: "a login of " + agent, Value: value})
			}
		},
	}
	env.learn(w.plan)
	if o.stubs != "" {
		if opts.Stubs, err = agents.ReadStubs(o.stubs); err != nil {
			return opts, usage(err)
		}
	}
	return w.contain(o.sandbox, opts)
}

// tempMark begins the names of the temporary folders of a run, whose tree is there.
func tempMark(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return "reprise-" + hex.EncodeToString(sum[:6]) + "-"
}

// sleep waits, or returns why ctx was cancelled.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
