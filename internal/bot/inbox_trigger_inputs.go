package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Inputs are the inputs of the action, as a workflow file sets them. Its author is trusted, but may make mistakes.
type Inputs struct {
	Command   string // empty: what the event asks; gate: only whether there is something to do; end DECISION: that the job is gone; task PART: one part; join: all
	Issue     string
	Part      string // with the command task
	Ended     string // with the command end: what the job that has ended decided or, where it decided nothing, how it ended; empty: not known
	Pipeline  string
	Token     string
	Agent     string   // does all the work; empty: as the pipeline says
	There     []string // the agent programs that are installed; empty: not said
	Model     string
	USD       float64
	Timeout   time.Duration // of the run; 0: the pipeline's
	AppToken  bool          // Token was made by an app, and not for this job
	Users     []string      // empty: everybody with the right
	Bots      []string      // exact names
	Notify    []string      // who is called when a run stops: logins, or Commander; empty: nobody
	Label     string
	Prefix    string // of branches
	Addressed bool   // commands in comments count only as /reprise NAME
	Base      string // branch that new runs start from and pull requests go to
	Language  string
	Dry       bool
	Pull      bool // open a pull request
	Policy    string
	Sandbox   string
	Show      bool     // print what agents do
	Upload    bool     // keep the result and the page of the run as an artifact of the job
	FanOut    bool     // other jobs do parts of a phase
	Dispatch  []string // workflow files to start when the branch is done
}

// commander stands for whoever gave the newest command.
const commander = "commander"

var (
	login  = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(\[bot\])?$`)
	aFile  = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.ya?ml$`)
	number = text.Pattern(`^[1-9][0-9]{0,8}$`)
)

// begin begins a step of a workflow: it reads all inputs, and what the step prints from then
// on has no secrets and no workflow commands. The error has every mistake in the inputs, each
// on a line; the job is there all the same. Whoever calls it closes the job's log.
func begin(env environ.Env) (*environ.Job, Inputs, error) {
	env.SecretFinder = env.Finder()
	j := environ.NewJob(env)
	in, err := readInputs(j)
	j.MaskAll(env.Secrets())
	j.Stop()
	if err == nil && in.Prefix != "" {
		j.Env.Environ = append(j.Env.Environ, "REPRISE_BRANCH_PREFIX="+in.Prefix)
	}
	return j, in, err
}

// readInputs reads all inputs. The error has every mistake, each on a line.
func readInputs(j *environ.Job) (Inputs, error) {
	var wrong []error
	bad := func(name, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("input %s: %s", name, fmt.Sprintf(format, args...)))
	}
	yes := func(name string, otherwise bool) bool {
		text := strings.ToLower(j.Input(name))
		if text != "" && text != "true" && text != "false" {
			bad(name, "%q is neither true nor false", text)
		}
		return text == "true" || text == "" && otherwise
	}
	in := Inputs{
		Command: j.Input("command"), Issue: strings.TrimPrefix(j.Input("issue"), "#"), Pipeline: j.Input("pipeline"), Token: j.Input("github-token"),
		Users: list(j.Input("allowed-users")), Bots: list(j.Input("allowed-bots")),
		Label: j.Input("label"), Prefix: j.Input("branch-prefix"), Base: j.Input("base-branch"), Language: j.Input("language"),
		Policy: j.Input("policy"), Sandbox: j.Input("sandbox"), Dispatch: list(j.Input("dispatch")),
	}
	switch word, rest, _ := strings.Cut(in.Command, " "); word {
	case setup.TaskOnly:
		in.Command, in.Part = word, rest
	case setup.EndOnly:
		in.Command, in.Ended = word, rest
	}
	for _, agent := range list(j.Input("agent")) {
		name, model, _ := strings.Cut(agent, ":")
		if model != "" && in.Model != "" {
			bad("agent", "it names two models, %s and %s; name one, for every phase", in.Model, model)
		}
		in.There, in.Model = append(in.There, name), cmp.Or(model, in.Model)
	}
	in.There = slices.DeleteFunc(in.There, func(name string) bool { return name == "" })
	if slices.ContainsFunc(in.There, func(name string) bool { return setup.AgentInstalls()[name].Name == "" }) {
		in.Agent, in.There = strings.Join(in.There, ", "), nil // a rehearsal, or one that a pipeline names
	}
	if in.Notify = list(j.Input("notify")); slices.Equal(in.Notify, []string{"none"}) {
		in.Notify = nil
	}
	in.Dry, in.Pull, in.Show, in.FanOut = yes("dry-run", false), yes("create-pr", true), yes("show-output", false), yes("fan-out", false)
	in.Upload = yes("upload", false)
	in.AppToken = strings.HasPrefix(in.Token, "ghs_") && !yes("own-token", true)
	for name, all := range map[string][]string{"allowed-users": in.Users, "allowed-bots": in.Bots, "notify": in.Notify} {
		for _, who := range all {
			switch {
			case strings.Contains(who, "*"):
				bad(name, "%q: give each name; everybody cannot be meant", who)
			case !login().MatchString(who):
				bad(name, "%q is not a name on GitHub", who)
			}
		}
	}
	for _, f := range in.Dispatch {
		if !aFile().MatchString(f) {
			bad("dispatch", "%q is not the name of a workflow file, such as ci.yml", f)
		}
	}
	in.Addressed = j.Input("prefix") != ""
	var unpaid, untimed error
	if text := j.Input("budget-usd"); text != "" {
		in.USD, unpaid = command.Dollars(text)
	}
	if text := j.Input("timeout"); text != "" {
		in.Timeout, untimed = time.ParseDuration(text)
	}
	only := slices.Contains(setup.OnlyForms(), in.Command)
	unheard := in.Command != "" && in.Command != setup.GateOnly && !only && command.Parse(in.Command, true).Outcome != command.Understood
	for _, c := range []struct {
		wrong     bool
		name, why string
	}{
		{only && in.Issue == "", "issue", "it is missing; with the command " + in.Command + ", give the output issue of the gate"},
		{in.Command == setup.TaskOnly && metadata.CheckID(in.Part) != nil, "command", strconv.Quote(in.Part) + " is no part of a phase; give one of the output matrix, as in: task ${{ matrix.part }}"},
		{unheard, "command", strconv.Quote(in.Command) + " is no command; give one as in a comment, such as run, or gate, or end"},
		{in.Issue != "" && !number().MatchString(in.Issue), "issue", strconv.Quote(in.Issue) + " is not the number of an issue"},
		{in.Addressed && j.Input("prefix") != "reprise", "prefix", strconv.Quote(j.Input("prefix")) + " is not reprise, the one word that commands can begin with"},
		{unpaid != nil, "budget-usd", strconv.Quote(j.Input("budget-usd")) + " is not an amount of US dollars above 0, such as 5 or 2.50"},
		{untimed != nil || j.Input("timeout") != "" && in.Timeout < time.Minute, "timeout", strconv.Quote(j.Input("timeout")) + " is not a time of at least a minute, such as 90m or 2h"},
		{in.Prefix != "" && metadata.CheckBranch(in.Prefix+"1") != nil, "branch-prefix", strconv.Quote(in.Prefix) + " cannot begin the name of a branch"},
		{in.Base != "" && metadata.CheckBranch(in.Base) != nil, "base-branch", strconv.Quote(in.Base) + " is not the name of a branch"},
		{in.Language != "" && !slices.Contains(metadata.Languages(), in.Language), "language", strconv.Quote(in.Language) + " is not one of " + strings.Join(metadata.Languages(), ", ")},
		{in.Sandbox != "" && !slices.Contains(sandbox.Containments(), in.Sandbox), "sandbox", strconv.Quote(in.Sandbox) + " is not one of " + strings.Join(sandbox.Containments(), ", ")},
		{strings.ContainsAny(in.Pipeline, "\n\x00") || strings.ContainsAny(in.Agent, " \n\x00"), "pipeline, agent", "a name has a space or a line break"},
	} {
		if c.wrong {
			bad(c.name, "%s", c.why)
		}
	}
	return in, errors.Join(wrong...)
}

// appTime is how long a job works with the token of an app, which ends an hour after it was made: most of that, as it was
// made some steps before.
const appTime = 50 * time.Minute

// within gives a context that ends when the job has to stop in good order.
func (in Inputs) within(ctx context.Context) (context.Context, context.CancelFunc) {
	switch {
	case in.AppToken && (in.Timeout == 0 || in.Timeout > appTime):
		return context.WithTimeoutCause(ctx, appTime, engine.ErrTokenUp)
	case in.Timeout > 0:
		return context.WithTimeoutCause(ctx, in.Timeout, engine.ErrTimeUp)
	}
	return ctx, func() {}
}

// list reads names that stand on lines or between commas.
func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(", \n\r\t", r) })
}
