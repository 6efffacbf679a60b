package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// broken has every git command that this program starts from now on with a text in its arguments
// do something else than it should: what the shell does with do, in which $git is git.
func broken(t *testing.T, text, do string) {
	t.Helper()
	git, err := exec.LookPath("git")
	must(t, err)
	dir := t.TempDir()
	write(t, dir+"/git", fmt.Sprintf("#!/bin/sh\ngit='%s'\ncase \"$*\" in *'%s'*) %s ;; esac\nexec \"$git\" \"$@\"\n", git, text, do))
	must(t, os.Chmod(dir+"/git", 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// failing is git that cannot read its own objects.
const failing = `echo "fatal: unable to read: Input/output error" >&2; exit 128`

// That git fails does not say that there is no repository, or no commit in it.
func TestFindTellsWhyGitFailed(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, user string)
		want  string
	}{
		"no answer":              {func(t *testing.T, _ string) { broken(t, "rev-parse", failing) }, "unable to read: Input/output error"},
		"a broken configuration": {func(t *testing.T, user string) { write(t, user+"/.git/config", "[core\n") }, "bad config line"},
		"a format of later versions": {func(t *testing.T, user string) {
			write(t, user+"/.git/config", "[core]\nrepositoryformatversion = 99\n")
		}, "Expected git repo version"},
		"an empty commit": {func(t *testing.T, user string) {
			head := sh(t, user, "rev-parse", "HEAD")
			name := filepath.Join(user, ".git/objects", head[:2], head[2:])
			must(t, os.Remove(name))
			write(t, name, "")
		}, " is empty"},
		"an answer that was cut": {func(t *testing.T, user string) {
			sh(t, withRemote(t, user), "branch", "trunk")
			sh(t, user, "fetch", "-q", "origin")
			sh(t, user, "remote", "set-head", "origin", "trunk")
			broken(t, "rev-parse", `"$git" "$@" | head -n 7; kill -9 $$`) // else main would be taken for the default branch
		}, "signal: killed"},
	} {
		t.Run(name, func(t *testing.T) {
			user := newUser(t, map[string]string{"a.txt": "a\n"})
			tt.spoil(t, user)
			_, err := Find(t.Context(), user)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "git cannot read "+user) {
				t.Errorf("it is %v, want %q", err, tt.want)
			}
			if errors.As(err, new(*NotARepository)) || errors.As(err, new(*NoCommits)) {
				t.Errorf("it is a %T", err)
			}
		})
	}
}

// Where it is not known whether a record is kept, none is not the answer.
func TestRecordThatCannotBeFetched(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	withRemote(t, user)
	r := openRun(t, user, pushing, keeping)
	commit(t, r, "one")
	shelve(t, r)
	must(t, r.Close())
	broken(t, "+"+KeptRefs, failing)
	_, err := tryOpen(t, user, pushing, keeping, func(o *Options) {
		o.Fit = func(read func(string) ([]byte, error)) error {
			_, err := read(record)
			return err
		}
	})
	if err == nil || errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "git fetch: unable to read: Input/output error") {
		t.Errorf("it is %v", err)
	}
}

// A file that cannot be read is not one that has no text, and a history that git does not tell is
// not one that was set back.
func TestMergeTellsWhyGitFailed(t *testing.T) {
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	r := openRun(t, user)
	from := r.Tip()
	write(t, r.Tree()+"/a.txt", "ours\n")
	commit(t, r, "one", "a.txt")
	moveBase(t, user, map[string]string{"a.txt": "theirs\n"})
	to, _, err := r.FindBase(t.Context(), "main", from)
	must(t, err)
	for _, text := range []string{"cat-file -s", "cat-file blob"} {
		t.Run(text, func(t *testing.T) {
			broken(t, text, failing)
			if _, _, err := r.Merge(t.Context(), to, from); err == nil || !strings.Contains(err.Error(), "read what conflicts at a.txt: git cat-file: unable to read: Input/output error") {
				t.Errorf("it is %v", err)
			}
		})
	}
	t.Run("history", func(t *testing.T) {
		broken(t, "merge-base --is-ancestor", failing)
		if _, _, err := r.FindBase(t.Context(), "main", from); err == nil || !strings.Contains(err.Error(), "git merge-base: unable to read: Input/output error") {
			t.Errorf("it is %v", err)
		}
	})
}

// In a conflict of a submodule there is nothing to read, and that is no failure.
func TestMergeOfSubmodules(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	sh(t, user, "branch", "-M", "main")
	withRemote(t, user)
	link := func(digit string) {
		sh(t, user, "update-index", "--add", "--cacheinfo", "160000,"+strings.Repeat(digit, 40)+",lib")
		sh(t, user, "commit", "-qm", "lib")
	}
	link("1")
	from := sh(t, user, "rev-parse", "HEAD")
	sh(t, user, "checkout", "-q", "-b", branch)
	link("2")
	r := openRun(t, user)
	sh(t, user, "checkout", "-q", "main")
	link("3")
	sh(t, user, "push", "-q", "origin", "main")
	to, _, err := r.FindBase(t.Context(), "main", from)
	must(t, err)
	_, result, err := r.Merge(t.Context(), to, from)
	must(t, err)
	if len(result.Conflicts) != 1 || result.Conflicts[0].Path != "lib" || result.Conflicts[0].Theirs.Data != nil {
		t.Errorf("the conflicts are %+v", result.Conflicts)
	}
}
