package api

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
)

// contentHandler answers requests about files.
type contentHandler struct{ *visit }

// getContents gives a file or a folder of a repository that is tied to git.
func (h contentHandler) getContents() Result {
	ref, name := h.in.Query.Get("ref"), h.in.params["path"]
	if ref == "" || ref == "HEAD" {
		ref = h.repo.DefaultBranch
	}
	sha := h.repo.Head(ref)
	if sha == "" && len(ref) == 40 {
		sha = ref
	}
	if sha == "" || h.repo.Bare == "" {
		return notFound()
	}
	id, kind, data, found := h.repo.Bare.Object(sha + ":" + name)
	if !found {
		return notFound()
	}
	git := refHandler(h).git()
	if kind == "blob" {
		return ok(git.File(shape.Entry{Ref: ref, Path: name, ID: id, Size: len(data)}, data))
	}
	list, _ := h.repo.Bare.Git("ls-tree", "--long", id)
	all := []any{}
	for line := range strings.Lines(list) {
		meta, child, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta)     // mode, type, hash, size
		size, _ := strconv.Atoi(f[3]) // a folder has none
		all = append(all, git.Entry(shape.Entry{Ref: ref, Path: name + "/" + child, ID: f[2], Size: size, Folder: f[1] == "tree"}))
	}
	return ok(all)
}

// putContents commits a file: a new one, or in the place of the blob that the client has seen.
func (h contentHandler) putContents() Result {
	said := func(name string) string { s, _ := field[string](h.visit, name); return s }
	branch, seen, name := said("branch"), said("sha"), h.in.params["path"]
	if id, _, _, _ := h.repo.Bare.Object(branch + ":" + name); id != seen {
		return refuse(http.StatusConflict, name+" does not match "+seen)
	}
	if err := h.repo.Bare.Put(branch, name, said("message"), said("content")); err != nil {
		h.report.Errorf("githubtest: %v", err)
	}
	return ok(object{"commit": object{"sha": h.repo.Head(branch)}, "content": nil})
}

// getBlob gives a file by its hash, however large.
func (h contentHandler) getBlob() Result {
	id := h.in.params["file_sha"]
	_, _, data, found := h.repo.Bare.Object(id)
	if !found {
		return notFound()
	}
	return ok(refHandler(h).git().Blob(id, data))
}
