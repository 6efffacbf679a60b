// Package retry is how a pipeline says how often and when something is tried again.
package retry

import (
	"cmp"
	"time"

	"github.com/reprise-ci/reprise/internal/size"
)

// Retry says how often and when an infrastructure error is tried again.
type Retry struct {
	Max     int           `json:"max"`
	Initial size.Duration `json:"initial"`
	Factor  float64       `json:"factor"`
	Cap     size.Duration `json:"cap"`
}

// Settings is that as somebody wrote it: what is left out is nil.
type Settings struct {
	Max          *int
	Initial, Cap *size.Duration
	Factor       *float64
}

// Or takes what r leaves open from another, and from there on what is usual.
func (r Settings) Or(other Settings) Retry {
	out := Retry{Max: 3, Initial: size.Duration(time.Second), Factor: 2, Cap: size.Duration(time.Minute)}
	fill(&out.Max, cmp.Or(r.Max, other.Max))
	fill(&out.Initial, cmp.Or(r.Initial, other.Initial))
	fill(&out.Factor, cmp.Or(r.Factor, other.Factor))
	fill(&out.Cap, cmp.Or(r.Cap, other.Cap))
	return out
}

func fill[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
