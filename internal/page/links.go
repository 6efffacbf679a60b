package page

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

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
	if server == "" {
		server = "https://github.com"
	}
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
