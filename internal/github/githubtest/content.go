package githubtest

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"os"
	"os/exec"
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
	if sha == "" && len(ref) == 40 {
		sha = ref
	}
	if sha == "" || v.repo.bare == "" {
		return notFound()
	}
	id, kind, data, found := v.object(v.repo, sha+":"+name)
	if !found {
		return notFound()
	}
	if kind == "blob" {
		return ok(v.fileObject(ref, name, id, len(data), data))
	}
	list, _ := v.git(v.repo, "ls-tree", "--long", id)
	all := []any{}
	for line := range strings.Lines(list) {
		meta, child, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta)     // mode, type, hash, size
		size, _ := strconv.Atoi(f[3]) // a folder has none
		entry := v.fileObject(ref, name+"/"+child, f[2], size, nil)
		if f[1] == "tree" {
			entry["type"], entry["size"] = "dir", 0
		}
		all = append(all, entry)
	}
	return ok(all)
}

// putContents commits a file: a new one, or in the place of the blob that the client has seen.
func (v *visit) putContents() result {
	said := func(name string) string { s, _ := field[string](v, name); return s }
	branch, seen, name := said("branch"), said("sha"), v.in.params["path"]
	if id, _, _, _ := v.object(v.repo, branch+":"+name); id != seen {
		return refuse(http.StatusConflict, name+" does not match "+seen)
	}
	const script = `b=$(base64 -d | git hash-object -w --stdin) && git read-tree "$1" && git update-index --add --cacheinfo "100644,$b,$2" &&
		c=$(git -c user.name=M -c user.email=m@example.com commit-tree -p "$1" -m "$3" "$(git write-tree)") && git update-ref "refs/heads/$1" "$c" && rm "$GIT_INDEX_FILE"`
	c := exec.Command("sh", "-c", script, "sh", branch, name, said("message"))
	c.Env, c.Stdin = append(os.Environ(), "GIT_DIR="+v.repo.bare, "GIT_INDEX_FILE="+v.repo.bare+"/notes.index"), strings.NewReader(said("content"))
	if out, err := c.CombinedOutput(); err != nil {
		v.host.Errorf("githubtest: commit %s to %s: %v: %s", name, branch, err, out)
	}
	return ok(object{"commit": object{"sha": v.sha(v.repo, branch)}, "content": nil})
}

// fileObject describes a file, with its content if that is given and not too
// large.
func (v *visit) fileObject(ref, name, id string, size int, content []byte) object {
	api, web := v.apiOf(v.repo), v.webOf(v.repo)
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
func (v *visit) getBlob() result {
	id := v.in.params["file_sha"]
	_, _, data, found := v.object(v.repo, id)
	if !found {
		return notFound()
	}
	return ok(object{
		"sha": id, "node_id": node("B", v.repo.id), "size": len(data), "url": at(v.apiOf(v.repo), "git/blobs", id),
		"encoding": "base64", "content": encoded(data),
	})
}
