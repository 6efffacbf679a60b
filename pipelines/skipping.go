package pipelines

import "github.com/reprise-ci/reprise/internal/text"

// If is what is asked before a phase begins; if it holds, the phase is left out. Exactly
// one of When and Run is set.
type SkipIf struct {
	When    string            `json:"when,omitempty"` // CUE text; holds when it subsumes the facts
	Run     string            `json:"run,omitempty"`  // for /bin/sh; holds when it exits with 0, and not with 1
	Timeout text.Time         `json:"timeout,omitzero"`
	Env     map[string]string `json:"env,omitempty"`
}

// Wrong is a mistake in what was written, and the field that has it.
type WrongSkip struct{ Field, Why string }

// At gives the keys of the field, for a place in the file.
func (w WrongSkip) At() []any {
	if w.Field == "" {
		return nil
	}
	return []any{w.Field}
}

// Check says what is wrong with a condition, of which a pipeline has written these fields.
func CheckSkip(written []string, i SkipIf, withheld func(name string) string) (all []WrongSkip) {
	has := map[string]bool{}
	for _, name := range written {
		has[name] = true
	}
	switch {
	case has["when"] == has["run"]:
		all = append(all, WrongSkip{"", "expected one of when and run"})
	case has["when"] && (has["timeout"] || has["env"]):
		all = append(all, WrongSkip{"when", "is no command; timeout and env go with run"})
	}
	for name := range i.Env {
		if why := withheld(name); why != "" {
			all = append(all, WrongSkip{"env", name + ": " + why})
		}
	}
	return all
}
