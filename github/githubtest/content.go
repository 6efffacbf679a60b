package githubtest

import (
	"encoding/base64"
	"net/url"
	"strconv"
	"strings"
)

// largeFile is from where on GitHub leaves the content of a file out.
const largeFile = 1 << 20

// getContents gives a file or a folder of a repository that is tied to git.
func (v *visit) getContents() result {
	ref, name := v.in.query.Get("ref"), v.in.params["path"]
	if ref == "" || ref == "HEAD" {
		ref = v.repo.DefaultBranch
	}
	sha := v.sha(v.repo, ref)
	if sha == "" || v.repo.bare == "" {
		return notFound()
	}
	kind, err := v.git(v.repo, "cat-file", "-t", sha+":"+name)
	if err != nil {
		return notFound()
	}
	if kind == "blob" {
		id, _ := v.git(v.repo, "rev-parse", sha+":"+name) // it is there
		return ok(v.fileObject(ref, name, id, true))
	}
	list, _ := v.git(v.repo, "ls-tree", sha+":"+name)
	all := []any{}
	for line := range strings.Lines(list) {
		meta, child, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta) // mode, type, hash
		entry := v.fileObject(ref, name+"/"+child, f[2], false)
		if f[1] == "tree" {
			entry["type"], entry["size"] = "dir", 0
		}
		all = append(all, entry)
	}
	return ok(all)
}

// fileObject describes a file, with its content if that is asked for and not
// too large.
func (v *visit) fileObject(ref, name, id string, content bool) object {
	api, web := v.apiOf(v.repo), v.webOf(v.repo)
	self, blob, html := at(api, "contents", name)+"?ref="+url.QueryEscape(ref), at(api, "git/blobs", id), at(web, "blob", ref, name)
	size, _ := v.git(v.repo, "cat-file", "-s", id)
	n, _ := strconv.Atoi(size)
	o := object{
		"type": "file", "name": name[strings.LastIndex(name, "/")+1:], "path": name, "sha": id, "size": n,
		"url": self, "git_url": blob, "html_url": html, "download_url": html,
		"_links": object{"self": self, "git": blob, "html": html},
	}
	if content {
		o["encoding"], o["content"] = "base64", v.encoded(id)
		if n > largeFile {
			o["encoding"], o["content"] = "none", ""
		}
	}
	return o
}

// encoded is what is in a blob, with the line breaks that GitHub puts in.
func (v *visit) encoded(id string) string {
	data, _ := v.gitBytes(v.repo, "cat-file", "blob", id) // it is there
	text := base64.StdEncoding.EncodeToString(data)
	var b strings.Builder
	for len(text) > 60 {
		b.WriteString(text[:60] + "\n")
		text = text[60:]
	}
	return b.String() + text + "\n"
}

// getBlob gives a file by its hash, however large.
func (v *visit) getBlob() result {
	id := v.in.params["file_sha"]
	size, err := v.git(v.repo, "cat-file", "-s", id)
	if err != nil {
		return notFound()
	}
	n, _ := strconv.Atoi(size)
	return ok(object{
		"sha": id, "node_id": node("B", v.repo.id), "size": n, "url": at(v.apiOf(v.repo), "git/blobs", id),
		"encoding": "base64", "content": v.encoded(id),
	})
}
