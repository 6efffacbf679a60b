package hooks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// mostLeft is how many events are kept for hooks that did not take them. The newest count.
const mostLeft = 50

// mostReason is how many characters of a reason are kept.
const mostReason = 1000

// Untold gives what hooks have not taken, for the next record: a machine that has not worked
// on the run knows nothing else of it.
func (t *Teller) Untold() []metadata.Untold {
	m, _ := t.recall(t.Known)
	return m.Left
}

// digest names a hook, as long as its pipeline does not change it.
func digest(h pipelines.Hook) string {
	data, _ := json.Marshal(h) // texts only
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}

// keep is what is kept of an event that a hook has not taken: the rest is in every record.
func keep(h pipelines.Hook, e Event) metadata.Untold {
	return metadata.Untold{
		Hook: digest(h), Kind: e.kind, ID: e.ID, At: e.Time, Status: metadata.Status(e.Data.Status), Code: e.Data.Code, Phase: e.Data.Phase,
		Reason: phases.CutText(e.Data.Reason, mostReason), Attempts: e.Data.Attempts, USD: e.Data.USD,
	}
}

// eventAgain is an event as it was told first.
func (t *Teller) eventAgain(run metadata.Run, u metadata.Untold) Event {
	e := eventOf(run, u.Kind, u.Phase, u.Reason, u.ID)
	e.Time, e.Data.Status, e.Data.Code, e.Data.Attempts, e.Data.USD = u.At, string(u.Status), u.Code, u.Attempts, u.USD
	return t.masked(e)
}

// together is what two lists have, each event of a hook once.
func together(a, b []metadata.Untold) []metadata.Untold {
	out := slices.Clone(a)
	for _, u := range b {
		if !slices.ContainsFunc(out, func(o metadata.Untold) bool { return o.Hook == u.Hook && o.ID == u.ID }) {
			out = append(out, u)
		}
	}
	return out
}

// retell tells once more what hooks have not taken, each until it fails, and gives what is
// left. Whoever may push to the branch may write what a record says of that: only events of
// this run, which their hook asks for, are told.
func (t *Teller) retell(ctx context.Context, run metadata.Run, left []metadata.Untold) (still []metadata.Untold) {
	failed := map[string]bool{}
	for _, u := range left {
		i := slices.IndexFunc(t.Hooks, func(h pipelines.Hook) bool { return digest(h) == u.Hook })
		if i < 0 || !slices.Contains(t.Hooks[i].On, u.Kind) || !strings.HasPrefix(u.ID, run.Execution.ID+"-"+u.Kind+"-") { // the pipeline has that hook no more
			continue
		}
		if failed[u.Hook] || t.one(ctx, t.Hooks[i], t.eventAgain(run, u), 1) != nil { // people were warned of it before
			failed[u.Hook] = true
			still = append(still, u)
		}
	}
	return still
}
