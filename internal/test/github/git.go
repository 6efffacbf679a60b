package github

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// bare is a bare git repository on disk, by its folder; "" is none, in which nothing is found.
type bare string

// ref is what a full name such as refs/heads/main leads to; empty if there is none. It
// is asked for so often that a process each time is felt.
func (b bare) ref(name string) string {
	if b == "" {
		return ""
	}
	if data, err := os.ReadFile(filepath.Join(string(b), filepath.FromSlash(name))); err == nil {
		return strings.TrimSpace(string(data))
	}
	packed, _ := os.ReadFile(filepath.Join(string(b), "packed-refs")) // a repository may have none
	for line := range strings.Lines(string(packed)) {
		if sha, packedName, _ := strings.Cut(strings.TrimSpace(line), " "); packedName == name {
			return sha
		}
	}
	return ""
}

// git gives what a command of git prints.
func (b bare) git(args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"--git-dir", string(b)}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// object gives what there is under a name, such as main:README.md.
func (b bare) object(name string) (id, kind string, data []byte, found bool) {
	c := exec.Command("git", "--git-dir", string(b), "cat-file", "--batch")
	c.Stdin = strings.NewReader(name + "\n")
	out, _ := c.Output() // what is not there has no answer of this form
	head, data, _ := bytes.Cut(out, []byte("\n"))
	f := strings.Fields(string(head)) // id, kind, size
	if len(f) != 3 {
		return "", "", nil, false
	}
	return f[0], f[1], bytes.TrimSuffix(data, []byte("\n")), true
}

// ahead reports whether a commit has others behind it that another commit has not, or
// the two do not know each other.
func (b bare) ahead(commit, of string) bool {
	n, err := b.git("rev-list", "--count", of+".."+commit)
	return err != nil || n != "0"
}

func refObject(ref, sha string) object {
	return object{"ref": ref, "object": object{"sha": sha, "type": "commit"}}
}

func (v *visit) getRef() reply {
	ref := v.params["ref"]
	sha := v.repo.bare.ref("refs/" + ref)
	if branch, is := strings.CutPrefix(ref, "heads/"); is {
		sha = v.repo.head(branch)
	}
	if sha == "" {
		return notFound()
	}
	return ok(refObject("refs/"+ref, sha))
}

// createRef makes a ref. Who only asks whether that is allowed names a commit that is not there.
func (v *visit) createRef() reply {
	ref, sha := v.text("ref"), v.text("sha")
	if _, _, _, found := v.repo.bare.object(sha + "^{commit}"); v.repo.bare == "" || !found {
		return refuse(http.StatusUnprocessableEntity, "Object does not exist")
	}
	if _, err := v.repo.bare.git("update-ref", ref, sha, fmt.Sprintf("%040d", 0)); err != nil {
		return refuse(http.StatusUnprocessableEntity, "Reference already exists")
	}
	return created(refObject(ref, sha))
}

// listRules lists the rules of a branch, which need not be there.
func (v *visit) listRules() reply {
	rules := v.repo.Rules
	if v.params["branch"] == cmp.Or(v.repo.DefaultBranch, "main") {
		rules = nil
	}
	return page(v, rules, func(kind string) object {
		return object{"type": kind, "ruleset_source_type": "Repository", "ruleset_source": v.repo.owner + "/" + v.repo.name, "ruleset_id": 42}
	})
}

// createCommit makes a commit of what is there. Without an author, and for an app, GitHub signs it in its own name.
func (v *visit) createCommit() reply {
	tree, message := v.text("tree"), v.text("message")
	if _, kind, _, found := v.repo.bare.object(tree); v.repo.bare == "" || !found || kind != "tree" {
		return refuse(http.StatusUnprocessableEntity, "Tree SHA does not exist")
	}
	parents, _ := field[[]any](v, "parents")
	_, own := field[object](v, "author")
	at, signed := time.Now().UTC(), v.token.installation && !own
	text := "tree " + tree + "\n"
	shown := []object{}
	for _, p := range parents {
		sha, _ := p.(string)
		if _, kind, _, found := v.repo.bare.object(sha); !found || kind != "commit" {
			return refuse(http.StatusUnprocessableEntity, "Parent SHA does not exist or is not a commit object")
		}
		text += "parent " + sha + "\n"
		shown = append(shown, object{"sha": sha, "url": v.repo.api() + "/git/commits/" + sha, "html_url": v.repo.api()})
	}
	who := object{"name": v.token.login, "email": v.token.login + "@users.noreply.github.com", "date": at.Format(time.RFC3339)}
	text += fmt.Sprintf("author %s <%[1]s@users.noreply.github.com> %d +0000\ncommitter GitHub <noreply@github.com> %[2]d +0000\n", v.token.login, at.Unix())
	verification := object{"verified": signed, "reason": "unsigned", "signature": nil, "payload": nil, "verified_at": nil}
	if signed {
		verification = object{"verified": true, "reason": "valid", "signature": forgeSignature, "payload": text + "\n" + message, "verified_at": nil}
		text += "gpgsig " + strings.ReplaceAll(forgeSignature, "\n", "\n ") + "\n"
	}
	c := exec.Command("git", "--git-dir", string(v.repo.bare), "hash-object", "-t", "commit", "-w", "--stdin")
	c.Stdin = strings.NewReader(text + "\n" + message)
	out, err := c.Output()
	if err != nil {
		return refuse(http.StatusUnprocessableEntity, "Invalid commit")
	}
	sha := strings.TrimSpace(string(out))
	return created(object{
		"sha": sha, "node_id": "C_1", "url": v.repo.api() + "/git/commits/" + sha, "html_url": v.repo.api(), "author": who, "committer": who,
		"message": message, "tree": object{"sha": tree, "url": v.repo.api()}, "parents": shown, "verification": verification,
	})
}

// forgeSignature stands where GitHub's signature does.
const forgeSignature = "-----BEGIN PGP SIGNATURE-----\n\nwsBcBAABCAAQ\n-----END PGP SIGNATURE-----"

func (v *visit) getBranch() reply {
	branch := v.params["branch"]
	sha := v.repo.head(branch)
	if sha == "" {
		return refuse(http.StatusNotFound, "Branch not found")
	}
	return ok(object{"name": branch, "commit": commitObject(sha, "Work")})
}

func commitObject(sha, message string) object {
	return object{"sha": sha, "commit": object{"message": message}}
}

// listCommits gives the newest commits of a branch, merges and their parents in the order of
// their times.
func (v *visit) listCommits() reply {
	var found []object
	if v.repo.bare != "" {
		out, err := v.repo.bare.git("log", "-z", "--format=%H%n%B", cmp.Or(v.query.Get("sha"), v.repo.DefaultBranch), "--")
		if err != nil {
			return notFound()
		}
		for one := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
			sha, message, _ := strings.Cut(one, "\n")
			found = append(found, commitObject(sha, strings.TrimSpace(message)))
		}
	}
	return page(v, found, func(o object) object { return o })
}

// largeFile is from where on GitHub leaves the content of a file out.
const largeFile = 1 << 20

// getContents gives a file or a folder of a repository that is tied to git.
func (v *visit) getContents() reply {
	ref, name := v.query.Get("ref"), v.params["path"]
	if ref == "" || ref == "HEAD" {
		ref = v.repo.DefaultBranch
	}
	sha := v.repo.head(ref)
	if sha == "" && len(ref) == 40 {
		sha = ref
	}
	if sha == "" || v.repo.bare == "" {
		return notFound()
	}
	id, kind, data, found := v.repo.bare.object(sha + ":" + name)
	if !found {
		return notFound()
	}
	entry := func(name, id, kind string) object {
		return object{
			"type": kind, "name": path.Base(name), "path": name, "sha": id,
			"url": v.repo.api() + "/contents/" + (&url.URL{Path: name}).EscapedPath() + "?ref=" + url.QueryEscape(ref),
		}
	}
	if kind == "blob" {
		out := entry(name, id, "file")
		out["size"], out["encoding"], out["content"] = len(data), "base64", encoded(data)
		if len(data) > largeFile {
			out["encoding"], out["content"] = "none", ""
		}
		return ok(out)
	}
	list, _ := v.repo.bare.git("ls-tree", id)
	all := []any{}
	for line := range strings.Lines(list) {
		meta, child, _ := strings.Cut(strings.TrimSpace(line), "\t")
		f := strings.Fields(meta) // mode, type, hash
		all = append(all, entry(name+"/"+child, f[2], map[string]string{"tree": "dir", "blob": "file"}[f[1]]))
	}
	return ok(all)
}

// getBlob gives a file by its hash, however large.
func (v *visit) getBlob() reply {
	id := v.params["file_sha"]
	_, _, data, found := v.repo.bare.object(id)
	if !found {
		return notFound()
	}
	return ok(object{"sha": id, "size": len(data), "encoding": "base64", "content": encoded(data)})
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

func (v *visit) getRun() reply {
	run := v.repo.runs[v.number("run_id")]
	if run == nil {
		return notFound()
	}
	return ok(v.repo.runObject(run))
}

func (v *visit) listJobs() reply {
	run, attempt := v.repo.runs[v.number("run_id")], int(v.number("attempt_number"))
	if run == nil || attempt > run.Attempt {
		return notFound()
	}
	var jobs []Job
	if attempt == run.Attempt {
		jobs = run.Jobs
	}
	return pageAs(v, "jobs", jobs, func(j Job) object { return v.repo.jobObject(run, j) })
}

// dispatchWorkflow starts a workflow of the default branch. Without git, there are all that
// somebody asks for.
func (v *visit) dispatchWorkflow() reply {
	ref, file := v.text("ref"), v.params["workflow_id"]
	if v.repo.head(ref) == "" {
		return refuse(http.StatusUnprocessableEntity, "No ref found for: "+ref)
	}
	if v.repo.bare != "" {
		if _, _, _, found := v.repo.bare.object("refs/heads/" + v.repo.DefaultBranch + ":.github/workflows/" + file); !found {
			return notFound()
		}
	}
	inputs, _ := field[object](v, "inputs")
	v.repo.dispatches = append(v.repo.dispatches, Dispatch{Workflow: file, Ref: ref, Inputs: inputs, By: v.login()})
	return nothing()
}

func (v *visit) dispatchEvent() reply {
	payload, _ := field[object](v, "client_payload")
	v.repo.dispatches = append(v.repo.dispatches, Dispatch{Type: v.text("event_type"), Inputs: payload, By: v.login()})
	return nothing()
}
