package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
	"github.com/reprise-ci/reprise/prompts"
)

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
		if args, err = s.Names(); err != nil {
			return nil, nil, err
		}
		all = append(all, shadowed...)
		var wrong pipelines.Mistakes
		if _, err := s.UsualPipeline(ctx); errors.As(err, &wrong) {
			all = append(all, wrong...)
		}
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
	own, err := fs.Sub(here, "prompts")
	if err != nil {
		return nil, nil, err
	}
	for _, language := range prompts.Languages() {
		set, err := prompts.Load(own, language)
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
			if err == nil && IsPath(name) && isOwn(filepath.Base(name)) {
				err = vetSettings(limited, name)
			} else if err == nil {
				var def Definition
				if def, err = Define(limited, src, issue.Issue{ID: "none"}, Choice{Pipeline: name, Here: true}); err == nil {
					defined[i] = def
				}
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
func mistakesOf(ctx context.Context, name string, err error) (pipelines.Mistakes, error) {
	var mistakes pipelines.Mistakes
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
