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
