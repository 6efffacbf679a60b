package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines"
)

// Options say how a suite is evaluated.
type Options struct {
	Variants []string // names; none: all
	Cases    []string // likewise
	Runs     int      // of each case with each variant; 0: as the suite says
	Jobs     int      // runs at once
	USD      float64  // over all runs; 0: no limit
	Results  string   // folder; empty: resultsFolder's
	Fresh    bool     // forget what is known
	Vet      bool     // only look at the cases before the work: there is no report
	Sandbox  string   // required, best-effort or off
	Review   bool     // find out what the reviews of the suite are worth
	Defects  int      // that are planted in each work for that, besides those of the suite
	Record   bool     // keep the answers of agents beside the suite
	Replay   bool     // give the answers that are kept, and call no agent; nothing is taken from earlier results
}

// order compares trials: the first runs of all come before the second ones, so that what
// is over when the budget ends is a part of everything.
func (t Trial) order(o Trial) int {
	return cmp.Or(cmp.Compare(t.Run, o.Run), strings.Compare(t.Case, o.Case), strings.Compare(t.Variant, o.Variant))
}

// trials lists what an evaluation carries out, in order.
func (s *Suite) trials(runs int) (all []Trial) {
	for n := range runs {
		for _, c := range s.Cases {
			for _, v := range s.Variants {
				all = append(all, Trial{v.Name, c.Name, n + 1})
			}
		}
	}
	return all
}

// Evaluate has the trials of a suite carried out that are not over yet, and reports on
// all of them. The report is there also beside an error that came in the middle.
func Evaluate(ctx context.Context, env environ.Env, dir string, o Options) (*Report, error) {
	s, err := readSuite(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := s.Choose(o.Variants, o.Cases); err != nil {
		return nil, err
	}
	if o.Results == "" {
		if o.Results, err = resultsFolder(env, dir); err != nil {
			return nil, err
		}
	}
	if o.Results, err = filepath.Abs(o.Results); err != nil {
		return nil, err
	}
	if o.Review {
		o.Results = filepath.Join(o.Results, "review")
	}
	if o.Replay {
		o.Results, o.Fresh = filepath.Join(o.Results, "replayed"), true
	}
	known, err := openResults(ctx, o.Results)
	if err != nil {
		return nil, err
	}
	defer func() { _ = known.close() }() // the lock goes with the process anyway
	if o.Fresh {
		if err := known.forget(); err != nil {
			return nil, err
		}
	}
	answers := recordings{filepath.Join(dir, recordedIn), o.Record, o.Replay}
	e := &evaluation{env: env, suite: s, options: o, known: known, answers: answers, keys: map[[2]string]string{}}
	return e.run(ctx)
}

// evaluation is one process that evaluates a suite.
type evaluation struct {
	env     environ.Env
	suite   *Suite
	options Options
	known   *results
	answers recordings
	keys    map[[2]string]string // by case and variant
}

func (e *evaluation) run(ctx context.Context) (*Report, error) {
	self, err := workspace.Executable()
	if err != nil {
		return nil, err
	}
	how := cmp.Or(e.options.Sandbox, string(sandbox.BestEffort))
	j, err := newJudge(e.env, how, filepath.Join(e.known.dir, "homes", "before"))
	if err != nil {
		return nil, err
	}
	judges := map[string]*judge{}
	for _, v := range e.suite.Variants {
		if judges[v.Name], err = newJudge(e.env, how, filepath.Join(e.known.dir, "homes", "of-"+v.Name)); err != nil {
			return nil, err
		}
	}
	if j.note != "" {
		e.note("reprise: %s; agents may then find the hidden checks\n", j.note)
	}
	if e.options.Review {
		if err := e.forReview(ctx); err != nil {
			return nil, err
		}
	}
	if err := e.prepare(ctx, j); err != nil || e.options.Vet {
		return nil, err
	}
	r := &runner{e.env, self, how, filepath.Join(e.known.dir, "work"), judges, e.answers}
	report, err := e.carryOut(ctx, func(ctx context.Context, t Trial, usd float64) (Result, error) {
		c, v := e.of(t)
		return r.do(ctx, t, c, v, usd)
	})
	if report != nil && e.options.Review {
		report.Reviews = e.worth(report.Results)
	}
	return report, err
}

// note prints a line of progress.
func (e *evaluation) note(format string, args ...any) {
	_, _ = fmt.Fprintf(e.env.Stderr, format, args...) // nobody can be told
}

// of gives the case and the variant of a trial.
func (e *evaluation) of(t Trial) (c Case, v Variant) {
	for _, one := range e.suite.Cases {
		if one.Name == t.Case {
			c = one
		}
	}
	for _, one := range e.suite.Variants {
		if one.Name == t.Variant {
			v = one
		}
	}
	return c, v
}

// prepare looks at each case as it is before the work, unless that was done before, and
// refuses the suite if one proves nothing. All mistakes come together.
func (e *evaluation) prepare(ctx context.Context, j *judge) error {
	var mu sync.Mutex
	var found pipelines.Mistakes
	var failed []error
	var all sync.WaitGroup
	free := make(chan struct{}, max(1, e.options.Jobs))
	for _, c := range e.suite.Cases {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			err := e.look(ctx, j, c)
			mu.Lock()
			defer mu.Unlock()
			if wrong := pipelines.Mistakes(nil); errors.As(err, &wrong) {
				found = append(found, wrong...)
			} else if err != nil {
				failed = append(failed, err)
			}
		})
	}
	all.Wait()
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if len(failed) > 0 {
		return errors.Join(failed...)
	}
	for _, c := range e.suite.Cases {
		inCase, err := c.key(ctx, e.env.Environ)
		if err != nil {
			return err
		}
		for _, v := range e.suite.Variants {
			inVariant, err := v.key()
			if err != nil {
				return err
			}
			e.keys[[2]string{c.Name, v.Name}] = inCase + "-" + inVariant
		}
	}
	return mistakes(found).sorted()
}

// look says what is wrong with one case before the work.
func (e *evaluation) look(ctx context.Context, j *judge, c Case) error {
	if c.planted != nil && len(c.Mutation) > 0 {
		return nil // it is the good work, with a defect
	}
	key, err := c.key(ctx, e.env.Environ)
	if err != nil || ctx.Err() != nil || e.known.looked(c, key) {
		return err
	}
	tree := filepath.Join(e.known.dir, "work", "before-"+c.Name)
	defer func() { _ = folders.RemoveAll(tree) }() // the next start removes it first
	if err := errors.Join(folders.RemoveAll(tree), os.MkdirAll(filepath.Dir(tree), 0o755)); err != nil {
		return err
	}
	if err := makeRepository(ctx, e.env.Environ, c, "", tree); err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.doc.Wrong([]any{"repo"}, "%v", err)
		return c.doc.Mistakes()
	}
	if c.Step != nil {
		if err := onStep(ctx, c, e.env, tree); err != nil {
			return err
		}
	}
	if err := j.before(ctx, c, tree); err != nil {
		return err
	}
	return e.known.noteLooked(c, key)
}

// carryOut has do carry out what is not over, and reports.
func (e *evaluation) carryOut(ctx context.Context, do doing) (*Report, error) {
	runs := cmp.Or(e.options.Runs, e.suite.Runs)
	asked := e.suite.trials(runs)
	if e.answers.plays {
		var err error
		if asked, err = e.suite.played(asked, e.answers); err != nil {
			return nil, err
		}
	}
	var over []Result
	var open []Trial
	spent := 0.0
	for _, t := range asked {
		r, is, err := e.known.load(t, e.keys[[2]string{t.Case, t.Variant}])
		switch {
		case err != nil:
			return nil, exit.AsUsage(err)
		case is && (!e.answers.record || e.answers.has(t)):
			over, spent = append(over, r), spent+r.Facts.Cost.USD
		default:
			open = append(open, t)
		}
	}
	if len(over) > 0 {
		e.note("%s over already\n", text.Plural(len(over), "run")+text.If(len(over) == 1, " is")+text.If(len(over) != 1, " are"))
	}
	left := math.Inf(1)
	if e.options.USD > 0 {
		left = e.options.USD - spent
	}
	n, jobs := len(over), max(1, e.options.Jobs)
	known := func(ctx context.Context, t Trial, usd float64) (Result, error) {
		r, err := do(ctx, t, usd)
		r.Key, r.Ended = e.keys[[2]string{t.Case, t.Variant}], e.env.Now()
		return r, err
	}
	made, err := carryOut(ctx, open, jobs, left, known, func(r Result) error {
		n++
		e.note("%d of %d: %s: %s, %s\n", n, len(asked), r.Trial, r.outcome(), text.USD(r.Facts.Cost.USD))
		return e.known.save(r)
	})
	report := reportOn(e.suite, append(over, made.done...), len(asked))
	slices.Sort(made.open)
	report.Unanswered = text.List(made.open)
	report.Short, report.Folder, report.Earlier, report.Replayed = made.short, e.known.dir, len(over), e.answers.plays
	return &report, err
}

// outcome says in a word or two what came of a trial.
func (r Result) outcome() string {
	switch {
	case r.Review != nil && r.Solved:
		return text.Words(r.Review.Verdict)
	case r.Solved:
		return "solved"
	}
	return "not solved"
}
