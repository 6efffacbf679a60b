package passage

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Settle adds to the result of a call what has come through: its usage, what was
// refused, and the limit that was reached.
func (p *Passage) Settle(seen gate.Report, r *engine.Result) {
	settleUsage(p.call.Agent, seen, r)
	for _, model := range seen.Models {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s asked for the model %q, which the pipeline does not name; it was refused; `models: [%q]` would allow it", p.call.Agent, model, model))
	}
	seen.Refused = slices.DeleteFunc(slices.Clone(seen.Refused), func(host gate.Refused) bool { return slices.Contains(errands(p.call.Agent), host.Host) })
	for _, host := range seen.Refused {
		r.Refused = append(r.Refused, engine.Refused{Host: host.Host, Count: host.Count})
	}
	if text := Refusals(seen); text != "" {
		r.Warnings = append(r.Warnings, p.call.Agent+" "+text)
	}
	for _, s := range seen.Tools {
		if s.Failed > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the MCP server %s gave no good answer to %d of %d requests: %s", s.Server, s.Failed, s.Count, s.Why))
		}
	}
	if seen.Limit != gate.NoLimit {
		r.Limit = string(seen.Limit)
	}
}

// errands are the hosts that a program asks at each start for itself, such as for a
// newer version, and does without. That they were refused tells nobody anything.
func errands(agent string) []string {
	if agent == "codex" {
		return []string{"ab.chatgpt.com:443", "chatgpt.com:443", "api.github.com:443", "github.com:443"}
	}
	return nil
}

// Refusals says which hosts a program asked for that its network does not have, and
// what would allow them in the pipeline; it is empty if there are none.
func Refusals(seen gate.Report) string {
	var hosts, words []string
	for _, r := range seen.Refused[:min(len(seen.Refused), 20)] {
		hosts, words = append(hosts, fmt.Sprintf("%.100q", r.Host)), append(words, fmt.Sprintf("%.100s (%d)", r.Host, r.Count))
	}
	if len(hosts) == 0 {
		return ""
	}
	return fmt.Sprintf("was refused hosts that the pipeline does not allow: %s; `network: allow: [%s]` would allow them", strings.Join(words, ", "), strings.Join(hosts, ", "))
}

// price is what a gate counts a request with. Lists of prices do not have what is
// written to a cache, which at Anthropic, and at OpenAI where it says so, costs a quarter
// more than input, and twice as much as input where it is kept for an hour.
func (c Call) price(model string, t gate.Tokens) float64 {
	used := usageOf(t)
	prompt := used.InputTokens + used.CachedTokens
	used.InputTokens += (t.CacheWrite-t.CacheHour)/4 + t.CacheHour
	usd, _ := c.Price(model, used, prompt)
	return usd
}

// usageOf gives tokens in the terms of the record: what is written to a cache
// counts as input.
func usageOf(t gate.Tokens) metadata.Usage {
	return metadata.Usage{InputTokens: t.Input + t.CacheWrite, CachedTokens: t.CacheRead, OutputTokens: t.Output}
}

// tolerance is by how much the figures of a program and of its gate may differ.
const tolerance = 0.05

// settleUsage takes the gate's figures where the program gives none, or others.
func settleUsage(agent string, seen gate.Report, r *engine.Result) {
	total, largest, estimated := gate.Tokens{}, int64(-1), false
	for _, model := range slices.Sorted(maps.Keys(seen.Usage)) {
		u := seen.Usage[model]
		total, estimated = total.Add(u.Tokens), estimated || u.Estimated
		if sum := sumOf(usageOf(u.Tokens)); sum > largest {
			largest = sum
			if r.Model == "" {
				r.Model = model
			}
		}
	}
	ours, theirs := sumOf(usageOf(total)), sumOf(r.Usage)
	if ours == 0 || theirs > 0 && math.Abs(float64(ours-theirs)) <= tolerance*float64(max(ours, theirs)) {
		if r.Usage.Estimated { // by prices of tokens, which the program itself knows better
			// Only the gate knows how long each prompt was, and what caches were written.
			r.Usage.USD = max(r.Usage.USD+seen.Extra, seen.USD)
		}
		return
	}
	if estimated && theirs == 0 {
		r.Warnings = append(r.Warnings, "some answers did not say what they used; it was worked out from how long they are")
	}
	if theirs > 0 {
		counts := "what came through counts"
		if estimated {
			counts = "what it says counts, as some answers broke off"
		}
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s says that it used %d tokens, and answers with %d came through; %s", agent, theirs, ours, counts))
		if estimated {
			return
		}
	}
	turns := max(r.Usage.Turns, seen.Turns)
	r.Usage = usageOf(total)
	r.Usage.USD, r.Usage.Turns = seen.USD, turns
	r.Usage.Estimated = r.Usage.USD > 0
}

func sumOf(u metadata.Usage) int64 { return u.InputTokens + u.CachedTokens + u.OutputTokens }
