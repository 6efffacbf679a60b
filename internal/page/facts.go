package page

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Links are addresses that a comment points at. Those that are empty are left
// out.
type Links struct {
	Job         string // of the job that works on the run
	Branch      string
	PullRequest string // if empty, the one that the record names
	Report      string // the page of the run, or where it can be downloaded
	Files       string // what a path from the top of the repository is appended to
}

// Notices is what is known of a run beside its record, for those who read about
// it. The zero value says nothing.
type Notices struct {
	Links
	// Requests are commands that the record does not have, such as refused ones,
	// in any order. Those that it has are found there.
	Requests []Requested
	// Warnings are what went wrong beside the run, such as why there is no
	// pull request, each a sentence of a program.
	Warnings []string
	// NoChecks says that the newest push was made with GITHUB_TOKEN, for which
	// GitHub starts no workflow.
	NoChecks bool
	// Base is how the run stands to its base, if it lacks some of that.
	Base metadata.Reason
	// Near says which open runs of other issues change the same files.
	Near metadata.Reason
	// Elsewhere are the parts that jobs of the same run of the workflow work on.
	Elsewhere []string
	// Shut says that the pull request takes no more work, which a warning explains.
	Shut bool
	// Dispatched are the workflow files that were started because of that.
	Dispatched []string
}

// Requested is a command that somebody gave, and what became of it.
type Requested struct {
	At      time.Time
	By      string // login; empty if unknown
	Command string // as it was typed; its first line is shown
	Outcome string // a sentence, or empty
	URL     string // of the comment; may be empty
}

// Repository is where what belongs to a run is found.
type Repository struct {
	Server      string // of the forge; empty: GitHub's
	Owner, Name string
	Job         int64  // the run of the workflow; 0: none
	Tip         string // the newest commit that has the run's record; empty: it is not open
	Uploads     bool   // the job keeps the page of the run when it ends
}

// Links are the addresses of what belongs to a run.
func (r Repository) Links(run metadata.Run) Links {
	server := strings.TrimRight(r.Server, "/")
	server = cmp.Or(server, "https://github.com")
	home := fmt.Sprintf("%s/%s/%s", server, url.PathEscape(r.Owner), url.PathEscape(r.Name))
	l := Links{PullRequest: run.PRURL}
	if r.Job != 0 {
		l.Job = fmt.Sprintf("%s/actions/runs/%d", home, r.Job)
		if r.Uploads && run.Status != metadata.Running {
			l.Report = l.Job + "#artifacts"
		}
	}
	if r.Tip != "" {
		l.Branch = home + "/tree/" + (&url.URL{Path: run.BranchName}).EscapedPath()
		l.Files = home + "/blob/" + r.Tip + "/"
	}
	return l
}
