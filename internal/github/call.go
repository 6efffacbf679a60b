package github

import (
	"net/http"
	"time"
)

// call is one call with all its repetitions. It travels in the context of
// the requests.
type call struct {
	what       string // verb and object, such as "read issue 7 of acme/widget"
	needs      string // the permission that a token must have for it, such as "issues: write"
	gitea      string // the same where the forge is Gitea or Forgejo; empty: the same words
	known      string // the tag of what is known already; the answer may be that it is still so
	method     string
	repeatable bool   // doing it twice does the same as doing it once
	graphql    bool   // answers 200 with the errors in the body
	reads      bool   // creates nothing, whatever the method says
	accept     string // the form of the answer that is asked for; empty: the usual one
	leads      bool   // the answer says where to read on, which may be on another host
	doubts     bool   // that it is not there is believed when it was said twice
	began      time.Time
	tries      int
	problem    *Error        // of the newest try
	wait       time.Duration // before the next one
	ambiguous  bool          // a try may have been done although its answer was lost

	status int         // of the answer
	header http.Header // of the answer
	more   bool        // another page of the list follows
	last   int         // the number of its last page; 0: the forge does not say
}

// follows reports whether there is a page after one with so many entries. A forge that says
// nothing of pages may have one after a full page.
func (k *call) follows(count int) bool {
	return k.more || k.header.Get("Link") == "" && count >= perPage
}

type callKey struct{}
