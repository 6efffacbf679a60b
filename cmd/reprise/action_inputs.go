package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// inputs are what a workflow file says to the action. Whoever wrote it is
// trusted, but may err.
type inputs struct {
	command  string // empty: what the event asks; gate: only whether there is something to do
	issue    string
	pipeline string
	token    string
	agent    string
	model    string
	usd      float64
	timeout  time.Duration // of the run; 0: the pipeline's
	users    []string      // empty: everybody with the right
	bots     []string      // exact names
	label    string
	prefix   string // of branches
	base     string // branch that new runs start from and pull requests go to
	language string
	dry      bool
	pull     bool // open a pull request
	protect  []string
	sandbox  string
	show     bool     // print what agents do
	dispatch []string // workflow files to start when the branch is done
}

// gateOnly is the command that only says whether there is something to do.
const gateOnly = "gate"

var (
	login  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}(\[bot\])?$`)
	aFile  = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.ya?ml$`)
	number = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// readInputs reads all inputs. The error has every mistake, each on a line.
func readInputs(j *job) (inputs, error) {
	var wrong []error
	bad := func(name, format string, args ...any) {
		wrong = append(wrong, fmt.Errorf("input %s: %s", name, fmt.Sprintf(format, args...)))
	}
	yes := func(name string, otherwise bool) bool {
		text := strings.ToLower(j.input(name))
		if text != "" && text != "true" && text != "false" {
			bad(name, "%q is neither true nor false", text)
		}
		return text == "true" || text == "" && otherwise
	}
	in := inputs{
		command: j.input("command"), issue: strings.TrimPrefix(j.input("issue"), "#"), pipeline: j.input("pipeline"), token: j.input("github-token"),
		agent: j.input("agent"), model: j.input("model"), users: list(j.input("allowed-users")), bots: list(j.input("allowed-bots")),
		label: j.input("label"), prefix: j.input("branch-prefix"), base: j.input("base-branch"), language: j.input("language"),
		protect: list(j.input("protect")), sandbox: j.input("sandbox"), dispatch: list(j.input("dispatch")),
	}
	in.dry, in.pull, in.show = yes("dry-run", false), yes("create-pr", true), yes("show-output", false)
	if in.command != "" && in.command != gateOnly && parseSlash(in.command, true).Outcome != slashAsked {
		bad("command", "%q is no command; give one as in a comment, such as run, or gate", in.command)
	}
	if in.issue != "" && !number.MatchString(in.issue) {
		bad("issue", "%q is not the number of an issue", in.issue)
	}
	for name, all := range map[string][]string{"allowed-users": in.users, "allowed-bots": in.bots} {
		for _, who := range all {
			switch {
			case strings.Contains(who, "*"):
				bad(name, "%q: give each name; everybody cannot be meant", who)
			case !login.MatchString(who):
				bad(name, "%q is not a name on GitHub", who)
			}
		}
	}
	for _, f := range in.dispatch {
		if !aFile.MatchString(f) {
			bad("dispatch", "%q is not the name of a workflow file, such as ci.yml", f)
		}
	}
	if text := j.input("budget-usd"); text != "" {
		usd, err := dollars(text)
		if err != nil {
			bad("budget-usd", "%q is not an amount of US dollars above 0, such as 5 or 2.50", text)
		}
		in.usd = usd
	}
	if text := j.input("timeout"); text != "" {
		d, err := time.ParseDuration(text)
		if err != nil || d < time.Minute {
			bad("timeout", "%q is not a time of at least a minute, such as 90m or 2h", text)
		}
		in.timeout = d
	}
	if in.prefix != "" && metadata.CheckBranch(in.prefix+"1") != nil {
		bad("branch-prefix", "%q cannot begin the name of a branch", in.prefix)
	}
	if in.base != "" && metadata.CheckBranch(in.base) != nil {
		bad("base-branch", "%q is not the name of a branch", in.base)
	}
	if in.language != "" && in.language != "en" && in.language != "ja" {
		bad("language", "%q is not one of en, ja", in.language)
	}
	if in.sandbox != "" && !slices.Contains([]string{"required", "best-effort", "off"}, in.sandbox) {
		bad("sandbox", "%q is not one of required, best-effort, off", in.sandbox)
	}
	if strings.ContainsAny(in.pipeline, "\n\x00") || strings.ContainsAny(in.agent+in.model, " \n\x00") {
		bad("pipeline, agent, model", "a name has a space or a line break")
	}
	return in, errors.Join(wrong...)
}

// list reads names that stand on lines or between commas.
func list(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' || r == ' ' || r == '\t' }),
		func(s string) bool { return s == "" })
}
