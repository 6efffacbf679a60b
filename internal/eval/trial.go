package eval

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// trial is one run of a case with a variant.
type trial struct {
	Variant string `json:"variant"`
	Case    string `json:"case"`
	Run     int    `json:"run"` // counts from 1
}

// String names the case, the variant and which of its runs it is.
func (t trial) String() string { return fmt.Sprintf("%s, %s, run %d", t.Case, t.Variant, t.Run) }

// result is what came of a trial that is over.
type result struct {
	trial
	Key    string            `json:"key"` // of what it was made from: another case or variant has another one
	Solved bool              `json:"solved"`
	Misses []string          `json:"misses,omitempty"` // why it is not solved
	Facts  facts             `json:"facts"`
	Review *metadata.Verdict `json:"review,omitempty"` // of a step that is one
	Why    string            `json:"why,omitempty"`    // a review gave no verdict
	Ended  time.Time         `json:"ended_at"`
	Spent  float64           `json:"-"` // in this process, in US dollars
	// Of --review: the case whose work it is, and the defect in it; nil: none.
	of      string
	planted *mutation
}

// runVariable is the variable that tells a program which run of its case it works in,
// if the pipeline passes it on: agents that are scripted may do otherwise in each.
const runVariable = "EVAL_RUN"

// errCut says that a run was ended by the budget of the evaluation, and not by its own.
var errCut = errors.New("the budget of the evaluation is used up")

// runner has trials carried out by this program itself, each as a process in a
// repository of its own.
type runner struct {
	*judge
	self   string
	folder string // for what is made and removed again
}

// do carries out a trial, or goes on with it where it was left. It may spend as much as
// usd says, in US dollars. What it costs is told also where it fails.
func (r *runner) do(ctx context.Context, t trial, c Case, v variant, usd float64) (result, error) {
	out := result{trial: t}
	dir := filepath.Join(r.folder, v.Name, fmt.Sprintf("%s-%d", c.Name, t.Run))
	repo := filepath.Join(dir, "repo")
	if _, err := os.Stat(repo); err != nil {
		if err := r.begin(ctx, c, v, dir); err != nil {
			return out, err
		}
	}
	start, err := before(c, dir)
	if err != nil {
		return out, err
	}
	env := r.env
	env.Environ = append(r.environ(), "REPRISE_HOME="+filepath.Join(dir, "home"), runVariable+"="+strconv.Itoa(t.Run))
	args, own, err := r.asks(ctx, c, v, dir, &start)
	if err != nil {
		return out, err
	}
	at, spent, done := (*workspace.Recorded)(nil), 0.0, false
	if at, err = workspace.Look(ctx, env, repo, start.ID); err == nil {
		spent = at.Run.Cost.USD
		done = over(c, start, at.Run) && !cut(at, own)
	} else if !errors.As(err, new(*workspace.NoRunError)) {
		return out, err
	}
	if !done {
		if limit := min(usd, own-spent); !math.IsInf(limit, 1) {
			args = append(args, "--more", "usd="+strconv.FormatFloat(max(limit, 0.01), 'f', 2, 64))
		}
		said, err := r.process(ctx, env.Environ, args, filepath.Join(dir, "log.txt"))
		if err != nil {
			return out, err
		}
		if at, err = workspace.Look(ctx, env, repo, start.ID); err != nil {
			return out, fmt.Errorf("%w (%s)", err, said)
		}
		if !over(c, start, at.Run) && !cut(at, own) {
			out.Spent = at.Run.Cost.USD - spent
			return out, cmp.Or(unanswered(at.Run), fmt.Errorf("the run did not come to an end: %s", said))
		}
	}
	if out.Facts, err = factsOf(ctx, at); err != nil {
		return out, err
	}
	out.Facts, out.Spent = out.Facts.since(start.Facts), at.Run.Cost.USD-spent
	out.Review, out.Why = reviewed(c, start, at.Run)
	if cut(at, own) {
		return out, errCut
	}
	if out.Misses, err = r.after(ctx, c, out.Facts, repo, at.Run.BranchName); err != nil {
		return out, err
	}
	out.Solved = len(out.Misses) == 0
	return out, folders.RemoveAll(dir)
}

// cut reports whether a run was ended before it had spent what it may spend by itself.
func cut(at *workspace.Recorded, own float64) bool {
	return phases.LimitOf(at.Run) == phases.LimitUSD && at.Run.Cost.USD < own-0.01
}

// begin makes what a trial begins with.
func (r *runner) begin(ctx context.Context, c Case, v variant, dir string) error {
	if err := errors.Join(folders.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return err
	}
	if c.Step == nil {
		text, err := folders.ReadRegular(c.Issue, maxFile)
		if err != nil {
			return err
		}
		if err := os.WriteFile(issueIn(dir, c), text, 0o600); err != nil {
			return err
		}
	}
	if err := makeRepository(ctx, r.env.Environ, c, v.Prompts, filepath.Join(dir, "repo")); err != nil || c.Step == nil {
		return err
	}
	return r.remember(ctx, dir)
}

// issueIn is the file of the issue of a trial.
func issueIn(dir string, c Case) string { return filepath.Join(dir, c.Name+".md") }

// asks gives the arguments of the process of a trial, and the most that it may spend by itself with what was
// spent before. Of a whole run it notes the issue.
func (r *runner) asks(ctx context.Context, c Case, v variant, dir string, b *frozenRun) ([]string, float64, error) {
	repo := filepath.Join(dir, "repo")
	args := []string{"run", "--repo", repo, "--push=false", "--json", "--sandbox", r.how}
	if c.Step != nil {
		own := math.Inf(1)
		if v.Budget.USD > 0 {
			own = b.Facts.Cost.USD + v.Budget.USD
		}
		return append(args, v.stepFlags(c, b.ID)...), own, nil
	}
	is, err := issue.ReadFile(issueIn(dir, c), nil)
	if err != nil {
		return nil, 0, err
	}
	b.ID = is.ID
	own, err := r.ownBudget(ctx, v, repo, is)
	return append(append(args, "--issue-file", issueIn(dir, c)), v.flags(c)...), own, err
}

// environ is that of the process, without what says that it is a job on GitHub: a trial
// gives no output of one.
func (r *runner) environ() []string {
	return slices.DeleteFunc(apart(r.env.Environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return strings.HasPrefix(name, "GITHUB_") && name != "GITHUB_TOKEN" || name == "REPRISE_HOME" || name == "REPRISE_BRANCH_PREFIX" || name == runVariable
	})
}

// flags are those of reprise run that make a run one of the variant.
func (v variant) flags(c Case) (out []string) {
	add := func(flag, value string) {
		if value != "" {
			out = append(out, "--"+flag, value)
		}
	}
	add("pipeline", v.Pipeline)
	add("agent", v.Agent+text.Prefixed(":", v.Model))
	add("language", v.Language)
	allowed := phases.Allowance{Tokens: v.Budget.Tokens, Time: time.Duration(v.Budget.Time), Attempts: v.Budget.Attempts}
	if c.Step != nil {
		allowed.Attempts = 1
	}
	add("more", command.MoreText(allowed))
	if v.Agent == agents.Rehearsal {
		add("stubs", c.Stubs)
	}
	return out
}

// ownBudget is the most that a run of the variant may spend by itself, in US dollars.
func (r *runner) ownBudget(ctx context.Context, v variant, repo string, is issue.Issue) (float64, error) {
	if v.Budget.USD > 0 {
		return v.Budget.USD, nil
	}
	src, err := git.Find(ctx, repo)
	if err != nil {
		return 0, err
	}
	d, err := workspace.Define(ctx, src, is, workspace.Choice{Pipeline: v.Pipeline, Agent: v.Agent, Model: v.Model, Language: v.Language})
	if err != nil {
		return 0, err
	}
	if d.Plan.Budget.USD == 0 {
		return math.Inf(1), nil
	}
	return d.Plan.Budget.USD, nil
}

// process runs this program, writes what it says to a file, and gives what its result
// says is wrong. How a run ends is no error; a mistake of the command line is one.
func (r *runner) process(ctx context.Context, environ, args []string, log string) (said string, err error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return "", err
	}
	defer file.Close()     // it is for people who look into it
	runtime.LockOSThread() // see endWithParent
	defer runtime.UnlockOSThread()
	var printed, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, r.self, args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = environ, &printed, io.MultiWriter(file, &errs)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it ends its agent, and keeps what there is
	cmd.WaitDelay = 2 * workspace.StopTime
	endWithParent(cmd)
	err = cmd.Run()
	if ctx.Err() != nil {
		return "", context.Cause(ctx)
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		return "", err
	}
	var summary struct {
		Error string `json:"error"`
	}
	if code := cmd.ProcessState.ExitCode(); code == exit.Usage || json.Unmarshal(printed.Bytes(), &summary) != nil {
		return "", fmt.Errorf("reprise run ended with %d: %s", code, strings.TrimSpace(errs.String()))
	}
	return summary.Error, nil
}
