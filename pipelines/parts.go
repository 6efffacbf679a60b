package pipelines

import "encoding/json"

// PhaseSplit says how the parts of a phase are done. The zero value stands for the
// default.
type PhaseSplit struct {
	// Review is "whole" if nothing but the whole is reviewed, once all parts are
	// done. Else each part is reviewed, too.
	Review string `json:"review,omitempty"`
}

// PartPhase is the name of the phase that a rule splits; empty: none. An author may
// write true, which reads as Next.
type PartPhase string

// Next stands for the next phase that may change the code.
const NextPhase PartPhase = "*"

// UnmarshalJSON reads either form.
func (p *PartPhase) UnmarshalJSON(data []byte) error {
	if string(data) == "true" {
		*p = NextPhase
		return nil
	}
	return json.Unmarshal(data, (*string)(p))
}

// FoundParts reports whether a report, by its JSON Schema, can have tasks.
func FoundParts(report json.RawMessage) bool {
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
