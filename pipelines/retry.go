package pipelines

import "github.com/reprise-ci/reprise/internal/text"

// Retry says how often and when an infrastructure error is tried again.
type Retry struct {
	Max     int       `json:"max"`
	Initial text.Time `json:"initial"`
	Factor  float64   `json:"factor"`
	Cap     text.Time `json:"cap"`
}
