// Package parts is how a pipeline says that a phase is done in parts.
package parts

import "encoding/json"

// Split says how the parts of a phase are done. The zero value stands for the
// default.
type Split struct {
	// Review is "whole" if nothing but the whole is reviewed, once all parts are
	// done. Else each part is reviewed, too.
	Review string `json:"review,omitempty"`
}

// Phase is the name of the phase that a rule splits; empty: none. An author may
// write true, which reads as Next.
type Phase string

// Next stands for the next phase that may change the code.
const Next Phase = "*"

// UnmarshalJSON reads either form.
func (p *Phase) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		*p = Next
		return nil
	}
	return json.Unmarshal(data, (*string)(p))
}

// Found reports whether a report, by its JSON Schema, can have tasks.
func Found(report json.RawMessage) bool {
	type text struct{ Type any }
	var s struct {
		Properties struct {
			Tasks struct {
				Items struct {
					Properties struct{ ID, Title, Goal text }
				}
			}
		}
	}
	is := &s.Properties.Tasks.Items.Properties
	return json.Unmarshal(report, &s) == nil && is.ID.Type == "string" && is.Title.Type == "string" && is.Goal.Type == "string"
}
