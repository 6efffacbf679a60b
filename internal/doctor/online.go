package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/passage"
	"github.com/reprise-ci/reprise/pipelines"
)

// patience is how long a service has to answer.
const patience = 20 * time.Second

// online tries the key of each program that the pipeline gives work to at its service. It
// says what was tried, and that it costs nothing.
func (p programs) online(ctx context.Context, plan *pipelines.Pipeline) (out []Check) {
	seen := map[string]bool{}
	for _, name := range workers(plan) {
		use := plan.Agents[name].Use
		if _, known := allCredentials()[use]; known && !seen[use] {
			seen[use] = true
			out = append(out, p.beside(use, p.tried(ctx, use)))
		}
	}
	return out
}

// tried says whether the service of a program takes its key.
func (p programs) tried(ctx context.Context, use string) Check {
	name := use + " key"
	r, err := passage.KeyRequest(use, p.env.Environ)
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

// beside says, of a program whose key was tried, that it has a login in a file as well, and
// which of the two it goes by.
func (p programs) beside(use string, c Check) Check {
	file := allCredentials()[use].login
	held := passage.HeldBy(map[string]pipelines.Agent{use: {Use: use}}, p.env.Environ)
	r, err := passage.KeyRequest(use, p.env.Environ)
	if err != nil || r == nil || len(held) == 0 || !slices.Contains(held[0].By, file) {
		return c
	}
	switch {
	case use == "codex" && p.env.Getenv("CODEX_API_KEY") == "":
		c.Found += "; but codex goes by its login in " + file + ", which was not tried"
		c.Status, c.Do = Hint, "to have it go by the key, name the variable CODEX_API_KEY, or log out: codex logout"
	case use == "gemini":
		c.Found += "; there is a login in " + file + ", too, which was not tried: gemini's settings say which of the two it goes by"
	default:
		c.Found += "; there is a login in " + file + ", too, which was not tried: " + use + " goes by the key"
	}
	return c
}

// Hosts gives the hosts that Options.Online would ask, for people to agree to that.
func Hosts(environ []string) (hosts []string) {
	for _, use := range []string{"claude", "codex", "gemini"} {
		if r, err := passage.KeyRequest(use, environ); err == nil && r != nil {
			hosts = append(hosts, r.URL.Host)
		}
	}
	return hosts
}
