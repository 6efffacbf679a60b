package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/hooks"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// SandboxCommand is the hidden command that restricts itself and then becomes an agent's program.
const SandboxCommand = "sandboxed"

// AgentOptions says what all agents of a run share, worked out once for a definition, as it tries the sandbox.
func AgentOptions(w *Workspace, o Options) (_ agents.Options, err error) {
	if w.agents != nil {
		return *w.agents, nil
	}
	opts := agents.Options{
		Proxy:   func(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) },
		Environ: w.Env.Environ, Prices: w.Plan.Prices, Mark: TempMark(w.Repo.Dir()),
		Program: w.programs(),
		Learn: func(agent string, found []string) {
			for _, value := range found {
				w.Env.Finder().Learn(secrets.Secret{Name: "a login of " + agent, Value: value})
			}
		},
	}
	if o.Beside {
		dir, err := HomeBase(w.Env, w.Source.Dir, ".limits") // no folder of a repository has that name
		if err == nil {
			err = os.MkdirAll(dir, 0o700)
		}
		if err != nil {
			return opts, err
		}
		opts.Known = &gate.Known{Dir: dir}
	}
	w.Env.Learn(w.Plan)
	if o.Stubs != "" {
		if w.stubs, err = rehearsal.ReadStubs(o.Stubs); err != nil {
			return opts, exit.AsUsage(err)
		}
		for _, name := range w.stubs.Phases() {
			if names := w.Run.Phases.Names(); !w.Open && w.Plan.Phase(name) == nil && !slices.Contains(names, name) {
				_, _ = fmt.Fprintf(w.Env.Stderr, "reprise: %s is not all used: %v\n", o.Stubs, &phases.UnknownPhase{Phase: name, Known: names})
			}
		}
	}
	opts.Rehearsal = rehearsal.Agent{First: w.Plan.Phases[0].Name, Stubs: w.stubs}
	if w.slot.dir == "" {
		if w.slot, err = w.takeSlot(w.Git().Repo); err != nil {
			return opts, err
		}
	}
	opts.CheckMark = w.slot.mark()
	if opts, err = contain(w, o.Sandbox, opts); err == nil {
		w.agents = &opts
	}
	return opts, err
}

// programs finds programs of the repository, see agents.Options: on the default branch or, where that does not have the
// file, in the commit that the run began with.
func (w *Workspace) programs() func(ctx context.Context, file string) (top string, err error) {
	var one sync.Mutex
	return func(ctx context.Context, file string) (top string, err error) {
		one.Lock()
		defer one.Unlock()
		for _, commit := range []string{w.Source.Trusted(), w.Run.BaseCommit} {
			_, err := w.Source.ReadFile(ctx, commit, file)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if top = filepath.Join(filepath.Dir(w.Repo.Dir()), "copies", "programs-"+commit); err == nil {
				if _, none := os.Stat(top); none != nil {
					err = w.Git().Export(ctx, commit, top)
				}
			}
			return top, err
		}
		return "", nil
	}
}

func contain(w *Workspace, how string, opts agents.Options) (agents.Options, error) {
	helper, err := SandboxHelper()
	if err != nil {
		return opts, err
	}
	box := SandboxOf(w.Plan)
	box.Helper = helper
	run := filepath.Dir(w.Repo.Dir())
	box.State, box.Checks = filepath.Join(run, "homes"), w.slot.homes()
	box.Objects = []string{filepath.Join(w.Source.CommonDir, "objects"), filepath.Join(run, "git", "objects")} // which the tree's .git borrows
	opts, note, err := opts.Contain(containment(how), box)
	if err == nil {
		w.Box, w.noSandbox = opts.Confinement(), note
	}
	return opts, exit.AsUsage(err)
}

// containment is how much depends on the sandbox, in the words of the command line.
func containment(how string) sandbox.Containment {
	return cmp.Or(sandbox.Containment(how), sandbox.BestEffort)
}

// SandboxHelper is the command that restricts itself, before its arguments.
func SandboxHelper() ([]string, error) {
	self, err := Executable()
	return []string{self, SandboxCommand, "--"}, err
}

// SandboxOf is a sandbox that leaves to programs what the pipeline says.
func SandboxOf(plan *pipelines.Pipeline) sandbox.Sandbox {
	p := plan.Sandbox
	box := sandbox.Sandbox{Sockets: p.Sockets, Limits: sandbox.Limits{File: uint64(p.File), Disk: uint64(p.Disk)}}
	look := func(n pipelines.Network, usuallyOpen bool) {
		box.Closed = box.Closed || n.Closed
		box.Asked = box.Asked || n.Closed && (usuallyOpen || len(n.Allow) > 0)
	}
	for _, s := range plan.Setup {
		look(s.Network, true)
	}
	for _, p := range slices.Concat(plan.Phases, plan.Spare) {
		writes := func(s pipelines.Step) bool {
			return cmp.Or(s.Access, p.Access).AtMost(plan.Agents[s.Agent].Access) == pipelines.AccessTree
		}
		look(p.Execute.Network, writes(p.Execute))
		look(p.Review.Network, false)
		look(p.Revise.Network, writes(p.Revise))
		for _, c := range p.Checks {
			look(c.Network, p.Access == pipelines.AccessTree)
		}
	}
	return box
}

// Executable is this program's file: as it was called, if that leads to it, since a program may go by its name.
func Executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program's own file: %w", err)
	}
	named, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil
	}
	a, err1 := os.Stat(named)
	b, err2 := os.Stat(self)
	if err1 != nil || err2 != nil || !os.SameFile(a, b) {
		return self, nil
	}
	return filepath.Abs(named)
}

// TempMark begins the names of the temporary folders of a run, whose tree is there.
func TempMark(tree string) string {
	return "reprise-" + phases.DigestOf([]byte(tree))[:12] + "-"
}

// Ready says what is missing before anything is spent. The work of an agent that is not here is given to the one that
// stands in for it, and nobody falls back on one that is not here.
func (w *Workspace) Ready(o Options) error {
	opts, err := AgentOptions(w, o)
	if err != nil {
		return err
	}
	if w.Plan.Sign && !o.Scratch && w.Signing().By == nil && !w.Source.Signs() {
		return exit.Usagef("the pipeline asks for signed commits (sign: true), and your git signs none: git config commit.gpgSign true, with your key in user.signingKey")
	}
	var missing []metadata.Reason
	for _, name := range needed(w.Plan) {
		by, why := w.standIn(name, opts)
		if by == "" {
			missing = append(missing, why...)
		} else if by != name {
			w.absent = append(w.absent, metadata.Because("stands_in", "why", Lined(why), "by", w.Plan.Agents[by].Use))
			for _, p := range phasesOf(w.Plan) {
				for _, s := range []*pipelines.Step{&p.Execute, &p.Revise, &p.Review} { // the last goes by the first
					if s.Agent == name {
						give(w.Plan, p, s, by)
					}
				}
			}
		}
	}
	for name, a := range w.Plan.Agents {
		if a.Fallback != "" {
			a.Fallback, _ = w.standIn(a.Fallback, opts)
			w.Plan.Agents[name] = a
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	instead := metadata.Because("instead_rehearsal")
	for _, use := range agents.Programs() {
		if agents.Probe(use, pipelines.Agent{Use: use}, w.Repo.Dir(), opts) == nil {
			instead = metadata.Because("instead_agent", "agent", use)
		}
	}
	return phases.Refuse(metadata.Because("no_agent", "missing", Lined(slices.Compact(missing)), "instead", instead))
}

// Missing says why neither an agent nor those that stand in for it are there; nothing if one is.
func (w *Workspace) Missing(name string, opts agents.Options) []metadata.Reason {
	if by, why := w.standIn(name, opts); by == "" {
		return why
	}
	return nil
}

// standIn names the agent that does the work of one: itself, or the first of those that stand in for it that is here.
// It also says why others are not here.
func (w *Workspace) standIn(name string, opts agents.Options) (by string, why []metadata.Reason) {
	a := w.Plan.Agents[name]
	for range w.Plan.Agents { // which may fall back on each other
		err := agents.Probe(a.Use, a, w.Repo.Dir(), opts)
		if err == nil {
			return name, why
		}
		why = append(why, prompts.Why(err))
		if a.Fallback == "" {
			break
		}
		name, a = a.Fallback, w.Plan.Agents[a.Fallback]
	}
	return "", why
}

// Lined puts each of some reasons on a line of its own.
func Lined(all []metadata.Reason) metadata.Reason {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	}
	return metadata.Because("lines", "first", all[0], "then", Lined(all[1:]))
}

// needed lists the agents that the plan's steps and rules name, each once.
func needed(plan *pipelines.Pipeline) (out []string) {
	for _, r := range plan.Rules {
		if use := r.Then.Use; use != nil && use.Agent != "" && !slices.Contains(out, use.Agent) {
			out = append(out, use.Agent)
		}
	}
	for _, p := range slices.Concat(plan.Phases, plan.Spare) {
		for _, s := range metadata.AgentSteps() {
			name := phases.Settings(&p, s).Agent
			if (s != metadata.Review || !p.NoReview) && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// SayLacking prints, once and before an agent is called, whose cost is unknown, what the work tree lacks of the
// repository, and what of agents and of the sandbox is missing here.
func (w *Workspace) SayLacking() {
	if w.saidLacking {
		return
	}
	w.saidLacking = true
	for _, names := range slices.Concat(agents.Unpriced(w.Plan.Agents), w.Closed, w.absent) {
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+names.In(w.Catalogue()))
	}
	for _, lack := range w.Repo.Lacks() {
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+lack)
	}
	if w.noSandbox != "" {
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+w.noSandbox)
	}
	if w.Box.Held == nil {
		return
	}
	for _, lack := range w.Box.Held.Lacks() {
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: the sandbox here does not hold all: "+lack)
	}
}

// tellHooks has an engine tell the pipeline's hooks of each record it commits, but not in a scratch rehearsal.
func tellHooks(w *Workspace, e *engine.Engine, o Options, opts agents.Options) {
	e.Committed = func(context.Context, metadata.Run) {}
	if w.Warn == nil {
		w.Warn = func(err error) { _, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+text.Flat(err.Error())) }
	}
	if len(w.Plan.Hooks) == 0 || o.Scratch {
		return
	}
	past := hooks.Past{Branch: w.Repo, Base: w.Run.BaseCommit, Record: phases.RecordFile(w.Issue.ID)}
	w.Hooks = &hooks.Teller{
		Hooks: w.Plan.Hooks, Getenv: w.Env.Getenv, Mask: w.Env.Finder().Mask, Words: w.Catalogue(), Check: opts.Unchanged().Check, Sleep: environ.Sleep,
		Proxy: func(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) },
		Warn:  func(said string) { w.Warn(errors.New(said)) },
		Known: w.known, Since: past.Since,
	}
	e.Told = w.Hooks.Told
	e.Committed = func(ctx context.Context, run metadata.Run) {
		w.Hooks.Committed(ctx, run)
		w.known = run.Clone() // of an engine after this one
		w.known.Execution.Told = w.Hooks.Told()
	}
}

// takeNotes reads what people tell all agents, if the pipeline asks for it: on the default branch, out of agents' reach.
func (w *opening) takeNotes(ctx context.Context) error {
	if !w.Plan.Notes || w.backend.Agent != nil { // branches that a test keeps in memory
		return nil
	}
	data, err := w.Source.ReadPlain(ctx, w.Source.Trusted(), pipelines.NotesFile)
	wrong := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		w.Notes = append(w.Notes, "notes: true, and there is no "+pipelines.NotesFile+" on the default branch: agents are told nothing of it")
		return nil
	case errors.Is(err, folders.ErrNoFile):
		wrong = "is no file, or a symbolic link to one: agents are told nothing of it"
	case err != nil:
		return err
	default:
		w.guidance, wrong = notesForAgents(data)
	}
	if wrong != "" {
		w.Notes = append(w.Notes, pipelines.NotesFile+" "+wrong)
	}
	told, _ := clean.Text(w.guidance) // who approves a change of them sees all that is told
	w.guidance = strings.TrimSpace(told)
	return nil
}

// mostNotes is how much of the notes on a repository agents are told, in bytes.
const mostNotes = 8 << 10

// notesForAgents gives the beginning of the notes, if they are UTF-8; what is wrong continues the file's name.
func notesForAgents(data []byte) (told, wrong string) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", "is no text in UTF-8: agents are told nothing of it"
	}
	if len(data) > mostNotes {
		return strings.ToValidUTF8(string(data[:mostNotes]), "") + "\n…", "is longer than 8 kB: agents are told the beginning"
	}
	return string(data), ""
}
