package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// Told is what a program has told of a call.
type Told struct {
	Model, Limit string
	Usage        metadata.Usage
	Refused      []refused
	Warnings     []string
}

// Complete adds to what a program has told what has come through: its usage, what was
// refused, and the limit that was reached.
func (p *Passage) Complete(seen Report, r *Told) {
	correctUsage(p.call, seen, r)
	for _, model := range seen.Models {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s asked for the model %q, which the pipeline does not name; it was refused; `allow_models: [%q]` would allow it", p.call.Agent, model, model))
	}
	errands := table().Programs[p.call.Agent].Errands // that they were refused tells nobody anything
	seen.Refused = slices.DeleteFunc(slices.Clone(seen.Refused), func(host refused) bool { return slices.Contains(errands, host.Host) })
	r.Refused = append(r.Refused, seen.Refused...)
	if text := Refusals(seen); text != "" {
		r.Warnings = append(r.Warnings, p.call.Agent+" "+text)
	}
	for _, s := range seen.Tools {
		if s.Failed > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the MCP server %s gave no good answer to %d of %d requests: %s", s.Server, s.Failed, s.Count, s.Why))
		}
	}
	if len(p.lost) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s was not given the password of the proxy in %s: programs get none; if it cannot reach its model without, set HTTP_PROXY and HTTPS_PROXY to a proxy with http or https, which reprise then asks in its place", p.call.Agent, strings.Join(p.lost, ", ")))
	}
	if seen.Limit != NoLimit {
		r.Limit = string(seen.Limit)
	}
}

// Refusals says which hosts a program asked for that its network does not have, and
// what would allow them in the pipeline; it is empty if there are none.
func Refusals(seen Report) string {
	var hosts, words []string
	for _, r := range seen.Refused[:min(len(seen.Refused), 20)] {
		hosts, words = append(hosts, fmt.Sprintf("%.100q", r.Host)), append(words, fmt.Sprintf("%.100s (%d)", r.Host, r.Count))
	}
	if len(hosts) == 0 {
		return ""
	}
	return fmt.Sprintf("was refused hosts that the pipeline does not allow: %s; `network: allow: [%s]` would allow them", strings.Join(words, ", "), strings.Join(hosts, ", "))
}

// price is what a gate counts a request with: a quarter more than input for what is written to a cache, and twice as
// much where it is kept for an hour.
func (c Call) price(model string, t tokens) float64 {
	used := usageOf(t)
	prompt := used.InputTokens + used.CachedTokens
	used.InputTokens += (t.CacheWrite-t.CacheHour)/4 + t.CacheHour
	usd, _ := c.Price(model, used, prompt)
	return usd
}

// usageOf gives tokens in the terms of the record: what is written to a cache
// counts as input.
func usageOf(t tokens) metadata.Usage {
	return metadata.Usage{InputTokens: t.Input + t.CacheWrite, CachedTokens: t.CacheRead, OutputTokens: t.Output}
}

// tolerance is by how much the figures of a program and of its gate may differ.
const tolerance = 0.05

// correctUsage takes the gate's figures where the program gives none, or others: nothing that is less than what came
// through.
func correctUsage(c Call, seen Report, r *Told) {
	total, estimated, most, largest := tokens{}, false, "", int64(-1)
	for _, model := range slices.Sorted(maps.Keys(seen.Usage)) {
		u := seen.Usage[model]
		total, estimated = total.Add(u.Tokens), estimated || u.Estimated
		if sum := sumOf(usageOf(u.Tokens)); sum > largest {
			most, largest = model, sum
		}
	}
	r.Model = cmp.Or(r.Model, most)
	ours, theirs := usageOf(total), r.Usage
	if theirs.Estimated { // by prices of tokens, which do not have what else the gate has seen
		r.Usage.USD += seen.Extra
	}
	whole := c.Resumed && !estimated && sumOf(ours) > 0 && !covers(ours, theirs) // it tells what the session has used in all
	if whole || !covers(theirs, ours) {
		why := fmt.Sprintf("%s says that it used %d tokens (%d of output), and answers with %d tokens (%d of output) came through, which counts", c.Agent, sumOf(theirs), theirs.OutputTokens, sumOf(ours), ours.OutputTokens)
		if estimated {
			why += "; some of them did not say what they used, and it was worked out from how long they are"
		}
		if !whole && (estimated || sumOf(theirs) > 0) {
			r.Warnings = append(r.Warnings, why)
		}
		turns := max(theirs.Turns, seen.Turns)
		r.Usage = ours
		r.Usage.USD, r.Usage.Turns, r.Usage.Estimated, r.Usage.ByGate = seen.USD, turns, seen.USD > 0, true
	}
	// Where no more tokens were used than came through, a cost beyond theirs is the total of all calls of the session.
	if c.Resumed && !theirs.Estimated && seen.USD > 0 && covers(ours, theirs) && theirs.USD > (1+tolerance)*seen.USD {
		r.Usage.USD, r.Usage.Estimated, r.Usage.ByGate = seen.USD, true, true
	}
	if cents := seen.USD - r.Usage.USD; cents > 1e-9 { // less is how sums are rounded
		if !theirs.Estimated && cents > tolerance*seen.USD && theirs.USD > 0 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("%s says that it cost $%.4f, and what came through costs $%.4f by its prices, which counts", c.Agent, theirs.USD, seen.USD))
		}
		r.Usage.USD, r.Usage.Estimated, r.Usage.ByGate = seen.USD, true, true
	}
}

// covers reports whether a program's figures are no less than those of its gate, in sum and for dear tokens.
func covers(theirs, ours metadata.Usage) bool {
	enough := func(theirs, ours int64) bool { return float64(ours-theirs) <= tolerance*float64(ours) }
	return enough(sumOf(theirs), sumOf(ours)) && enough(theirs.OutputTokens, ours.OutputTokens) &&
		enough(theirs.OutputTokens+theirs.InputTokens, ours.OutputTokens+ours.InputTokens)
}

func sumOf(u metadata.Usage) int64 { return u.InputTokens + u.CachedTokens + u.OutputTokens }
