package agents

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// pricesFile has the list prices, where they are published, and when they were
// written down. A pipeline's prices come before these.
//
//go:embed prices.json
var pricesFile []byte

// rate is the price of a model. A Rare one is not used to price a model that is not
// in the table, since nobody gets it without naming it.
type rate struct {
	pipelines.Price
	Long struct { // for requests with more input
		pipelines.Price
		Over int64
	}
	Rare bool
}

// of gives the price of requests with so much input; 0: any.
func (r rate) of(prompt int64) pipelines.Price {
	if r.Long.Over > 0 && prompt > r.Long.Over {
		return r.Long.Price
	}
	return r.Price
}

// priceTables gives the list prices by agent and model, in US dollars for a
// million tokens.
var priceTables = sync.OnceValue(func() map[string]map[string]rate {
	var file struct {
		Agents map[string]struct{ Models map[string]rate }
	}
	if err := json.Unmarshal(pricesFile, &file); err != nil {
		panic(err) // unreachable: it is embedded, and a test reads it
	}
	tables := map[string]map[string]rate{}
	for name, agent := range file.Agents {
		tables[name] = agent.Models
	}
	return tables
})

// variant is what a model's name may end in without changing its price.
var variant = text.Pattern(`(-\d{8}|-\d{4}-\d{2}-\d{2}|-latest|\[1m\])+$`)

// priced fills in what a usage costs, where the agent does not say so itself,
// and gives a warning for people if that is a guess.
func (c cli) priced(model string, u metadata.Usage) (priced metadata.Usage, warning []string) {
	var known bool
	u = sane(u)
	u.USD, known = c.price(model, u, 0)
	u = sane(u)
	u.Estimated = u.USD > 0
	if !known && u.Estimated {
		warning = []string{fmt.Sprintf("no price is known for model %q: counted as the most expensive known one; give its price under prices in the pipeline", model)}
	}
	return u, warning
}

// price finds the price of a usage, of one request with so much input or of any (0). An alias, and a model in no table,
// cost as much as the dearest that they may be; of the latter known is false.
func (c cli) price(model string, u metadata.Usage, prompt int64) (usd float64, known bool) {
	tables := priceTables()
	table, ok := tables[c.name]
	if !ok {
		table = map[string]rate{}
		for _, t := range tables {
			maps.Copy(table, t)
		}
	}
	base := variant().ReplaceAllString(gate.ModelName(model), "")
	var p pipelines.Price
	if p, known = c.opts.Prices[model]; !known {
		p, known = c.opts.Prices[base]
	}
	if !known {
		var r rate
		r, known = table[base]
		p = r.of(prompt)
	}
	if !known {
		p, known = dearest(table, base, prompt)
	}
	return (float64(u.InputTokens)*p.Input + float64(u.CachedTokens)*p.Cached + float64(u.OutputTokens)*p.Output) / 1e6, known
}

// dearest gives the highest rate of each kind: of the models that an alias such as
// opus stands for, or else of all.
func dearest(table map[string]rate, name string, prompt int64) (d pipelines.Price, isAlias bool) {
	alias := name != "" && !strings.ContainsAny(name, "0123456789")
	for model, r := range table {
		if r.Rare && !strings.HasSuffix(name, "-pro") {
			continue
		}
		p := r.of(prompt)
		if is := alias && strings.Contains(model, name); is && !isAlias {
			d, isAlias = p, true
		} else if is || !isAlias {
			d.Input, d.Cached, d.Output = max(d.Input, p.Input), max(d.Cached, p.Cached), max(d.Output, p.Output)
		}
	}
	return d, isAlias
}

// Unpriced says which agents are programs that nobody knows a price of, in the order of names, and what comes of that.
func Unpriced(all map[string]pipelines.Agent) (said []metadata.Reason) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if all[name].Use == "command" && all[name].CallUSD == nil {
			said = append(said, metadata.Because("unpriced_agent", "agent", name))
		}
	}
	return said
}

// PriceKnown reports whether the pipeline or the list prices have one for a model, or
// for those that an alias stands for.
func PriceKnown(plan *pipelines.Pipeline, model string) bool {
	_, known := cli{opts: Options{Prices: plan.Prices}}.price(model, metadata.Usage{}, 0)
	return known
}
