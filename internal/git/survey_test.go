package git

import (
	"errors"
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

			src, err := Find(t.Context(), job)
			must(t, err)
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
			there, err := v.BranchesIn(t.Context(), "refs/remotes/origin/", "reprise")
			if diff := cmp.Diff([]Ref{{Name: "reprise/issue-8", Commit: theirs}}, there); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			kept, err := v.BranchesIn(t.Context(), KeptRefs, "")
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
	src, err := Find(t.Context(), newUser(t, map[string]string{"a": "a\n"}))
	must(t, err)
	if _, err := NewSurvey(t.Context(), src, filepath.Join(t.TempDir(), "origin"), nil, nil, nil); err == nil {
		t.Error("there is no origin, and nothing is said")
	}
}
