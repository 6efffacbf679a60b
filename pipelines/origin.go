package pipelines

import (
	"fmt"
	"maps"
	"slices"
)

// Origin is a file, and the settings that come from it.
type Origin struct {
	File     string   // as people know it; pipelines.GivenForRun; empty: nobody has said anything else
	Settings []string // such as budget.usd, sorted
}

// OriginsOf lists where each setting comes from that the settings of a repository may
// have: those with a file first, in the order of their names.
func OriginsOf(p *Pipeline) []Origin {
	settings := []string{"language", "network", "finish", "budget.usd", "budget.tokens", "budget.time", "budget.attempts", "budget.issue_usd", "budget.day_usd", "budget.repo_day_usd"}
	for name := range p.Agents {
		settings = append(settings, "agents."+name)
	}
	if len(p.Hooks) == 0 {
		settings = append(settings, "hooks")
	}
	for i := range p.Hooks {
		settings = append(settings, fmt.Sprintf("hooks[%d]", i))
	}
	slices.Sort(settings)
	by := map[string][]string{}
	for _, s := range settings {
		by[p.Origins[s]] = append(by[p.Origins[s]], s)
	}
	var out []Origin
	for _, file := range slices.Sorted(maps.Keys(by)) {
		if file != "" {
			out = append(out, Origin{file, by[file]})
		}
	}
	if by[""] != nil {
		out = append(out, Origin{"", by[""]})
	}
	return out
}
