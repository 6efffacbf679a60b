package doctor

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/pipelines"
)

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
