package agents

import (
	"fmt"
	"maps"
	"regexp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// priceTables give list prices by agent and model, in US dollars for a million
// tokens. A pipeline's prices come before these.
func priceTables() map[string]map[string]pipelines.Price {
	return map[string]map[string]pipelines.Price{
		"claude": {
			"claude-opus-4":     {Input: 15, Cached: 1.5, Output: 75},
			"claude-opus-4-1":   {Input: 15, Cached: 1.5, Output: 75},
			"claude-opus-4-5":   {Input: 5, Cached: 0.5, Output: 25},
			"claude-opus-4-8":   {Input: 5, Cached: 0.5, Output: 25},
			"claude-sonnet-4":   {Input: 3, Cached: 0.3, Output: 15},
			"claude-sonnet-4-5": {Input: 3, Cached: 0.3, Output: 15},
			"claude-sonnet-5":   {Input: 3, Cached: 0.3, Output: 15},
			"claude-haiku-4-5":  {Input: 1, Cached: 0.1, Output: 5},
		},
		"codex": {
			"gpt-5":              {Input: 1.25, Cached: 0.125, Output: 10},
			"gpt-5-codex":        {Input: 1.25, Cached: 0.125, Output: 10},
			"gpt-5.1":            {Input: 1.25, Cached: 0.125, Output: 10},
			"gpt-5.1-codex":      {Input: 1.25, Cached: 0.125, Output: 10},
			"gpt-5.1-codex-max":  {Input: 1.25, Cached: 0.125, Output: 10},
			"gpt-5.1-codex-mini": {Input: 0.25, Cached: 0.025, Output: 2},
			"gpt-5.2":            {Input: 1.75, Cached: 0.175, Output: 14},
			"gpt-5.2-codex":      {Input: 1.75, Cached: 0.175, Output: 14},
			"gpt-5-mini":         {Input: 0.25, Cached: 0.025, Output: 2},
			"gpt-5-nano":         {Input: 0.05, Cached: 0.005, Output: 0.4},
			"gpt-4.1":            {Input: 2, Cached: 0.5, Output: 8},
			"o3":                 {Input: 2, Cached: 0.5, Output: 8},
			"o4-mini":            {Input: 1.1, Cached: 0.275, Output: 4.4},
		},
		"gemini": {
			"gemini-2.5-pro":        {Input: 2.5, Cached: 0.625, Output: 15}, // the rate for long prompts
			"gemini-2.5-flash":      {Input: 0.3, Cached: 0.075, Output: 2.5},
			"gemini-2.5-flash-lite": {Input: 0.1, Cached: 0.025, Output: 0.4},
			"gemini-3-pro-preview":  {Input: 4, Cached: 0.4, Output: 18},
		},
	}
}

// variant is what a model's name may end in without changing its price.
var variant = regexp.MustCompile(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|\[1m\])+$`)

// priced fills in what a usage costs, where the agent does not say so itself,
// and gives a warning for people if that is a guess.
func (c cli) priced(model string, u metadata.Usage) (priced metadata.Usage, warning []string) {
	var known bool
	u = sane(u)
	u.USD, known = c.price(model, u)
	u = sane(u)
	u.Estimated = u.USD > 0
	if !known && u.Estimated {
		warning = []string{fmt.Sprintf("no price is known for model %q: counted as the dearest known one; say it under prices in the pipeline", model)}
	}
	return u, warning
}

// price finds the price of a usage. A model that is in no table costs as much as the dearest of its agent
// (of all, for an agent without a table), and known is false.
func (c cli) price(model string, u metadata.Usage) (usd float64, known bool) {
	tables := priceTables()
	table, ok := tables[c.name]
	if !ok {
		table = map[string]pipelines.Price{}
		for _, t := range tables {
			maps.Copy(table, t)
		}
	}
	base := variant.ReplaceAllString(model, "")
	var p pipelines.Price
	for _, try := range []struct {
		in   map[string]pipelines.Price
		name string
	}{{c.opts.Prices, model}, {c.opts.Prices, base}, {table, base}} {
		if p, known = try.in[try.name]; known {
			break
		}
	}
	if !known {
		p = dearest(table)
	}
	return (float64(u.InputTokens)*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6, known
}

// dearest gives the highest rate of each kind.
func dearest(table map[string]pipelines.Price) (d pipelines.Price) {
	for p := range maps.Values(table) {
		d.Input, d.Cached, d.Output = max(d.Input, p.Input), max(d.Cached, p.Cached), max(d.Output, p.Output)
	}
	return d
}
