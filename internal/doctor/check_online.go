package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// patience is how long a service has to answer.
const patience = 20 * time.Second

// answering is how long a program has to give one answer.
const answering = 2 * time.Minute

// online tries the key or the login of each program that some pipelines give work to. It
// says what was tried, and what that costs.
func (p programs) online(ctx context.Context, plans []*pipelines.Pipeline) (out []Check) {
	seen := map[string]bool{}
	var all []pipelines.Agent
	for _, plan := range plans {
		for _, name := range workers(plan) {
			all = append(all, plan.Agents[name])
		}
	}
	for _, a := range all {
		if _, known := allCredentials()[a.Use]; !known || seen[a.Use] {
			continue
		}
		seen[a.Use] = true
		if gate.LoginAlone(a.Use, p.env.Environ) {
			out = append(out, p.answers(ctx, a))
			continue
		}
		out = append(out, p.tried(ctx, a.Use))
	}
	return out
}

// answers says whether a program works with its login, which nobody else can use: the
// program is asked for one word, of its cheapest model that the pipeline names.
func (p programs) answers(ctx context.Context, a pipelines.Agent) Check {
	name := a.Use + " login"
	dir, err := os.MkdirTemp("", "reprise-doctor-")
	if err != nil {
		return hinted(name, "not tried: "+err.Error(), "")
	}
	defer func() { _ = os.RemoveAll(dir) }() // it is empty but for what the program leaves there
	agent, err := agents.For(a.Use, pipelines.Agent{Use: a.Use}, agents.Options{Environ: p.env.Environ, Temp: dir})
	if err != nil {
		return hinted(name, "not tried: "+err.Error(), "")
	}
	r, err := agent.Run(ctx, engine.Task{
		Dir: dir, Access: pipelines.AccessNone, Network: pipelines.Network{Closed: true}, Model: a.Models["light"],
		Prompt: "Answer with the word ok, and nothing else.", Timeout: answering, Idle: answering,
	})
	var broke *engine.AgentError
	switch {
	case err == nil && r.Usage.USD > 0:
		return well(name, fmt.Sprintf("works: %s has given an answer of one word, which cost $%.4f", a.Use, r.Usage.USD))
	case err == nil:
		return well(name, fmt.Sprintf("works: %s has given an answer of one word", a.Use))
	case errors.As(err, &broke) && broke.Class == metadata.Auth:
		return lacking(name, "is refused: "+text.FirstLine(p.env.Finder().Mask(broke.Err.Error())), "start "+a.Use+" once by hand and log in again")
	}
	return hinted(name, "is not known to work: "+text.FirstLine(p.env.Finder().Mask(err.Error())), "start "+a.Use+" once by hand to see that it works")
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
	defer func() { _ = answer.Body.Close() }() // only the status counts
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 1<<20))
	switch answer.StatusCode {
	case http.StatusOK:
		return well(name, fmt.Sprintf("%s takes it: it has listed its models, which costs nothing", r.URL.Host))
	case http.StatusUnauthorized, http.StatusForbidden:
		return lacking(name, fmt.Sprintf("%s refuses it (%d)", r.URL.Host, answer.StatusCode), "make a new one there, and store it where this one is")
	}
	return hinted(name, fmt.Sprintf("%s has answered with %d, which says nothing about the key", r.URL.Host, answer.StatusCode), "")
}

// OnlineTargets gives what Options.Online would ask, for people to agree to that: hosts for a list
// of models, and programs for an answer.
func OnlineTargets(environ []string) (hosts, programs []string) {
	for _, use := range []string{"claude", "codex", "gemini"} {
		if gate.LoginAlone(use, environ) {
			programs = append(programs, use)
		} else if r, err := gate.KeyRequest(use, environ); err == nil && r != nil {
			hosts = append(hosts, r.URL.Host)
		}
	}
	return hosts, programs
}
