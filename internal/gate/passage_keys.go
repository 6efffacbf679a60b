package gate

import (
	"net/http"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
)

// KeyRequest asks a service for the list of its models with the key that an agent program
// would have from its variables: that costs nothing, and is refused without a valid key.
// nil: there is no such key, or only one that is made for the program itself.
func KeyRequest(agent string, env []string) (*http.Request, error) {
	list := map[API]string{Anthropic: "/v1/models?limit=1", OpenAI: "/models", Gemini: "/v1beta/models?pageSize=1"}
	own := map[string]API{"claude": Anthropic, "codex": OpenAI, "gemini": Gemini}[agent]
	all, variables, err := Call{Agent: agent, Env: env}.providers()
	if err != nil || agent == "claude" && process.Lookup(env, "ANTHROPIC_API_KEY") == "" && process.Lookup(env, "ANTHROPIC_AUTH_TOKEN") == "" {
		return nil, err
	}
	for _, p := range all {
		if p.API != own || len(variables) == 0 {
			continue
		}
		r, err := http.NewRequest(http.MethodGet, strings.TrimRight(p.Base.String(), "/")+list[own], nil)
		if err != nil {
			return nil, err
		}
		r.Header = p.Header
		if own == Anthropic {
			r.Header.Set("Anthropic-Version", "2023-06-01")
		}
		return r, nil
	}
	return nil, nil
}

// LoginAlone reports whether an agent program would go by a login that only the program
// itself can use, such as one in a file, and not by a key that KeyRequest asks about. Where
// both are there, and the program chooses by its settings, it is not.
func LoginAlone(agent string, env []string) bool {
	r, err := KeyRequest(agent, env)
	switch {
	case err != nil:
		return false
	case r == nil && agent == "claude" && process.Lookup(env, "CLAUDE_CODE_OAUTH_TOKEN") != "":
		return true
	case r != nil && agent != "codex":
		return false
	case agent == "codex" && process.Lookup(env, "CODEX_API_KEY") != "":
		return false
	}
	return len(heldBy(agent, env)) > 0
}
