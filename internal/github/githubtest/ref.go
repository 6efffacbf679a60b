package githubtest

import (
	"crypto/sha1"
	"fmt"
	"net/http"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/bare"
)

// Bare ties a repository to a bare git repository on disk: from now on its
// branches are what git has.
func (s *Server) Bare(repo, dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(repo).bare = bare.Repository(dir)
}

// SetBranch says where a branch is, in a repository without git. The default
// branch is there without it. An empty commit takes the branch away.
func (s *Server) SetBranch(repo, branch, commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	delete(r.branches, branch)
	if commit != "" {
		r.branches[branch] = commit
	}
}

// sha is the commit of a branch; empty if there is none.
func (s *Server) sha(r *repository, branch string) string {
	branch = strings.TrimPrefix(branch, "refs/heads/")
	if r.bare != "" {
		return r.bare.Ref("refs/heads/" + branch)
	}
	if sha := r.branches[branch]; sha != "" || branch != r.DefaultBranch {
		return sha
	}
	return fmt.Sprintf("%x", sha1.Sum([]byte(r.fullName())))
}

// ahead reports whether a branch has commits that another one has not.
func (s *Server) ahead(head *repository, branch string, base *repository, from string) bool {
	a, b := s.sha(head, branch), s.sha(base, from)
	if head.bare == "" || a == b {
		return a != b
	}
	return head.bare.Ahead(a, b)
}

// refHandler answers requests about branches and commits.
type refHandler struct{ *visit }

func (h refHandler) getRef() result {
	ref := h.in.params["ref"]
	sha := h.sha(h.repo, strings.TrimPrefix(ref, "heads/"))
	if !strings.HasPrefix(ref, "heads/") {
		sha = h.repo.bare.Ref("refs/" + ref)
	}
	if sha == "" {
		return notFound()
	}
	return ok(h.refObject(ref, sha))
}

// listRefs gives the references whose names begin so: of a repository that is not on
// disk there are none but branches, which nobody asks for.
func (h refHandler) listRefs() result {
	beginning, found := "refs/"+h.in.params["ref"], []any{}
	if h.repo.bare == "" {
		return ok(found)
	}
	out, err := h.repo.bare.Git("for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return refuse(http.StatusConflict, "Git Repository is empty.")
	}
	for line := range strings.Lines(out) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(ref, beginning) {
			found = append(found, h.refObject(strings.TrimPrefix(ref, "refs/"), sha))
		}
	}
	return ok(found)
}

func (h refHandler) refObject(ref, sha string) object {
	api := h.apiOf(h.repo)
	return object{
		"ref": "refs/" + ref, "node_id": node("REF", h.repo.id), "url": at(api, "git/refs", ref),
		"object": object{"sha": sha, "type": "commit", "url": at(api, "git/commits", sha)},
	}
}

func (h refHandler) getBranch() result {
	branch := h.in.params["branch"]
	sha := h.sha(h.repo, branch)
	if sha == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	self := at(h.apiOf(h.repo), "branches", branch)
	return ok(object{
		"name": branch, "commit": h.commitObject(h.repo, sha), "_links": object{"self": self, "html": at(h.webOf(h.repo), "tree", branch)},
		"protected": false, "protection": object{"enabled": false}, "protection_url": self + "/protection",
	})
}

// listCommits gives the newest commits of a branch, merges and their parents in the order of
// their times.
func (h refHandler) listCommits() result {
	found := []any{}
	if h.repo.bare == "" {
		return page(h.visit, found, func(o any) any { return o })
	}
	from := h.in.query.Get("sha")
	if from == "" {
		from = h.repo.DefaultBranch
	}
	out, err := h.repo.bare.Git("log", "-z", "--format=%H%n%B", from, "--")
	if err != nil {
		return notFound()
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		sha, message, _ := strings.Cut(one, "\n")
		o := h.commitObject(h.repo, sha)
		o["commit"].(object)["message"] = strings.TrimSpace(message)
		found = append(found, o)
	}
	return page(h.visit, found, func(o any) any { return o })
}

func (s *Server) commitObject(r *repository, sha string) object {
	self, who := at(s.apiOf(r), "commits", sha), object{"name": "Mona", "email": "mona@example.com", "date": stamp(s.time())}
	return object{
		"sha": sha, "node_id": node("C", r.id), "url": self, "html_url": at(s.webOf(r), "commit", sha), "comments_url": self + "/comments",
		"author": s.simpleUser(r.owner), "committer": s.simpleUser(r.owner), "parents": []any{},
		"commit": object{
			"author": who, "committer": who, "message": "Work", "comment_count": 0, "url": at(s.apiOf(r), "git/commits", sha),
			"tree": object{"sha": sha, "url": at(s.apiOf(r), "git/trees", sha)},
		},
	}
}

// createRef makes a ref. Who only asks whether that is allowed names a commit that is not there.
func (h refHandler) createRef() result {
	ref, _ := field[string](h.visit, "ref")
	sha, _ := field[string](h.visit, "sha")
	switch known, err := h.repo.bare.Create(ref, sha); {
	case err != nil:
		return refuse(http.StatusUnprocessableEntity, "Reference already exists")
	case known:
		return created(h.refObject(ref[len("refs/"):], sha))
	}
	return refuse(http.StatusUnprocessableEntity, "Object does not exist")
}
