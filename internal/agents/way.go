package agents

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/metadata"
)

// wayOf is what a call's way to its models has to know of it.
func wayOf(c cli, call *Call) gate.Call {
	t := call.Task
	way := gate.Call{
		Agent: c.name, Env: call.Env, Resumed: t.Resume, Turns: t.Turns, USD: t.BudgetUSD, Price: c.price, Proxy: c.opts.Proxy, Network: t.Network, Apart: c.opts.box.Apart(),
	}
	if c.check != nil {
		way.Agent = ""
	}
	if way.Exact = t.Models != nil; way.Exact || t.Model != "" {
		way.Models = slices.Concat(slices.Collect(maps.Values(c.agent.Models)), t.Models)
	}
	if t.Model != "" {
		way.Models = append(way.Models, t.Model)
	}
	for _, f := range logins(c.name, call.User, c.opts.Environ) {
		data, err := os.ReadFile(f.From) // what we cannot read, the program cannot either
		switch filepath.Base(f.From) {
		case "settings.json", "config.toml":
			way.Settings = data
		case "auth.json":
			way.Login = err == nil
		}
	}
	return way
}

// hear adds to what a program said of itself what its service answered it.
func (s *said) hear(c cli, t *gate.Trouble) {
	if t == nil {
		return
	}
	said := fmt.Sprintf("HTTP %d", t.Status)
	err := c.told(said+": "+t.Said, fmt.Errorf("the model's service refused (%s)", said))
	err.RetryAfter = max(t.RetryAfter, err.RetryAfter)
	if s.trouble == nil {
		s.trouble = err
	}
	vague := func(c metadata.Class) bool { return c == metadata.Crash || c == metadata.Network }
	switch {
	case s.failed == nil && t.Ends && !s.done:
		s.failed = err
	case s.failed != nil && (vague(s.failed.Class) || s.failed.Class == err.Class): // it did not say why, or not all
		s.failed.Class, s.failed.RetryAfter, s.failed.Hint = err.Class, max(s.failed.RetryAfter, err.RetryAfter), cmp.Or(s.failed.Hint, err.Hint)
	}
}
