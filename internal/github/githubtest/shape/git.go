package shape

import (
	"encoding/base64"
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Git makes objects of what git has in a repository.
type Git struct {
	Objects
	Of *state.Repository
}

// Ref is a ref such as heads/main.
func (g Git) Ref(ref, sha string) object {
	api := g.apiOf(g.Of)
	return object{
		"ref": "refs/" + ref, "node_id": state.Node("REF", g.Of.ID), "url": At(api, "git/refs", ref),
		"object": object{"sha": sha, "type": "commit", "url": At(api, "git/commits", sha)},
	}
}

// Branch is a branch and its newest commit.
func (g Git) Branch(branch, sha string) object {
	self := At(g.apiOf(g.Of), "branches", branch)
	return object{
		"name": branch, "commit": g.Commit(sha, "Work"), "_links": object{"self": self, "html": At(g.WebOf(g.Of), "tree", branch)},
		"protected": false, "protection": object{"enabled": false}, "protection_url": self + "/protection",
	}
}

// Commit is a commit with its message.
func (g Git) Commit(sha, message string) object {
	api, owner := g.apiOf(g.Of), g.simpleUser(g.Of.Owner)
	self, who := At(api, "commits", sha), object{"name": "Mona", "email": "mona@example.com", "date": stamp(g.State.Time())}
	return object{
		"sha": sha, "node_id": state.Node("C", g.Of.ID), "url": self, "html_url": At(g.WebOf(g.Of), "commit", sha), "comments_url": self + "/comments",
		"author": owner, "committer": owner, "parents": []any{},
		"commit": object{
			"author": who, "committer": who, "message": message, "comment_count": 0, "url": At(api, "git/commits", sha),
			"tree": object{"sha": sha, "url": At(api, "git/trees", sha)},
		},
	}
}

// Entry is something in a folder, without its content.
type Entry struct {
	Ref, Path, ID string
	Size          int
	Folder        bool
}

// Entry describes it.
func (g Git) Entry(e Entry) object {
	api := g.apiOf(g.Of)
	self, blob, html := At(api, "contents", e.Path)+"?ref="+url.QueryEscape(e.Ref), At(api, "git/blobs", e.ID), At(g.WebOf(g.Of), "blob", e.Ref, e.Path)
	out := object{
		"type": "file", "name": e.Path[strings.LastIndex(e.Path, "/")+1:], "path": e.Path, "sha": e.ID, "size": e.Size,
		"url": self, "git_url": blob, "html_url": html, "download_url": html,
		"_links": object{"self": self, "git": blob, "html": html},
	}
	if e.Folder {
		out["type"] = "dir"
	}
	return out
}

// LargeFile is from where on GitHub leaves the content of a file out.
const LargeFile = 1 << 20

// File is a file with its content, if that is not too large.
func (g Git) File(e Entry, content []byte) object {
	out := g.Entry(e)
	out["encoding"], out["content"] = "base64", encoded(content)
	if len(content) > LargeFile {
		out["encoding"], out["content"] = "none", ""
	}
	return out
}

// Blob is a file by its hash, however large.
func (g Git) Blob(id string, content []byte) object {
	return object{
		"sha": id, "node_id": state.Node("B", g.Of.ID), "size": len(content), "url": At(g.apiOf(g.Of), "git/blobs", id),
		"encoding": "base64", "content": encoded(content),
	}
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
