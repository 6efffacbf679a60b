package api

import (
	"net/http"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
)

// refHandler answers requests about branches and commits.
type refHandler struct{ *visit }

func (h refHandler) git() shape.Git { return shape.Git{Objects: h.show, Of: h.repo} }

func (h refHandler) getRef() Result {
	ref := h.in.params["ref"]
	sha := h.repo.Head(strings.TrimPrefix(ref, "heads/"))
	if !strings.HasPrefix(ref, "heads/") {
		sha = h.repo.Bare.Ref("refs/" + ref)
	}
	if sha == "" {
		return notFound()
	}
	return ok(h.git().Ref(ref, sha))
}

// listRefs gives the references whose names begin so: of a repository that is not on
// disk there are none but branches, which nobody asks for.
func (h refHandler) listRefs() Result {
	beginning, found := "refs/"+h.in.params["ref"], []any{}
	if h.repo.Bare == "" {
		return ok(found)
	}
	out, err := h.repo.Bare.Git("for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return refuse(http.StatusConflict, "Git Repository is empty.")
	}
	for line := range strings.Lines(out) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(ref, beginning) {
			found = append(found, h.git().Ref(strings.TrimPrefix(ref, "refs/"), sha))
		}
	}
	return ok(found)
}

func (h refHandler) getBranch() Result {
	branch := h.in.params["branch"]
	sha := h.repo.Head(branch)
	if sha == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	return ok(h.git().Branch(branch, sha))
}

// listCommits gives the newest commits of a branch, merges and their parents in the order of
// their times.
func (h refHandler) listCommits() Result {
	found := []any{}
	if h.repo.Bare == "" {
		return page(h.visit, found, func(o any) any { return o })
	}
	from := h.in.Query.Get("sha")
	if from == "" {
		from = h.repo.DefaultBranch
	}
	out, err := h.repo.Bare.Git("log", "-z", "--format=%H%n%B", from, "--")
	if err != nil {
		return notFound()
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		sha, message, _ := strings.Cut(one, "\n")
		found = append(found, h.git().Commit(sha, strings.TrimSpace(message)))
	}
	return page(h.visit, found, func(o any) any { return o })
}

// createRef makes a ref. Who only asks whether that is allowed names a commit that is not there.
func (h refHandler) createRef() Result {
	ref, _ := field[string](h.visit, "ref")
	sha, _ := field[string](h.visit, "sha")
	switch known, err := h.repo.Bare.Create(ref, sha); {
	case err != nil:
		return refuse(http.StatusUnprocessableEntity, "Reference already exists")
	case known:
		return created(h.git().Ref(ref[len("refs/"):], sha))
	}
	return refuse(http.StatusUnprocessableEntity, "Object does not exist")
}
