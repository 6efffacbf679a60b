//go:build slow

package git

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A job checks out one commit of one branch. What others have pushed is fetched beside it,
// and leaves no trace in the checkout.
func TestSurvey(t *testing.T) {
	for name, how := range map[string][]string{
		"job": {"true", "--depth=1"}, "origin does not filter": {"false", "--depth=1"}, "partial": {"true", "--depth=1", "--filter=blob:none"}, "whole": {"true"},
	} {
		t.Run(name, func(t *testing.T) {
			user := newUser(t, map[string]string{"a": "a\n"})
			bare := withRemote(t, user)
			sh(t, bare, "config", "uploadpack.allowFilter", how[0])
			begun := sh(t, user, "rev-parse", "HEAD")
			sh(t, user, "checkout", "-q", "-b", "reprise/issue-8")
			write(t, filepath.Join(user, "b"), "b\n")
			sh(t, user, "add", ".")
			sh(t, user, "commit", "-q", "-m", "of the run")
			theirs := sh(t, user, "rev-parse", "HEAD")
			sh(t, user, "push", "-q", "origin", "HEAD", "HEAD:reprise/issue-9", "HEAD:other", "HEAD:refs/reprise/records/issue-3")
			sh(t, user, "checkout", "-q", "main")
			write(t, filepath.Join(user, "a"), "more\n")
			sh(t, user, "commit", "-q", "-am", "more")
			sh(t, user, "push", "-q", "origin", "main")
			job := filepath.Join(filepath.Dir(user), "a job")
			sh(t, filepath.Dir(user), append(append([]string{"clone", "-q", "--single-branch"}, how[1:]...), "file://"+bare, job)...)
			before := sh(t, job, "count-objects", "-v") + sh(t, job, "for-each-ref") + sh(t, job, "config", "--local", "--list")

			src := found(t, job)
			var listed []string
			v, err := NewSurvey(t.Context(), src, filepath.Join(t.TempDir(), "origin"), nil, []string{"refs/heads/reprise/issue-", KeptRefs}, func(all []Ref) []Ref {
				for _, b := range all {
					listed = append(listed, b.Name)
				}
				return slices.DeleteFunc(all, func(b Ref) bool { return strings.HasSuffix(b.Name, "9") })
			})
			must(t, err)
			want := []string{"refs/heads/reprise/issue-8", "refs/heads/reprise/issue-9", "refs/reprise/records/issue-3"}
			if diff := cmp.Diff(want, listed); diff != "" {
				t.Errorf("to choose from (-want +got):\n%s", diff)
			}
			there, err := v.Refs(t.Context(), "refs/remotes/origin/reprise")
			if diff := cmp.Diff([]Ref{{Name: "refs/remotes/origin/reprise/issue-8", Commit: theirs}}, there); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			kept, err := v.Refs(t.Context(), KeptRefs)
			if err != nil || len(kept) != 1 {
				t.Errorf("records: %v, %v", kept, err)
			}
			if data, err := v.ReadFile(t.Context(), theirs, "b"); err != nil || string(data) != "b\n" {
				t.Errorf("a file of the run: %q, %v", data, err)
			}
			nowhere := strings.Repeat("1", 40) // as a record of anybody may say
			must(t, v.Need(t.Context(), "no hash", nowhere, begun, src.Head))
			change, err := v.Difference(t.Context(), begun, theirs)
			if err != nil || !strings.Contains(change.Text, "+b\n") || strings.Contains(change.Text, "more") {
				t.Errorf("what the run changes: %q, %v", change.Text, err)
			}
			if _, err := v.ReadFile(t.Context(), nowhere, "b"); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("a commit that is nowhere: %v", err)
			}
			dir := v.CommonDir
			v.Close()
			if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it outlives its end: %v", err)
			}
			if after := sh(t, job, "count-objects", "-v") + sh(t, job, "for-each-ref") + sh(t, job, "config", "--local", "--list"); after != before {
				t.Errorf("the checkout was changed:\n%s\nbefore:\n%s", after, before)
			}
			must(t, os.Rename(bare, bare+".gone"))
			if _, err := NewSurvey(t.Context(), src, filepath.Join(t.TempDir(), "origin"), nil, []string{KeptRefs}, func([]Ref) []Ref { return nil }); err == nil || !strings.Contains(err.Error(), "fetch branches of origin: git ls-remote") {
				t.Errorf("origin is gone: %v", err)
			}
		})
	}
}

func TestSurveyWithoutOrigin(t *testing.T) {
	src := found(t, newUser(t, map[string]string{"a": "a\n"}))
	if _, err := NewSurvey(t.Context(), src, filepath.Join(t.TempDir(), "origin"), nil, nil, nil); err == nil {
		t.Error("there is no origin, and nothing is said")
	}
}

// partial makes a clone of a repository with two commits, that has left objects
// out and not fetched them since.
func partial(t *testing.T, filter string) (clone, first string) {
	t.Helper()
	user := newUser(t, map[string]string{"main.txt": "one\n", "dir/sub/deep.txt": "deep\n", ".github/reprise/pipelines/own.cue": "name: \"own\"\n"})
	first = sh(t, user, "rev-parse", "HEAD")
	write(t, filepath.Join(user, "main.txt"), "two\n")
	sh(t, user, "commit", "-q", "-a", "-m", "second")
	bare := withRemote(t, user)
	sh(t, bare, "config", "uploadpack.allowFilter", "true")
	sh(t, bare, "config", "uploadpack.allowAnySHA1InWant", "true")
	clone = filepath.Join(filepath.Dir(user), "clone")
	sh(t, filepath.Dir(user), "clone", "-q", "--no-checkout", "--filter="+filter, "file://"+bare, clone)
	return clone, first
}

func TestPartialClone(t *testing.T) {
	for _, filter := range []string{"blob:none", "tree:0"} {
		t.Run(filter, func(t *testing.T) {
			clone, first := partial(t, filter)
			source := found(t, clone)
			if source.Partial() != filter {
				t.Errorf("the clone has left out %q, want %q", source.Partial(), filter)
			}
			data, err := source.ReadFile(t.Context(), "main", ".github/reprise/pipelines/own.cue")
			if err != nil || string(data) != "name: \"own\"\n" {
				t.Errorf("read from the user's repository: %q, %v", data, err)
			}
			folder, err := source.FS(t.Context(), "main", ".github/reprise")
			if err != nil || folder == nil {
				t.Errorf("a folder of the user's repository: %v, %v", folder, err)
			}
			r := openRun(t, clone, pushing)
			if got := read(t, filepath.Join(r.Tree(), "dir/sub/deep.txt")); got != "deep\n" {
				t.Errorf("the tree has %q", got)
			}
			write(t, filepath.Join(r.Tree(), "main.txt"), "three\n")
			commit(t, r, "a", "main.txt")
			text, _, err := diffOf(t, r, first) // whose file was never here
			if err != nil || !strings.Contains(text, "-one\n+three\n") {
				t.Errorf("the difference from an older commit is %q, %v", text, err)
			}
			if got := sh(t, clone, "ls-remote", "origin", branch); !strings.HasPrefix(got, r.Tip()) {
				t.Errorf("origin has %q, want %s", got, r.Tip())
			}
			back, err := r.RestoreTree(t.Context(), first, state)
			if err != nil || len(back.Paths) != 1 || read(t, filepath.Join(r.Tree(), "main.txt")) != "one\n" {
				t.Errorf("going back to an older commit changes %+v: %v", back, err)
			}
		})
	}
}

// A partial clone does not ask its remote for a commit that may be gone
// everywhere.
func TestPartialCloneLooksHereFirst(t *testing.T) {
	clone, _ := partial(t, "blob:none")
	r := openRun(t, clone)
	here, err := r.has(t.Context(), strings.Repeat("1", 40))
	if here || err != nil {
		t.Errorf("a commit that is nowhere: %v, %v", here, err)
	}
}

func TestPeek(t *testing.T) {
	user := newUser(t, map[string]string{"a": "a\n"})
	bare := withRemote(t, user)
	older := filepath.Join(filepath.Dir(user), "older")
	sh(t, filepath.Dir(user), "clone", "-q", bare, older)
	r := openRun(t, user, pushing)
	commit(t, r, "there")
	before := sh(t, older, "count-objects", "-v")

	source := found(t, older)
	survey, err := source.Peek(t.Context(), branch, "issue-7")
	must(t, err)
	defer survey.Close()
	data, err := survey.ReadFile(t.Context(), branch, record)
	if err != nil || string(data) != "there" {
		t.Errorf("read from origin: %q, %v", data, err)
	}
	if after := sh(t, older, "count-objects", "-v"); after != before {
		t.Errorf("looking has left objects behind:\n%s\nbefore:\n%s", after, before)
	}
	if _, err := source.Peek(t.Context(), "reprise/issue-8", "issue-8"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a branch that is not there: %v", err)
	}
}
