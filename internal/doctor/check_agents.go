package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// programs are those of the agents, as a run in a folder finds them.
type programs struct {
	env  environ.Env
	dir  string           // top of the repository; "" without one
	seen map[string]Check // by what was looked at, which other pipelines may have, too
}

// check looks at every program that the pipeline gives work to. One that is
// missing stops a run only if nobody takes over.
func (p programs) check(ctx context.Context, plan *pipelines.Pipeline) (out []Check) {
	found := map[string]Check{}
	for name, a := range plan.Agents {
		what := fmt.Sprintf("%+v", a) + text.If(a.Use == "command", name)
		if _, known := p.seen[what]; !known {
			p.seen[what] = p.agent(ctx, name, a)
		}
		found[name] = p.seen[what]
	}
	for _, name := range workers(plan) {
		c := found[name]
		if c.Status == Missing {
			if by := takesOver(plan, found, name); by != "" {
				c.Status, c.Found = Hint, c.Found+"; "+found[by].Name+" takes over"
			}
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out
}

// workers are the names of the agents that a pipeline gives work to, in the
// order in which they come to it.
func workers(plan *pipelines.Pipeline) (names []string) {
	for _, s := range workspace.StepsOf(plan) {
		if _, ok := plan.Agents[s.Agent]; ok && !slices.Contains(names, s.Agent) {
			names = append(names, s.Agent)
		}
	}
	return names
}

// takesOver names the agent that does the work of one that is missing, or "".
func takesOver(plan *pipelines.Pipeline, found map[string]Check, name string) string {
	tried := map[string]bool{}
	for next := plan.Agents[name].Fallback; next != "" && !tried[next]; next = plan.Agents[next].Fallback {
		tried[next] = true
		if c, ok := found[next]; ok && c.Status != Missing {
			return next
		}
	}
	return ""
}

// agent looks at the program of an agent, its version and its key.
func (p programs) agent(ctx context.Context, called string, a pipelines.Agent) Check {
	name := a.Use
	if pipelines.TakesCommand(name) && len(a.Command) > 0 {
		name = filepath.Base(a.Command[0])
	}
	if a.Use == agents.Rehearsal {
		return well(name, "is built in, and asks no model")
	}
	if err := agents.Probe(a.Use, a, p.dir, agents.Options{Environ: p.env.Environ}); err != nil {
		if gone, ok := errors.AsType[*engine.AgentError](err); ok {
			return lacking(name, gone.Err.Error(), gone.Hint.In(prompts.Words("en")))
		}
		return lacking(name, err.Error(), "")
	}
	install, known := setup.AgentInstalls()[a.Use]
	switch {
	case a.Use == "command" && a.CallUSD == nil:
		return hinted(name, "is there; cost unknown", agents.Unpriced(map[string]pipelines.Agent{called: a})[0].In(prompts.Words("en")))
	case !known:
		return well(name, "is there")
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return lacking(name, err.Error(), "")
	}
	v, err := saysVersion(ctx, p.env, path)
	switch {
	case errors.Is(err, context.DeadlineExceeded): // as on a machine that is busy
		return hinted(name, err.Error(), "see how long this takes: "+name+" --version")
	case err != nil:
		return lacking(name, fmt.Sprintf("%s cannot be started: %v", path, err), fmt.Sprintf("install it again: npm install -g %s@%s", install.Package, install.Version))
	}
	return p.key(name, v, install)
}

// key says where an agent program of a version has its key from.
func (p programs) key(name, version string, install setup.AgentInstall) Check {
	from, elsewhere := agents.LoginOf(name, p.env.Environ)
	if from == "" {
		return hinted(name, "version "+version+", "+elsewhere, "run "+name+" once and log in, or set "+install.Secret)
	}
	found := "version " + version + ", " + from
	for _, holds := range Holding(map[string]pipelines.Agent{name: {Use: name}}, p.env.Environ) {
		found += "; " + holds
	}
	if series(version) != series(install.Version) {
		return hinted(name, fmt.Sprintf("%s; reprise is tested with %s", found, install.Version), fmt.Sprintf("if it makes trouble: npm install -g %s@%s", install.Package, install.Version))
	}
	return well(name, found)
}

// ownFolder is where pipelines of a repository are.
const ownFolder = ".github/reprise/pipelines"

// needed looks at every program that some pipelines give work to, and says which need what is not well. What only the
// usual pipeline needs, if it is built in, is a hint.
func (p programs) needed(ctx context.Context, own []*pipelines.Pipeline, usual *pipelines.Pipeline) (all []Check) {
	by := map[Check][]string{}
	note := func(c Check, name string) {
		if by[c] == nil {
			all = append(all, c)
		}
		by[c] = append(by[c], name)
	}
	for _, plan := range own {
		for _, c := range p.check(ctx, plan) {
			note(c, plan.Name)
		}
	}
	if !slices.ContainsFunc(own, func(o *pipelines.Pipeline) bool { return o.Name == usual.Name }) {
		for _, c := range p.check(ctx, usual) {
			switch {
			case by[c] != nil:
				continue
			case c.Status == Missing:
				c.Status = Hint
			}
			note(c, usual.Name+", which is built in and taken where nothing names a pipeline")
		}
	}
	for i, c := range all {
		if c.Status != Fine {
			all[i].Found += "; needed by " + strings.Join(by[c], ", ")
		}
	}
	return all
}

// Holding says of the programs of agents which logins of the user they hold
// themselves, a sentence for each. It depends on the variables and files of the user.
func Holding(all map[string]pipelines.Agent, env []string) (out []string) {
	for _, h := range gate.KeysHeldBy(all, env) {
		out = append(out, fmt.Sprintf("%s holds its login itself (%s), so the proxy neither counts nor limits what is asked with it; without that login, a key in %s stays outside",
			h.Program, strings.Join(h.By, ", "), setup.AgentInstalls()[h.Program].Secret))
	}
	return out
}

// patience is how long a service has to answer.
const patience = 20 * time.Second

// online tries the key of each program that some pipelines give work to.
func (p programs) online(ctx context.Context, plans []*pipelines.Pipeline) (out []Check) {
	seen := map[string]bool{}
	for _, plan := range plans {
		for _, name := range workers(plan) {
			if use := plan.Agents[name].Use; !seen[use] && len(gate.KeyVariables(use)) > 0 {
				seen[use] = true
				out = append(out, p.tried(ctx, use))
			}
		}
	}
	return out
}

// tried says whether the service of a program takes its key.
func (p programs) tried(ctx context.Context, use string) Check {
	name := use + " key"
	r, err := gate.KeyRequest(use, p.env.Environ)
	switch {
	case err != nil:
		return lacking(name, err.Error(), "")
	case r == nil:
		return hinted(name, "not tried: there is no key in a variable that can be asked about without the program", "start "+use+" once by hand to see that it works")
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client := *cmp.Or(p.env.Http, &http.Client{})
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // it would get the key
	answer, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return hinted(name, fmt.Sprintf("not tried: %s does not answer", r.URL.Host), "see whether it can be reached from here")
	}
	defer answer.Body.Close() // only the status counts
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	switch answer.StatusCode {
	case http.StatusOK:
		return well(name, fmt.Sprintf("%s takes it: it has listed its models, which costs nothing", r.URL.Host))
	case http.StatusUnauthorized, http.StatusForbidden:
		return lacking(name, fmt.Sprintf("%s refuses it (%d)", r.URL.Host, answer.StatusCode), "make a new one there, and store it where this one is")
	}
	return hinted(name, fmt.Sprintf("%s has answered with %d, which says nothing about the key", r.URL.Host, answer.StatusCode), "")
}
