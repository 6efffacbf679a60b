package pipelines

import (
	"encoding/json"

	"github.com/reprise-ci/reprise/internal/text"
)

// Rule is what CI has to say of the newest commit before a pull request is ready. The
// zero value stands for the usual, and so does each field of it.
type CI struct {
	Wait     text.Time `json:"wait,omitempty"`    // how long a job waits for it; usually 20m
	Fixes    *int      `json:"fixes,omitempty"`   // how often the work is revised for what fails; usually 2
	Required Names     `json:"required,omitzero"` // nil: all that start; empty: nothing
}

// Names is a list of names, for which a file may also say "all": that is nil.
type Names []string

// UnmarshalJSON reads a list, or "all".
func (n *Names) UnmarshalJSON(data []byte) error {
	if string(data) == `"all"` {
		*n = nil
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}
