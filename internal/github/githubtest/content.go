package githubtest

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"strings"
)

// largeFile is from where on GitHub leaves the content of a file out.
const largeFile = 1 << 20

// contentHandler answers requests about files.
type contentHandler struct{ *visit }

// getContents gives a file or a folder of a repository that is tied to git.
func (h contentHandler) getContents() result {
	ref, name := h.in.query.Get("ref"), h.in.params["path"]
	if ref == "" || ref == "HEAD" {
		ref = h.repo.DefaultBranch
	}
	sha := h.sha(h.repo, ref)
	if sha == "" && len(ref) == 40 {
		sha = ref
	}
	if sha == "" || h.repo.bare == "" {
		return notFound()
	}
	id, kind, data, found := h.repo.bare.Object(sha + ":" + name)
	if !found {
		return notFound()
	}
	if kind == "blob" {
		return ok(h.fileObject(ref, name, id, len(data), data))
	}
	list, _ := h.repo.bare.Git("ls-tree", "--long", id)
	all := []any{}
	for line := range strings.Lines(list) {
		meta, child, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta)     // mode, type, hash, size
		size, _ := strconv.Atoi(f[3]) // a folder has none
		entry := h.fileObject(ref, name+"/"+child, f[2], size, nil)
		if f[1] == "tree" {
			entry["type"], entry["size"] = "dir", 0
		}
		all = append(all, entry)
	}
	return ok(all)
}

// putContents commits a file: a new one, or in the place of the blob that the client has seen.
func (h contentHandler) putContents() result {
	said := func(name string) string { s, _ := field[string](h.visit, name); return s }
	branch, seen, name := said("branch"), said("sha"), h.in.params["path"]
	if id, _, _, _ := h.repo.bare.Object(branch + ":" + name); id != seen {
		return refuse(http.StatusConflict, name+" does not match "+seen)
	}
	if err := h.repo.bare.Put(branch, name, said("message"), said("content")); err != nil {
		h.host.Errorf("githubtest: %v", err)
	}
	return ok(object{"commit": object{"sha": h.sha(h.repo, branch)}, "content": nil})
}

// fileObject describes a file, with its content if that is given and not too
// large.
func (h contentHandler) fileObject(ref, name, id string, size int, content []byte) object {
	api, web := h.apiOf(h.repo), h.webOf(h.repo)
	self, blob, html := at(api, "contents", name)+"?ref="+url.QueryEscape(ref), at(api, "git/blobs", id), at(web, "blob", ref, name)
	o := object{
		"type": "file", "name": name[strings.LastIndex(name, "/")+1:], "path": name, "sha": id, "size": size,
		"url": self, "git_url": blob, "html_url": html, "download_url": html,
		"_links": object{"self": self, "git": blob, "html": html},
	}
	if content != nil {
		o["encoding"], o["content"] = "base64", encoded(content)
		if size > largeFile {
			o["encoding"], o["content"] = "none", ""
		}
	}
	return o
}

// encoded is data with the line breaks that GitHub puts in.
func encoded(data []byte) string {
	text := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	return b.String() + text + "\n"
}

// getBlob gives a file by its hash, however large.
func (h contentHandler) getBlob() result {
	id := h.in.params["file_sha"]
	_, _, data, found := h.repo.bare.Object(id)
	if !found {
		return notFound()
	}
	return ok(object{
		"sha": id, "node_id": node("B", h.repo.id), "size": len(data), "url": at(h.apiOf(h.repo), "git/blobs", id),
		"encoding": "base64", "content": encoded(data),
	})
}
