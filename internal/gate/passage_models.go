package gate

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
)

// mayAsk says which models a call may ask: those named for the agent and, unless all are listed, any known to be no
// dearer. nil: any.
func (c Call) mayAsk() func(provider, model string) bool {
	if len(c.Models) == 0 && !c.Exact {
		return nil
	}
	named := slices.Clone(c.Models)
	for _, kv := range c.Env { // what an alias stands for
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "ANTHROPIC_") && strings.HasSuffix(name, "_MODEL") {
			named = append(named, value)
		}
	}
	return func(_, asked string) bool {
		return slices.ContainsFunc(named, func(name string) bool { return sameModel(name, asked) || !c.Exact && c.noDearer(asked, name) })
	}
}

// sameModel reports whether a service was asked for the model of a name: an alias
// such as opus or gemini-pro stands for any with it in its name.
func sameModel(name, asked string) bool {
	name, asked = plain(name), plain(asked)
	return name == asked || !strings.ContainsAny(name, "0123456789") && name != "" && strings.Contains(asked, name) ||
		name == "opusplan" && (strings.Contains(asked, "opus") || strings.Contains(asked, "sonnet")) ||
		name == "default" || name == "best"
}

// plain is the name of a model without the date of its version and the like.
func plain(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "[1m]"), "-latest")
	return variant().ReplaceAllString(name, "")
}

var variant = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2})+$`) })

// noDearer reports whether both models have a known price, and one costs no more
// than the other, whatever it is used for.
func (c Call) noDearer(one, other string) bool {
	for _, u := range []metadata.Usage{{InputTokens: 1e6}, {CachedTokens: 1e6}, {OutputTokens: 1e6}} {
		for _, prompt := range []int64{0, 1e9} { // of requests of usual length, and of the longest
			a, known1 := c.Price(one, u, prompt)
			b, known2 := c.Price(other, u, prompt)
			if !known1 || !known2 || a > b {
				return false
			}
		}
	}
	return true
}
