package bot

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The most that is asked of GitHub for an estimate.
const (
	mostKept = 10 // records
	keptTime = 20 * time.Second
)

// kept gives runs of other issues whose records GitHub keeps by name, without those that
// are known: a checkout brings none of them. They are those of the newest issues. What
// GitHub does not say in time is left out, as nothing depends on it.
func kept(ctx context.Context, gh *github.Client, owner, name string, of metadata.Run, known []metadata.Run) []metadata.Run {
	ctx, cancel := context.WithTimeout(ctx, keptTime)
	defer cancel()
	beginning := git.KeptRefs + phases.RecordName("")
	var refs []struct {
		Ref    string `json:"ref"`
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	if _, err := gh.Ask(ctx, owner, name, github.Request{
		What: "list the records that are kept", Needs: "contents: read", Method: http.MethodGet,
		Path: "/git/matching-refs/" + strings.TrimPrefix(beginning, "refs/"),
	}, &refs); err != nil {
		return nil
	}
	at := map[string]string{} // the commit that has the record of a run, by its issue
	for _, r := range refs {
		id, is := strings.CutPrefix(r.Ref, beginning)
		if is && id != of.IssueNumber && metadata.CheckID(id) == nil {
			at[id] = r.Object.SHA
		}
	}
	for _, k := range known {
		delete(at, k.IssueNumber)
	}
	ids := issue.NewestFirst(at)
	found := make([]metadata.Run, min(len(ids), mostKept))
	var reading sync.WaitGroup
	for i, id := range ids[:len(found)] {
		reading.Go(func() {
			file := phases.RecordFile(id)
			data, err := gh.File(ctx, owner, name, at[id], file)
			if err == nil {
				found[i], err = metadata.ParseOf(id, data, file)
			}
			if err != nil {
				found[i] = metadata.Run{}
			}
		})
	}
	reading.Wait()
	return slices.DeleteFunc(found, func(r metadata.Run) bool { return r.IssueNumber == "" })
}
