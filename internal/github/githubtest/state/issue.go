package state

import (
	"strings"
	"time"
)

// Issue is an issue. What a test leaves out is as on most issues.
type Issue struct {
	Number  int   // 0: the next one
	ID      int64 // given by the server
	Title   string
	Body    string // empty: null, as GitHub sends it
	Author  string // empty: octocat
	Labels  []string
	Type    string // empty: none
	State   string // empty: open
	Reason  string // why it is closed; empty: completed
	Locked  bool
	Pull    bool // it is a pull request
	Created time.Time
	Updated time.Time
}

// Pull is what a pull request has besides what an issue has.
type Pull struct {
	Number         int   // 0: the next one
	ID             int64 // given by the server
	Title, Body    string
	Author         string // empty: octocat
	State          string // empty: open
	Head           string // a branch
	HeadRepository string // owner/name; empty: the same repository
	Base           string // a branch; empty: the default one
	Draft          bool
	Merged         bool
}

// NodeID is the id of a pull request in GraphQL.
func (p Pull) NodeID() string { return Node("PR", p.ID) }

// Label is how GitHub names the head of a pull request.
func (p Pull) Label() string {
	owner, _, _ := strings.Cut(p.HeadRepository, "/")
	return owner + ":" + p.Head
}
