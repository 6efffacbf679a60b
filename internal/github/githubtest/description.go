package githubtest

import (
	_ "embed"
	"sync"

	"github.com/reprise-ci/reprise/internal/github/githubtest/openapi"
)

//go:embed testdata/api.github.com.json
var extract []byte

// described reads GitHub's own description of its API, as far as it is used, once: every
// server has the same.
var described = sync.OnceValues(func() (*openapi.Description, error) { return openapi.Read(extract) })

// checkAnswer says in what an answer is not as GitHub describes it; r is nil for what has no
// route. GraphQL has no description here, but its refusals do.
func checkAnswer(d *openapi.Description, r *route, status int, body []byte) []string {
	switch {
	case r == nil, r.path == "/graphql" && status >= 300:
		return d.CheckAnswer("", "", status, body)
	case r.path == "/graphql":
		return nil
	}
	return d.CheckAnswer(r.method, r.path, status, body)
}
