package workspace

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing/fstest"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts"
)

// ReplaceAgents makes one agent do all the work: one of the pipeline, by name or program, or one that reprise knows.
func ReplaceAgents(plan *pipelines.Pipeline, name string) error {
	with, ok := plan.Agents[name]
	if !ok {
		with = pipelines.Agent{Use: name}
		if _, err := agents.For(name, with, agents.Options{}); err != nil {
			return exit.Usagef("--agent %s: %w; pipeline %s names %s", name, err, plan.Name, strings.Join(slices.Sorted(maps.Keys(plan.Agents)), ", "))
		}
		if named := thatUses(plan, name); named != "" {
			with = plan.Agents[named]
			with.Access = ""
		}
	}
	with.Fallback = ""
	plan.Agents = map[string]pipelines.Agent{name: with}
	for _, p := range phasesOf(plan) {
		for _, s := range []*pipelines.Step{&p.Execute, &p.Review, &p.Revise} {
			give(plan, p, s, name)
		}
	}
	return nil
}

// install gives the work of agents that are not installed to those that stand in for them, else to others that are.
func install(plan *pipelines.Pipeline, installed []string) {
	there := func(name string) bool {
		use := plan.Agents[name].Use
		return pipelines.TakesCommand(use) || use == agents.Rehearsal || slices.Contains(installed, use)
	}
	for _, p := range phasesOf(plan) {
		for _, s := range []*pipelines.Step{&p.Execute, &p.Revise, &p.Review} { // the last goes by the first
			to := s.Agent
			for range plan.Agents {
				if !there(to) && plan.Agents[to].Fallback != "" {
					to = plan.Agents[to].Fallback
				}
			}
			if !there(to) {
				to = cmp.Or(thatUses(plan, installed[0]), installed[0])
			}
			if _, known := plan.Agents[to]; !known {
				plan.Agents = maps.Clone(plan.Agents)
				plan.Agents[to] = pipelines.Agent{Use: to}
			}
			if to != s.Agent {
				give(plan, p, s, to)
			}
		}
	}
}

// give has an agent do a step with its model of the tier. A reviewer has another one than the writer, if there is one.
func give(plan *pipelines.Pipeline, p *pipelines.Phase, s *pipelines.Step, name string) {
	agent, writer := plan.Agents[name], plan.Agents[p.Execute.Agent]
	s.Agent, s.Model = name, agent.Models[s.Tier]
	if s == &p.Review && writer.Use == agent.Use && s.Model == p.Execute.Model {
		s.Model = cmp.Or(agent.Other(s.Tier), s.Model)
	}
}

// thatUses names the agent with this program, preferably one that may do all and has models; "" if there is none.
func thatUses(plan *pipelines.Pipeline, program string) (best string) {
	rank := func(name string) int {
		a, n := plan.Agents[name], 0
		if a.Access == "" {
			n += 2
		}
		if len(a.Models) > 0 {
			n++
		}
		return n
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		if plan.Agents[name].Use == program && (best == "" || rank(name) > rank(best)) {
			best = name
		}
	}
	return best
}

// phasesOf gives all phases of a plan, to be changed.
func phasesOf(plan *pipelines.Pipeline) (out []*pipelines.Phase) {
	for _, list := range [][]pipelines.Phase{plan.Phases, plan.Spare} {
		for i := range list {
			out = append(out, &list[i])
		}
	}
	return out
}

// adjust has a plan work as the issue's weight deserves. Models that the pipeline names for a step stay.
func adjust(plan *pipelines.Pipeline, w source.Weight) {
	for _, p := range phasesOf(plan) {
		switch w {
		case source.Light:
			p.Revisions = min(p.Revisions, source.LightRevisions)
			for _, s := range []*pipelines.Step{&p.Execute, &p.Revise} {
				if s.Tier == "heavy" {
					retier(plan, p, s, "medium")
				}
			}
			retier(plan, p, &p.Review, p.Review.Tier) // it goes by who writes
		case source.Careful:
			if p.Revisions > 0 {
				p.Revisions += source.CarefulRevisions
			}
			retier(plan, p, &p.Review, "heavy")
		}
	}
}

// retier has a step done with the model of another tier, unless it names one itself.
func retier(plan *pipelines.Pipeline, p *pipelines.Phase, s *pipelines.Step, tier string) {
	if agent := plan.Agents[s.Agent]; s.Model == agent.Models[s.Tier] || s.Model == agent.Other(s.Tier) {
		s.Tier = tier
		give(plan, p, s, s.Agent)
	}
}

// Vetted checks the pipelines that args name, with their prompts; without args all of the checkout and the built-in
// ones, and only these if src is nil. It gives all mistakes, and each definition: empty for settings or one with mistakes.
func Vetted(ctx context.Context, src *git.Source, args []string) (pipelines.Mistakes, []Definition, error) {
	s, _, err := sources(ctx, src, Choice{Here: true})
	if err != nil {
		return nil, nil, err
	}
	shadowed, err := s.Shadowed()
	if err != nil {
		return nil, nil, err
	}
	all := pipelines.Mistakes{}
	if len(args) == 0 {
		if args, err = s.ToVet(); err != nil {
			return nil, nil, err
		}
		_, err := s.UsualPipeline(ctx)
		wrong, _ := errors.AsType[pipelines.Mistakes](err) // what else keeps it from being read, vetEach comes upon
		all = append(append(all, shadowed...), wrong...)
	}
	found, defined, err := vetEach(ctx, src, args, vetTime)
	if err != nil {
		return nil, nil, err
	}
	for i, name := range args {
		mistakes := found[i]
		for _, m := range shadowed {
			if known, _ := source.IsFile(path.Base(m.File)); known == name {
				mistakes = append(mistakes, m)
			}
		}
		for _, m := range mistakes {
			if !slices.Contains(all, m) { // a prompt is used by many pipelines
				all = append(all, m)
			}
		}
	}
	return all, defined, nil
}

// VetPrompts gives the prompts of the checkout in each language, and all of their mistakes.
func VetPrompts(ctx context.Context, src *git.Source) (sets []*prompts.Set, wrong pipelines.Mistakes, err error) {
	here, _, err := ownHere(ctx, src)
	if err != nil {
		return nil, nil, err
	}
	for _, language := range metadata.Languages() {
		set, err := prompts.Load(here, language)
		if found := (pipelines.Mistakes{}); errors.As(err, &found) {
			wrong = append(wrong, found...)
		} else if err != nil {
			return nil, nil, err
		} else {
			sets = append(sets, set)
		}
	}
	return sets, wrong, nil
}

// vetTime is how long the pipelines of one vet may take together: limits of their own would add up.
const vetTime = 30 * time.Second

// vetEach gives the mistakes of pipelines, checked side by side, and those without any. No time left is a mistake.
func vetEach(ctx context.Context, src *git.Source, names []string, limit time.Duration) ([]pipelines.Mistakes, []Definition, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, failed, defined := make([]pipelines.Mistakes, len(names)), make([]error, len(names)), make([]Definition, len(names))
	free := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, name := range names {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			err := limited.Err()
			if known, _ := source.IsFile(filepath.Base(name)); err == nil && IsPath(name) && known == "policy" {
				err = exit.Usagef("a policy is held against pipelines; check it with theirs: reprise vet")
			} else if err == nil && IsPath(name) && known == "config" {
				err = vetSettings(limited, name)
			} else if err == nil {
				defined[i], err = Define(limited, src, issue.Issue{ID: "none"}, Choice{Pipeline: name, Here: true})
			}
			if err != nil {
				defined[i] = Definition{}
			}
			if err != nil && limited.Err() != nil && ctx.Err() == nil {
				found[i] = pipelines.Mistakes{{Message: fmt.Sprintf("pipeline %s was not checked: all together took longer than %v; check it by itself: reprise vet %s", name, limit, name)}}
				return
			}
			found[i], failed[i] = mistakesOf(ctx, name, err)
		})
	}
	all.Wait()
	return found, defined, errors.Join(failed...)
}

// vetSettings checks the settings of a repository in a file, beside which its pipelines lie.
func vetSettings(ctx context.Context, file string) error {
	eval, err := evaluator()
	if err == nil {
		_, err = os.Stat(file)
	}
	if err != nil {
		return exit.AsUsage(err)
	}
	_, err = source.Sources{Evaluator: eval, Repo: os.DirFS(filepath.Dir(file))}.UsualPipeline(ctx)
	return err
}

// mistakesOf gives the mistakes of a Define error: in that pipeline, or that there is none. Other errors stay.
func mistakesOf(ctx context.Context, name string, err error) (mistakes pipelines.Mistakes, _ error) {
	file, isFile := errors.AsType[*fs.PathError](err)
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &mistakes):
		return mistakes, nil
	case !errors.As(err, new(exit.UsageError)):
		return nil, err
	case !IsPath(name):
		return pipelines.Mistakes{{Message: err.Error()}}, nil
	case isFile:
		err = file.Err
	}
	return pipelines.Mistakes{{File: name, Message: strings.TrimPrefix(err.Error(), name+": ")}}, nil
}

// ownFolder has the pipelines and prompts of a repository.
const ownFolder = ".github/reprise"

// SayOtherwise tells in a sentence which pipelines, prompts and settings of the checkout jobs do not have like that; "" if
// there are none, or nobody can say. src may be nil.
func SayOtherwise(ctx context.Context, src *git.Source) string {
	if src == nil {
		return ""
	}
	_, otherwise, err := ownHere(ctx, src)
	if err != nil || len(otherwise) == 0 {
		return ""
	}
	return fmt.Sprintf("runs here take your checkout, jobs take %s, where these differ: %s", cmp.Or(src.DefaultBranch, "HEAD"), text.Flat(strings.Join(otherwise, ", ")))
}

// ownHere gives the checkout's pipelines, prompts and settings, and names those that read otherwise in the commit that
// counts for jobs, or that only one of the two has. How lines end is no difference.
func ownHere(ctx context.Context, src *git.Source) (here fstest.MapFS, otherwise []string, err error) {
	committed, err := src.FS(ctx, src.Trusted(), ownFolder)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(src.Dir) // no link leads out of it
	if err != nil {
		return nil, nil, err
	}
	defer root.Close() // opened for reading
	own, err := fs.Sub(root.FS(), ownFolder)
	if err != nil {
		return nil, nil, err
	}
	here, err = ownIn(own)
	there, unread := ownIn(committed)
	if err = cmp.Or(err, unread); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", ownFolder, err)
	}
	for name, file := range there {
		if here[name] == nil && src.Sparse() {
			here[name] = file // nobody has removed it
			continue
		}
		if is := here[name]; is != nil && bytes.Equal(text.UnixLines(is.Data), text.UnixLines(file.Data)) {
			is.Data = file.Data
		} else {
			otherwise = append(otherwise, path.Join(ownFolder, name))
		}
	}
	for name := range here {
		if there[name] == nil {
			otherwise = append(otherwise, path.Join(ownFolder, name))
		}
	}
	slices.Sort(otherwise)
	return here, otherwise, nil
}

// ownIn reads the pipelines, prompts and settings of a folder, which may be nil, or not there.
func ownIn(folder fs.FS) (fstest.MapFS, error) {
	all := fstest.MapFS{}
	if folder == nil {
		return all, nil
	}
	err := fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
		_, file := source.IsFile(path.Base(name))
		switch {
		case err != nil || !isOwn(name) || e.IsDir() && !file:
			return err
		case !e.Type().IsRegular(): // which is a mistake
			all[name] = &fstest.MapFile{Mode: fs.ModeIrregular}
			return nil
		}
		data, err := fs.ReadFile(folder, name)
		all[name] = &fstest.MapFile{Data: data}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return all, err
}

// isOwn reports whether a file of the folder is a pipeline, a prompt, the settings or the policy of the repository, or came
// from others.
func isOwn(name string) bool {
	known, is := source.IsFile(name)
	return is && (path.Dir(name) == "pipelines" || known == "config" || known == "policy") ||
		strings.HasPrefix(name, "prompts/") || strings.HasPrefix(name, "vendor/")
}

// Unread names files of the checkout that look like pipelines, prompts or settings, and that nothing reads where they are.
func Unread(src *git.Source) (names []string) {
	_ = fs.WalkDir(os.DirFS(src.Dir), ownFolder, func(name string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(name, ownFolder+"/")
		ext := strings.ToLower(path.Ext(name))
		_, pipeline := source.IsFile(ext)
		switch {
		case err != nil || e.IsDir() && inside == path.Base(setup.AgentsDir):
			return fs.SkipDir
		case e.Type().IsRegular() && !isOwn(inside) && (pipeline || ext == ".md") && name != pipelines.NotesFile && !strings.EqualFold(path.Base(name), "README.md"):
			names = append(names, name)
		}
		return nil
	})
	return names
}
