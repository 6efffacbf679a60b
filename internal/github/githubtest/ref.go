package githubtest

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Bare ties a repository to a bare git repository on disk: from now on its
// branches are what git has.
func (s *Server) Bare(repo, dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(repo).bare = dir
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
		return onDisk(r.bare, "refs/heads/"+branch)
	}
	if sha := r.branches[branch]; sha != "" || branch != r.DefaultBranch {
		return sha
	}
	return fmt.Sprintf("%x", sha1.Sum([]byte(r.fullName())))
}

// onDisk reads what a ref of a bare repository holds; empty if there is none. It
// is asked for so often that a process each time is felt.
func onDisk(dir, ref string) string {
	if data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(ref))); err == nil {
		return strings.TrimSpace(string(data))
	}
	packed, _ := os.ReadFile(filepath.Join(dir, "packed-refs")) // a repository may have none
	for line := range strings.Lines(string(packed)) {
		if sha, name, _ := strings.Cut(strings.TrimSpace(line), " "); name == ref {
			return sha
		}
	}
	return ""
}

// object gives what is in the repository on disk under a name.
func (s *Server) object(r *repository, name string) (id, kind string, data []byte, found bool) {
	c := exec.Command("git", "--git-dir", r.bare, "cat-file", "--batch")
	c.Stdin = strings.NewReader(name + "\n")
	out, _ := c.Output() // what is not there has no answer of this form
	head, data, _ := bytes.Cut(out, []byte("\n"))
	f := strings.Fields(string(head)) // id, kind, size
	if len(f) != 3 {
		return "", "", nil, false
	}
	return f[0], f[1], bytes.TrimSuffix(data, []byte("\n")), true
}

// git asks the repository on disk.
func (s *Server) git(r *repository, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", r.bare}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// ahead reports whether a branch has commits that another one has not.
func (s *Server) ahead(head *repository, branch string, base *repository, from string) bool {
	a, b := s.sha(head, branch), s.sha(base, from)
	if head.bare == "" || a == b {
		return a != b
	}
	n, err := s.git(head, "rev-list", "--count", b+".."+a)
	return err != nil || n != "0" // an error: they do not know each other
}

func (v *visit) getRef() result {
	ref := v.in.params["ref"]
	sha := v.sha(v.repo, strings.TrimPrefix(ref, "heads/"))
	if !strings.HasPrefix(ref, "heads/") {
		sha = onDisk(v.repo.bare, "refs/"+ref)
	}
	if sha == "" {
		return notFound()
	}
	return ok(v.refObject(ref, sha))
}

// listRefs gives the references whose names begin so: of a repository that is not on
// disk there are none but branches, which nobody asks for.
func (v *visit) listRefs() result {
	beginning, found := "refs/"+v.in.params["ref"], []any{}
	if v.repo.bare == "" {
		return ok(found)
	}
	out, err := v.git(v.repo, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return refuse(http.StatusConflict, "Git Repository is empty.")
	}
	for line := range strings.Lines(out) {
		sha, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if strings.HasPrefix(ref, beginning) {
			found = append(found, v.refObject(strings.TrimPrefix(ref, "refs/"), sha))
		}
	}
	return ok(found)
}

func (v *visit) refObject(ref, sha string) object {
	api := v.apiOf(v.repo)
	return object{
		"ref": "refs/" + ref, "node_id": node("REF", v.repo.id), "url": at(api, "git/refs", ref),
		"object": object{"sha": sha, "type": "commit", "url": at(api, "git/commits", sha)},
	}
}

func (v *visit) getBranch() result {
	branch := v.in.params["branch"]
	sha := v.sha(v.repo, branch)
	if sha == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	self := at(v.apiOf(v.repo), "branches", branch)
	return ok(object{
		"name": branch, "commit": v.commitObject(v.repo, sha), "_links": object{"self": self, "html": at(v.webOf(v.repo), "tree", branch)},
		"protected": false, "protection": object{"enabled": false}, "protection_url": self + "/protection",
	})
}

// listCommits gives the newest commits of a branch, merges and their parents in the order of
// their times.
func (v *visit) listCommits() result {
	found := []any{}
	if v.repo.bare == "" {
		return page(v, found, func(o any) any { return o })
	}
	from := v.in.query.Get("sha")
	if from == "" {
		from = v.repo.DefaultBranch
	}
	out, err := v.git(v.repo, "log", "-z", "--format=%H%n%B", from, "--")
	if err != nil {
		return notFound()
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		sha, message, _ := strings.Cut(one, "\n")
		o := v.commitObject(v.repo, sha)
		o["commit"].(object)["message"] = strings.TrimSpace(message)
		found = append(found, o)
	}
	return page(v, found, func(o any) any { return o })
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
