package pipelines

import (
	"cmp"

	"github.com/reprise-ci/reprise/internal/text"
)

// Budget is what a run may spend; zero means no limit.
type Budget struct {
	USD      float64   `json:"usd,omitempty"`
	Tokens   int64     `json:"tokens,omitempty"`
	Time     text.Time `json:"time,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	IssueUSD float64   `json:"issue_usd,omitempty"` // over all runs of the issue
	DayUSD   float64   `json:"day_usd,omitempty"`   // of this run, in one day in UTC
	// RepoDayUSD is over all runs of the repository, in one day in UTC.
	RepoDayUSD float64 `json:"repo_day_usd,omitempty"`
}

// Limits is how much one step may change. The zero value stands for the
// defaults, and so does each field of it.
type Limits struct {
	Files  int       `json:"files,omitempty"`  // changed files, removed ones included; default 100
	Bytes  text.Size `json:"bytes,omitempty"`  // of the changed files together; default 4 MB
	Binary []string  `json:"binary,omitempty"` // path patterns of what may be binary, programs and archives included
}

// Most returns the two limits that count.
func (l Limits) Most() (files int, bytes text.Size) {
	return cmp.Or(l.Files, 100), cmp.Or(l.Bytes, 4*text.MB)
}

// Sandbox is what the sandbox leaves to agents and checks. The zero value stands
// for the usual, and so does each field of it.
type Sandbox struct {
	Sockets bool      `json:"sockets,omitempty"` // sockets with files of their own; where Landlock does not guard those of others, these are open, too
	File    text.Size `json:"file,omitempty"`    // the most that one file may have; usually 1 GB
	Disk    text.Size `json:"disk,omitempty"`    // the most that one call may write; usually 4 GB
}
