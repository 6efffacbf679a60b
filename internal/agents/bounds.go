package agents

import (
	"math"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// The most that is believed of what a program prints, into which a command that its model started can write, too.
const (
	maxTokens  = 1_000_000_000_000
	maxUSD     = 1e9
	maxTimes   = 1_000_000 // turns
	maxDenials = 100
	maxDelay   = 32 * 24 * time.Hour // no service closes for longer
	maxWord    = 200                 // characters of a name
)

// sane brings a usage within what can be.
func sane(u metadata.Usage) metadata.Usage {
	u.InputTokens, u.CachedTokens, u.OutputTokens = tokens(u.InputTokens), tokens(u.CachedTokens), tokens(u.OutputTokens)
	u.Turns = min(max(u.Turns, 0), maxTimes)
	if u.USD = max(u.USD, 0); math.IsNaN(u.USD) || u.USD > maxUSD {
		u.USD = maxUSD // what cannot be told is rather too much than nothing
	}
	return u
}

func tokens(n int64) int64 { return min(max(n, 0), maxTokens) }

// delayOf is a delay in seconds.
func delayOf(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), maxDelay.Seconds()) * float64(time.Second))
}

// sessionForm is the form of a session's id, which is an argument of the next call and so begins unlike an option.
var sessionForm = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// sessionOf gives the id of a session as a program tells it, or otherwise.
func sessionOf(told, otherwise string) string {
	if sessionForm().MatchString(told) {
		return told
	}
	return otherwise
}

// wordFrom gives a name that a program tells, without what could not be one.
func wordFrom(text string) string { return process.OneLine(text, maxWord) }

// deny takes down that the use of a tool was refused.
func (s *said) deny(tool string) {
	if len(s.result.Denials) < maxDenials {
		s.result.Denials = append(s.result.Denials, wordFrom(tool))
	}
}

// words collects what an agent says in pieces, up to the length of a line.
type agentWords struct{ strings.Builder }

func (w *agentWords) add(text string) {
	w.WriteString(text[:min(len(text), max(process.MaxLine-w.Len(), 0))])
}
