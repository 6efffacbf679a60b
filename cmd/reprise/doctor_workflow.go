package main

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// workflowYAML is what is looked at of a workflow. Much of it has several
// forms, and is left as it is.
type workflowYAML struct {
	On          yaml.Node              `yaml:"on"`
	Permissions yaml.Node              `yaml:"permissions"`
	Concurrency yaml.Node              `yaml:"concurrency"`
	Env         map[string]yaml.Node   `yaml:"env"`
	Jobs        map[string]workflowJob `yaml:"jobs"`
}

type workflowJob struct {
	Permissions yaml.Node            `yaml:"permissions"`
	Concurrency yaml.Node            `yaml:"concurrency"`
	Env         map[string]yaml.Node `yaml:"env"`
	Steps       []workflowStep       `yaml:"steps"`
}

type workflowStep struct {
	Uses string               `yaml:"uses"`
	Run  string               `yaml:"run"`
	With map[string]yaml.Node `yaml:"with"`
	Env  map[string]yaml.Node `yaml:"env"`
}

// with gives an input of the step's action, or "".
func (s workflowStep) with(name string) string { return s.With[name].Value }

// ours reports whether the step calls reprise.
func (s workflowStep) ours() bool { return s.Uses == localAction || ourAction.MatchString(s.Uses) }

var (
	ourAction = regexp.MustCompile(`^[A-Za-z0-9-]+/reprise@`)
	pinned    = regexp.MustCompile(`^[^@]+@([0-9a-f]{40}|sha256:[0-9a-f]{64})$`)
	// What somebody else wrote, put into a script before the shell reads it.
	injected = regexp.MustCompile(`\$\{\{[^}]*(github\.event\.|github\.head_ref|inputs\.)`)
)

const writeAnew = "take over what you want to keep, and write it anew: reprise init --force"

// written reports whether a workflow is word for word what init writes, and for
// which agent.
func written(text string) (agent string, ok bool) {
	uses := []string{defaultUses(), localAction}
	for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(text, -1) {
		uses = append(uses, m[1])
	}
	for _, name := range slices.Sorted(maps.Keys(agentInstalls())) {
		for _, u := range uses {
			if same, err := workflowText(u, name); err == nil && same == text {
				return name, true
			}
		}
	}
	return "", false
}

// lintWorkflow names what a workflow has that keeps runs from working, or
// working safely, as far as the file alone tells.
func lintWorkflow(data []byte) []check {
	const name = "workflow"
	var w workflowYAML
	if err := yaml.Unmarshal(data, &w); err != nil {
		return []check{lacking(name, workflowFile+": "+err.Error(), writeAnew)}
	}
	l := workflowLint{w: w}
	l.triggers()
	l.jobs()
	return l.found
}

// workflowLint gathers what is found.
type workflowLint struct {
	w     workflowYAML
	found []check
}

func (l *workflowLint) hint(do, format string, args ...any) {
	l.found = append(l.found, hinted("workflow", fmt.Sprintf(format, args...), do))
}

func (l *workflowLint) triggers() {
	on := namesIn(l.w.On)
	if slices.Contains(on, "pull_request_target") {
		l.hint("take it out", "pull_request_target starts it: with that, people without rights come close to its keys")
	}
	if !slices.Contains(on, "issue_comment") {
		l.hint("add issue_comment with types: [created] to on:", "comments do not start it")
	}
	if !l.w.Concurrency.IsZero() {
		l.hint("put concurrency on the job that works", "its concurrency is on the whole workflow: any comment can drop a job that waits, or end one that works")
	}
}

// namesIn gives the names in a scalar, a list or the keys of a mapping.
func namesIn(n yaml.Node) []string {
	var out []string
	switch n.Kind {
	case yaml.ScalarNode:
		out = append(out, n.Value)
	case yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, c.Value)
		}
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			out = append(out, n.Content[i].Value)
		}
	}
	return out
}

func (l *workflowLint) jobs() {
	var gates, works int
	for _, name := range slices.Sorted(maps.Keys(l.w.Jobs)) {
		job := l.w.Jobs[name]
		l.steps(name, job)
		for _, s := range job.Steps {
			switch {
			case !s.ours():
			case s.with("command") == gateOnly:
				gates++
				l.permissions(name, job, s, gateNeeds())
			default:
				works++
				l.permissions(name, job, s, workNeeds(s))
				l.work(name, job, s)
			}
		}
	}
	switch {
	case works == 0:
		l.hint(writeAnew, "no job of %s is seen to call reprise", workflowFile)
	case gates == 0:
		l.hint(writeAnew, "it has no job with command: gate: every comment starts the job that has the keys")
	}
}

// steps looks at what every job should keep to.
func (l *workflowLint) steps(name string, job workflowJob) {
	for _, s := range job.Steps {
		if s.Uses != "" && !s.ours() && !strings.HasPrefix(s.Uses, "./") && !pinned.MatchString(s.Uses) {
			l.hint("name it by the hash of a commit", "job %s uses %s, which its owner can change", name, s.Uses)
		}
		if injected.MatchString(s.Run) {
			l.hint("hand it over in env:, and use it in quotes", "a script of job %s has an expression with text from outside, which can run anything", name)
		}
		for _, agent := range agentInstalls() {
			l.version(name, agent, s.Run)
		}
	}
}

// version holds the version of an agent program that a script installs against
// the one that is tried.
func (l *workflowLint) version(job string, agent agentInstall, script string) {
	// Behind a slash it is the path of a package that is installed already.
	m := regexp.MustCompile(`(?:^|[\s"'])` + regexp.QuoteMeta(agent.Package) + `(@([^\s"']+))?`).FindStringSubmatch(script)
	switch {
	case m == nil || l.said(agent.Title):
	case !versionNumber.MatchString(m[2]):
		l.hint(fmt.Sprintf("%s@%s", agent.Package, agent.Version), "job %s installs whatever version of %s is the newest", job, agent.Title)
	case firstNumbers(m[2]) != firstNumbers(agent.Version):
		l.hint(fmt.Sprintf("%s@%s", agent.Package, agent.Version), "job %s installs %s %s; tried is %s", job, agent.Title, m[2], agent.Version)
	}
}

// said reports whether something is said of an agent already: its script may
// name it twice.
func (l *workflowLint) said(title string) bool {
	return slices.ContainsFunc(l.found, func(c check) bool { return strings.Contains(c.Found, title) })
}

// work looks at the job that has the keys.
func (l *workflowLint) work(name string, job workflowJob, ours workflowStep) {
	switch c := job.Concurrency; {
	case c.IsZero():
		l.hint("add concurrency with the issue in its group", "job %s has no concurrency: two jobs can start for one issue, and one of them in vain", name)
	case c.Kind == yaml.MappingNode && valueOf(c, "cancel-in-progress") == "true":
		l.hint("cancel-in-progress: false", "job %s is ended by the next command of the same issue", name)
	}
	for _, s := range job.Steps {
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.with("persist-credentials") != "false" {
			l.hint("persist-credentials: false", "the checkout of job %s leaves the token on the disk", name)
		}
	}
	if !l.hasKey(job, ours) {
		l.hint("hand it over in env: of the step that calls reprise", "job %s has no key of an agent", name)
	}
	if ours.with("github-token") == "" && ours.with("dispatch") == "" {
		l.found = append(l.found, defaultToken()...)
	}
}

// hasKey reports whether the step gets the key of an agent, or needs none.
func (l *workflowLint) hasKey(job workflowJob, s workflowStep) bool {
	if s.with("agent") == rehearsal {
		return true
	}
	for _, env := range []map[string]yaml.Node{l.w.Env, job.Env, s.Env} {
		for _, c := range allCredentials() {
			if slices.ContainsFunc(c.vars, func(v string) bool { _, ok := env[v]; return ok }) {
				return true
			}
		}
	}
	return false
}

// defaultToken says what the token of a job cannot do.
func defaultToken() []check {
	return []check{hinted("workflow", "what it pushes starts no other workflow, since it uses the token of the job: your CI does not run on the branch by itself",
		"give the action the input dispatch, or the token of an app as github-token")}
}

// valueOf gives what a mapping has under a key, or "".
func valueOf(n yaml.Node, key string) string {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1].Value
		}
	}
	return ""
}
