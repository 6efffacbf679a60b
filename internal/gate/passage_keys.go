package gate

import (
	"net/http"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
)

// KeyRequest asks a service for the list of its models with the key that an agent program
// would have from its variables: that costs nothing, and is refused without a valid key.
// nil: there is no such key, or only one that is made for the program itself.
func KeyRequest(agent string, env []string) (*http.Request, error) {
	own := table().Programs[agent].API
	all, _, err := Call{Agent: agent, Env: env}.providers()
	i := slices.IndexFunc(all, func(p Provider) bool { return p.API == own })
	if err != nil || i < 0 || !hasKey(own, env, false) {
		return nil, err
	}
	s := slices.IndexFunc(table().Services, func(s service) bool { return s.API == own })
	r, err := http.NewRequest(http.MethodGet, strings.TrimRight(all[i].Base.String(), "/")+table().Services[s].Models, nil)
	if err != nil {
		return nil, err
	}
	r.Header = all[i].Header
	if own == Anthropic {
		r.Header.Set("Anthropic-Version", "2023-06-01")
	}
	return r, nil
}

// LoginAlone reports whether an agent program would go by a login that only the program
// itself can use, such as one in a file, and not by a key that KeyRequest asks about. Where
// both are there, and the program chooses by its settings, it is not.
func LoginAlone(agent string, env []string) bool {
	r, err := KeyRequest(agent, env)
	switch {
	case err != nil:
		return false
	case r == nil && hasKey(table().Programs[agent].API, env, true):
		return true
	case r != nil && agent != "codex", agent == "codex" && process.Lookup(env, "CODEX_API_KEY") != "":
		return false
	}
	return len(heldBy(agent, env)) > 0
}
