package gate

import (
	"net/http"
	"slices"
	"strings"
)

// KeyRequest asks a service for the list of its models with the key that an agent program has in a variable, which
// costs nothing; nil if there is none.
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

// KeyVariables lists the variables of which one is enough for an agent program at its service; of all programs for "".
func KeyVariables(agent string) (names []string) {
	for name, p := range table().Programs {
		if agent != "" && agent != name {
			continue
		}
		for _, s := range table().Services {
			if s.API == p.API {
				for _, k := range s.Keys {
					names = append(names, k.Variable)
				}
			}
		}
		for _, c := range p.Clouds {
			names = append(names, c.Variable)
		}
	}
	return names
}
