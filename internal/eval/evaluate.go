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
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines"
)

// options say how a suite is evaluated.
type options struct {
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
}

// trials lists what an evaluation carries out, in order: the first runs of all come before the second ones, so that what
// is over when the budget ends is a part of everything.
func (s *suite) trials(runs int) (all []trial) {
	for n := range runs {
		for _, c := range s.Cases {
			for _, v := range s.Variants {
				all = append(all, trial{v.Name, c.Name, n + 1})
			}
		}
	}
	return all
}

// evaluate has the trials of a suite carried out that are not over yet, and reports on
// all of them. The report is there also beside an error that came in the middle.
func evaluate(ctx context.Context, env environ.Env, dir string, o options) (*report, error) {
	s, err := readSuite(ctx, dir)
	if err != nil {
		return nil, err
	}
	if err := s.choose(o.Variants, o.Cases); err != nil {
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
	known, err := openResults(ctx, o.Results)
	if err != nil {
		return nil, err
	}
	defer known.close() // the lock goes with the process anyway
	if o.Fresh {
		if err := known.forget(); err != nil {
			return nil, err
		}
	}
	return (&evaluation{env: env, suite: s, options: o, known: known, keys: map[[2]string]string{}}).run(ctx)
}

// evaluation is one process that evaluates a suite.
type evaluation struct {
	env     environ.Env
	suite   *suite
	options options
	known   *results
	keys    map[[2]string]string // by case and variant
}

func (e *evaluation) run(ctx context.Context) (*report, error) {
	self, err := workspace.Executable()
	if err != nil {
		return nil, err
	}
	j, err := newJudge(e.env, cmp.Or(e.options.Sandbox, string(sandbox.BestEffort)), filepath.Join(e.known.dir, "homes"), "")
	if err != nil {
		return nil, err
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
	r := &runner{j, self, filepath.Join(e.known.dir, "work")}
	report, err := e.carryOut(ctx, func(ctx context.Context, t trial, usd float64) (result, error) {
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
func (e *evaluation) of(t trial) (Case, variant) {
	c := slices.IndexFunc(e.suite.Cases, func(c Case) bool { return c.Name == t.Case })
	v := slices.IndexFunc(e.suite.Variants, func(v variant) bool { return v.Name == t.Variant })
	return e.suite.Cases[c], e.suite.Variants[v]
}

// prepare looks at each case as it is before the work, unless that was done before, and
// refuses the suite if one proves nothing. All mistakes come together.
func (e *evaluation) prepare(ctx context.Context, j *judge) error {
	var mu sync.Mutex
	var found pipelines.Mistakes
	inCase := map[string]string{} // the key of each
	var all errgroup.Group
	all.SetLimit(max(1, e.options.Jobs))
	for _, c := range e.suite.Cases {
		all.Go(func() error {
			key, err := c.key(ctx, e.env.Environ)
			if err == nil {
				err = e.look(ctx, j, c, key)
			}
			mu.Lock()
			defer mu.Unlock()
			inCase[c.Name] = key
			return gather(&found, err)
		})
	}
	if err := all.Wait(); ctx.Err() != nil {
		return context.Cause(ctx)
	} else if err != nil {
		return err
	}
	for _, v := range e.suite.Variants {
		inVariant, err := v.key()
		if err != nil {
			return err
		}
		for _, c := range e.suite.Cases {
			e.keys[[2]string{c.Name, v.Name}] = inCase[c.Name] + "-" + inVariant
		}
	}
	return found.OrNil()
}

// look says what is wrong with one case before the work, unless that is known of its key.
func (e *evaluation) look(ctx context.Context, j *judge, c Case, key string) error {
	defect := c.planted != nil && len(c.Mutation) > 0 // in the good work
	if defect || ctx.Err() != nil || e.known.looked(c, key) {
		return nil
	}
	tree := filepath.Join(e.known.dir, "work", "before-"+c.Name)
	defer folders.RemoveAll(tree) // the next start removes it first
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
	return writeWhole(filepath.Join(e.known.dir, "cases", c.Name), []byte(key+"\n"))
}

// doing carries out one trial, which may spend as much as usd says.
type doing func(ctx context.Context, t trial, usd float64) (result, error)

// least is what a trial needs at least so that it is worth to begin, in US dollars.
const least = 0.01

// carryOut has do carry out what is not over, in its order and --jobs at once, and reports. What is
// over by the time that one fails, or ctx ends, is in the report, too.
func (e *evaluation) carryOut(ctx context.Context, do doing) (*report, error) {
	asked := e.suite.trials(cmp.Or(e.options.Runs, e.suite.Runs))
	w := &work{left: math.Inf(1), free: max(1, e.options.Jobs)}
	if e.options.USD > 0 {
		w.left = e.options.USD
	}
	var open []trial
	for _, t := range asked {
		r, is, err := e.known.load(t, e.keys[[2]string{t.Case, t.Variant}])
		switch {
		case err != nil:
			return nil, exit.AsUsage(err)
		case is:
			w.over, w.left = append(w.over, r), w.left-r.Facts.Cost.USD
		default:
			open = append(open, t)
		}
	}
	earlier := len(w.over)
	if earlier > 0 {
		e.note("%s over already\n", text.Plural(earlier, "run")+text.If(earlier == 1, " is")+text.If(earlier != 1, " are"))
	}
	save := func(r result) error {
		r.Key, r.Ended = e.keys[[2]string{r.Case, r.Variant}], e.env.Now()
		e.note("%d of %d: %s: %s, %s\n", len(w.over)+1, len(asked), r.trial, r.outcome(), r.Facts.dollars().CostShort())
		w.over = append(w.over, r)
		return e.known.save(r)
	}
	all, going := errgroup.WithContext(ctx) // when one fails, what others say is that they were stopped
	all.SetLimit(w.free)
	for _, t := range open {
		all.Go(func() error {
			usd, ok := w.take()
			if !ok || going.Err() != nil {
				return nil
			}
			r, err := do(going, t, usd)
			return w.end(t, r, err, usd, save)
		})
	}
	err := all.Wait()
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	report := reportOn(e.suite, w.over, len(asked))
	slices.Sort(w.open)
	report.Unanswered = text.List(w.open)
	report.Short, report.Folder, report.Earlier = w.short, e.known.dir, earlier
	return &report, err
}

// work is trials at work, and what came of those that have ended.
type work struct {
	mu    sync.Mutex
	left  float64 // in US dollars, that no trial has spent or may spend; +Inf: no limit
	free  int     // trials that can begin now
	over  []result
	short bool     // the budget ended before all were over
	open  []string // why trials are not over, of which the service or the key did not answer
}

// take gives what a trial may spend: an even share of what is left. Once the budget has
// ended a trial, or there is next to nothing left, no other is begun.
func (w *work) take() (usd float64, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	usd = w.left / float64(w.free)
	w.short = w.short || usd+1e-9 < least
	if w.short {
		return 0, false
	}
	w.free--
	if !math.IsInf(usd, 1) {
		w.left -= usd
	}
	return usd, true
}

// end notes what came of a trial, which gives back what it has not spent of usd.
func (w *work) end(t trial, r result, err error, usd float64, save func(result) error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free++
	if !math.IsInf(usd, 1) {
		w.left += usd - r.Spent
	}
	switch {
	case errors.Is(err, errCut):
		w.short = true
		return nil
	case errors.As(err, new(*openError)):
		w.open = append(w.open, t.String()+": "+err.Error())
		return nil
	case err == nil:
		err = save(r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	return nil
}

// outcome says in a word or two what came of a trial.
func (r result) outcome() string {
	switch {
	case r.Review != nil && r.Solved:
		return text.Words(r.Review.Verdict)
	case r.Solved:
		return "solved"
	}
	return "not solved"
}
