package pipelines

import (
	"cmp"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// Retry says how often and when an infrastructure error is tried again.
type Retry struct {
	Max     int       `json:"max"`
	Initial text.Time `json:"initial"`
	Factor  float64   `json:"factor"`
	Cap     text.Time `json:"cap"`
}

// Settings is that as somebody wrote it: what is left out is nil.
type RetrySettings struct {
	Max          *int
	Initial, Cap *text.Time
	Factor       *float64
}

// Or takes what r leaves open from another, and from there on what is usual.
func (r RetrySettings) Or(other RetrySettings) Retry {
	out := Retry{Max: 3, Initial: text.Time(time.Second), Factor: 2, Cap: text.Time(time.Minute)}
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
