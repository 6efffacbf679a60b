//go:build slow

package git

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func keeping(o *Options) { o.Keep = "issue-7" }

// shelve takes the state folder off the branch.
func shelve(t *testing.T, r *Repo) (record string) {
	t.Helper()
	record = r.Tip()
	if _, err := r.Commit(t.Context(), Commit{Message: "finish\n\nReprise-Issue: 7", Shelve: true, Time: noon}); err != nil {
		t.Fatal(err)
	}
	return record
}

func TestShelveAndPutBack(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	r := openRun(t, user, pushing, keeping)
	write(t, r.Tree()+"/a.txt", "changed\n")
	commit(t, r, "one", "a.txt")
	write(t, r.Tree()+"/"+state+"/01_plan/plan.md", "plan\n")
	commit(t, r, "two", state+"/01_plan/plan.md")
	kept := shelve(t, r)

	if got := sh(t, bare, "ls-tree", "-r", "--name-only", "refs/heads/"+branch); got != "a.txt" {
		t.Errorf("the branch at the remote has %q", got)
	}
	if got := sh(t, bare, "rev-parse", "refs/reprise/records/issue-7"); got != kept {
		t.Errorf("the record is kept at %s, want %s", got, kept)
	}
	if got := sh(t, user, "rev-parse", "refs/reprise/records/issue-7"); got != kept {
		t.Errorf("here the record is kept at %s, want %s", got, kept)
	}
	if got := sh(t, bare, "log", "-1", "--format=%(trailers:key=Reprise-Record,valueonly)", "refs/heads/"+branch); strings.TrimSpace(got) != kept {
		t.Errorf("the trailer names %q, want %s", got, kept)
	}
	check := func(r *Repo, when string) {
		t.Helper()
		if r.Record() != kept {
			t.Errorf("%s: the record is at %s, want %s", when, r.Record(), kept)
		}
		for _, name := range []string{record, state + "/01_plan/plan.md"} {
			if data, err := r.ReadFile(t.Context(), r.Tip(), name); err != nil || len(data) == 0 || string(data) != read(t, r.Tree()+"/"+name) {
				t.Errorf("%s: %s has %q (%v), and the tree %q", when, name, data, err, read(t, r.Tree()+"/"+name))
			}
		}
		if diff := cmp.Diff([]string(nil), changed(t, r)); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
		tip := r.Tip()
		if again, err := r.Commit(t.Context(), Commit{Message: "again", Shelve: true, Time: noon}); err != nil || again != tip {
			t.Errorf("%s: what is not on the branch was taken off it: %s, %v", when, again, err)
		}
	}
	check(r, "at once")
	r.Close()
	check(openRun(t, user, pushing, keeping), "started again") // closed with the test: the next ones are elsewhere

	clone := realTemp(t) + "/clone"
	sh(t, user, "clone", "-q", "-b", branch, bare, clone)
	write(t, clone+"/b.txt", "by hand\n") // on top of it
	sh(t, clone, "add", "-A")
	sh(t, clone, "commit", "-q", "-m", "by hand")
	sh(t, clone, "push", "-q", "origin", branch)
	src := found(t, clone)
	if got, err := src.Shelf(t.Context(), branch, state); err != nil || got != kept {
		t.Errorf("in a clone the record is at %s (%v), want %s", got, err, kept)
	}
	if _, err := src.Shelf(t.Context(), branch, ".reprise/issue-8"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of another issue: %v", err)
	}
	other := openRun(t, clone, pushing, keeping)
	check(other, "in a clone")
	must(t, os.Remove(other.Tree()+"/"+state+"/01_plan/plan.md"))
	must(t, other.Restore(t.Context()))
	check(other, "after something was removed and restored")
	write(t, other.Tree()+"/a.txt", "and on\n")
	if _, err := commitPaths(t.Context(), other, Commit{
		Message: "on", Time: noon, Files: map[string][]byte{record: []byte("{2}")},
		Moves: map[string]string{state + "/01_plan/plan.md": state + "/superseded/plan.md"},
	}, "a.txt"); err != nil {
		t.Fatal(err)
	}
	want := "tree " + state + "\n" + record + "\n" + state + "/superseded/plan.md\na.txt\nb.txt"
	if got := "tree " + state + "\n" + sh(t, bare, "ls-tree", "-r", "--name-only", "refs/heads/"+branch); got != want {
		t.Errorf("after the next commit the branch has:\n%s", got)
	}
	if other.Record() != other.Tip() {
		t.Error("the folder is back, and the record not at the tip")
	}
	if diff := cmp.Diff([]string(nil), changed(t, other)); diff != "" {
		t.Error(diff)
	}
}

// The record of an earlier run of the same issue, whose branch is gone, stays in
// the history of the ref.
func TestKeepBesideAnOlderRecord(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	older := sh(t, user, "commit-tree", "-m", "older", "HEAD^{tree}")
	sh(t, user, "push", "-q", "origin", older+":refs/reprise/records/issue-7")
	r := openRun(t, user, pushing, keeping)
	commit(t, r, "one")
	kept := shelve(t, r)
	if got := sh(t, bare, "log", "-1", "--format=%P", "refs/reprise/records/issue-7"); got != kept+" "+older {
		t.Errorf("the ref joins %s", got)
	}
	if got := sh(t, bare, "ls-tree", "-r", "--name-only", "refs/reprise/records/issue-7", "--", state); got != record {
		t.Errorf("it has %q", got)
	}
}

func TestSquashAndGoOn(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	base := sh(t, user, "rev-parse", "HEAD")
	elsewhere := openRun(t, user, pushing, keeping)
	write(t, elsewhere.Tree()+"/a.txt", "changed\n")
	commit(t, elsewhere, "one", "a.txt")
	kept := commit(t, elsewhere, "two")
	elsewhere.Close()

	clone := realTemp(t) + "/clone"
	sh(t, user, "clone", "-q", bare, clone)
	r := openRun(t, clone, pushing, keeping)
	must(t, r.Squash(t.Context(), Commit{Message: "feat: all of it\n\nReprise-Issue: 7", Time: noon}, base))
	if got := sh(t, bare, "log", "--format=%s", base+"..refs/heads/"+branch); got != "feat: all of it" {
		t.Errorf("the branch has %q", got)
	}
	if got := sh(t, bare, "ls-tree", "-r", "--name-only", "refs/heads/"+branch) + sh(t, bare, "show", "refs/heads/"+branch+":a.txt"); got != "a.txtchanged" {
		t.Errorf("it has %q", got)
	}
	if got := sh(t, bare, "rev-parse", "refs/reprise/records/issue-7"); got != kept {
		t.Errorf("the record is kept at %s, want %s", got, kept)
	}
	r.Close()

	// The machine where it was made goes on: all of the history is there again.
	again := openRun(t, user, pushing, keeping)
	if again.Record() != kept || read(t, again.Tree()+"/"+record) != "two" {
		t.Errorf("the record is at %s, want %s", again.Record(), kept)
	}
	squashed := again.Tip()
	commit(t, again, "three")
	if got := sh(t, bare, "log", "-1", "--format=%P", "refs/heads/"+branch); got != kept+" "+squashed {
		t.Errorf("the next commit has the parents %s", got)
	}
	if got := sh(t, bare, "ls-tree", "-r", "--name-only", "refs/heads/"+branch); got != record+"\na.txt" {
		t.Errorf("it has %q", got)
	}
	if diff := cmp.Diff([]string(nil), changed(t, again)); diff != "" {
		t.Error(diff)
	}
	log, err := again.Log(t.Context(), base)
	must(t, err)
	if len(log) != 3 || log[2].Subject != "step one" {
		t.Errorf("the log has %v", log)
	}
}

// Somebody has pushed since: their commit is not lost.
func TestSquashTooLate(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	base := sh(t, user, "rev-parse", "HEAD")
	r := openRun(t, user, pushing, keeping)
	commit(t, r, "one")
	was := r.Tip()
	theirs := sh(t, bare, "commit-tree", "-p", "refs/heads/"+branch, "-m", "theirs", "refs/heads/"+branch+"^{tree}")
	sh(t, bare, "update-ref", "refs/heads/"+branch, theirs)
	if err := r.Squash(t.Context(), Commit{Message: "all", Time: noon}, base); err == nil {
		t.Error("it was squashed")
	}
	if got := sh(t, bare, "rev-parse", "refs/heads/"+branch); got != theirs || r.Tip() != was {
		t.Errorf("the branch is at %s, the run at %s", got, r.Tip())
	}
}

// What is noted after the folder was taken off goes beside the branch, which stays,
// and two that do so at the same time do not both succeed.
func TestBesideTheBranch(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	older := sh(t, user, "commit-tree", "-m", "older", "HEAD^{tree}")
	sh(t, user, "push", "-q", "origin", older+":refs/reprise/records/issue-7")
	r := openRun(t, user, pushing, keeping)
	write(t, r.Tree()+"/a.txt", "changed\n")
	commit(t, r, "one", "a.txt")
	shelve(t, r)
	tip := r.Tip()
	aside := func(r *Repo, text string) error {
		_, err := r.Commit(t.Context(), Commit{Message: "aside", Aside: true, Time: noon, Files: map[string][]byte{record: []byte(text)}})
		return err
	}
	must(t, aside(r, "{2}"))
	must(t, aside(r, "{3}"))
	check := func(r *Repo, when string) {
		t.Helper()
		data, err := r.ReadFile(t.Context(), r.Tip(), record)
		if err != nil || string(data) != "{3}" || read(t, r.Tree()+"/"+record) != "{3}" || r.Tip() != tip {
			t.Errorf("%s at %s the record is %q (%v), in the tree %q", when, r.Tip(), data, err, read(t, r.Tree()+"/"+record))
		}
		if diff := cmp.Diff([]string(nil), changed(t, r)); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	check(r, "at once")
	for _, where := range []string{bare, user} {
		if got := sh(t, where, "rev-parse", "refs/heads/"+branch); got != tip {
			t.Errorf("the branch went on to %s", got)
		}
		if got := sh(t, where, "show", "refs/reprise/records/issue-7:"+record); got != "{3}" {
			t.Errorf("in %s the record is %q", where, got)
		}
	}
	r.Close()
	check(openRun(t, user, pushing, keeping), "started again")

	clone := realTemp(t) + "/clone"
	sh(t, user, "clone", "-q", bare, clone)
	second := realTemp(t) + "/clone"
	sh(t, user, "clone", "-q", bare, second)
	one, another := openRun(t, clone, pushing, keeping), openRun(t, second, pushing, keeping)
	check(one, "in a clone")
	src := found(t, user)
	shelved, err := src.Shelf(t.Context(), branch, state)
	must(t, err)
	if data, err := src.ReadFile(t.Context(), shelved, record); err != nil || string(data) != "{3}" {
		t.Errorf("it is looked at as %q (%v)", data, err)
	}
	must(t, aside(one, "{4}"))
	overtaken := func(what string, err error) {
		t.Helper()
		if moved := (*Moved)(nil); !errors.As(err, &moved) || !moved.Run {
			t.Errorf("%s by somebody who does not know that: %v", what, err)
		}
	}
	overtaken("a note", aside(another, "{lost}"))
	_, err = commitPaths(t.Context(), another, Commit{Message: "on", Time: noon, Files: map[string][]byte{record: []byte("{lost}")}})
	overtaken("another step", err)
	if got := sh(t, bare, "show", "refs/reprise/records/issue-7:"+record) + sh(t, bare, "rev-parse", "refs/heads/"+branch); got != "{4}"+tip {
		t.Errorf("then at the remote there is %s", got)
	}
	another.Close()
	again := openRun(t, second, pushing, keeping, func(o *Options) { o.TakeOther = true })
	if read(t, again.Tree()+"/"+record) != "{4}" {
		t.Errorf("who gives way finds %q", read(t, again.Tree()+"/"+record))
	}

	// The next step puts it back, and whoever is beside the branch learns of that.
	_, err = commitPaths(t.Context(), again, Commit{Message: "on", Time: noon, Files: map[string][]byte{record: []byte("{5}")}})
	must(t, err)
	if got := sh(t, bare, "show", "refs/heads/"+branch+":"+record); got != "{5}" {
		t.Errorf("the branch has %q", got)
	}
	overtaken("a note after the next step", aside(one, "{lost}"))
	_, err = commitPaths(t.Context(), one, Commit{Message: "on", Time: noon, Files: map[string][]byte{record: []byte("{lost}")}})
	overtaken("the next step, made twice,", err)
}

// A trailer that anybody can write leads to no other record: in a commit of the branch,
// and in what the base got by a merge whose message is the title of a pull request.
func TestForgedTrailers(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	bare := withRemote(t, user)
	write(t, user+"/"+record, "forged")
	sh(t, user, "checkout", "-q", "-b", "forged")
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-q", "-m", "a record of others")
	forged := sh(t, user, "rev-parse", "HEAD")
	trailer := "Reprise-Record: " + forged
	sh(t, user, "rm", "-q", "-r", ".reprise")
	sh(t, user, "commit", "-q", "-m", "take it off")
	sh(t, user, "checkout", "-q", "-")
	sh(t, user, "merge", "-q", "--no-ff", "-m", "Merge pull request #3 from mallory/forged\n\n"+trailer, "forged")
	sh(t, user, "push", "-q", "origin", "HEAD", "forged")

	r := openRun(t, user, pushing, keeping)
	if data, err := r.ReadFile(t.Context(), r.Tip(), record); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a new run has the record %q (%v)", data, err)
	}
	write(t, r.Tree()+"/a.txt", "changed\n")
	commit(t, r, "one", "a.txt")
	kept := shelve(t, r)
	r.Close()

	clone := realTemp(t) + "/clone"
	sh(t, user, "clone", "-q", "-b", branch, bare, clone)
	write(t, clone+"/b.txt", "b\n")
	sh(t, clone, "add", "-A")
	sh(t, clone, "commit", "-q", "-m", "by hand\n\nReprise-Issue: 7\nReprise-Phase: plan\n"+trailer)
	sh(t, clone, "push", "-q", "origin", branch)
	again := openRun(t, user, pushing, keeping)
	if again.Record() != kept || read(t, again.Tree()+"/"+record) != "one" {
		t.Errorf("the record is at %s with %q, want %s", again.Record(), read(t, again.Tree()+"/"+record), kept)
	}
	again.Close()
	src := found(t, clone)
	if got, err := src.Shelf(t.Context(), branch, state); err != nil || got != kept {
		t.Errorf("in a clone the record is at %s (%v), want %s", got, err, kept)
	}

	// The branch is set to the base by force: there is no run on it.
	sh(t, user, "push", "-q", "--force", "origin", "HEAD:refs/heads/"+branch, ":refs/reprise/records/issue-7")
	sh(t, clone, "fetch", "-q", "origin")
	if got, err := src.Shelf(t.Context(), "refs/remotes/origin/"+branch, state); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("on the base the record is at %s (%v)", got, err)
	}
	fresh := realTemp(t) + "/clone"
	sh(t, user, "clone", "-q", bare, fresh)
	taken := openRun(t, fresh, pushing, keeping)
	if data, err := taken.ReadFile(t.Context(), taken.Tip(), record); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a branch without a run has the record %q (%v)", data, err)
	}
}

// Two commits of somebody else, of which the second takes off a record that the first has
// written, as the run would: the record that the remote keeps is the one that counts, also
// where something was noted in it since. Neither of the two is one of the run.
func TestForgedPairOfCommits(t *testing.T) {
	t.Parallel()
	for _, noted := range []bool{false, true} {
		user := newUser(t, map[string]string{"a.txt": "a\n"})
		bare := withRemote(t, user)
		base := sh(t, user, "rev-parse", "HEAD")
		r := openRun(t, user, pushing, keeping)
		write(t, r.Tree()+"/a.txt", "changed\n")
		commit(t, r, "one", "a.txt")
		kept, want := shelve(t, r), "one"
		if noted {
			want = "noted"
			_, err := r.Commit(t.Context(), Commit{Message: "aside\n\nReprise-Issue: 7", Aside: true, Time: noon, Files: map[string][]byte{record: []byte(want)}})
			must(t, err)
			kept = r.Record()
		}
		r.Close()

		clone := realTemp(t) + "/clone"
		sh(t, user, "clone", "-q", "-b", branch, bare, clone)
		write(t, clone+"/"+record, "forged")
		write(t, clone+"/b.txt", "b\n")
		sh(t, clone, "add", "-A")
		sh(t, clone, "commit", "-q", "-m", "step\n\nReprise-Issue: 7\nReprise-Phase: plan\nReprise-Attempt: 1")
		forged := sh(t, clone, "rev-parse", "HEAD")
		sh(t, clone, "rm", "-q", "-r", ".reprise")
		sh(t, clone, "commit", "-q", "-m", "finish\n\nReprise-Issue: 7\nReprise-Record: "+forged)
		sh(t, clone, "push", "-q", "origin", branch)

		for _, where := range []string{user, clone} {
			again := openRun(t, where, pushing, keeping)
			if data, err := again.ReadFile(t.Context(), again.Tip(), record); err != nil || again.Record() != kept || string(data) != want {
				t.Errorf("noted: %v: the record is at %s with %q (%v), want %q at %s", noted, again.Record(), data, err, want, kept)
			}
			log, err := again.Log(t.Context(), base)
			must(t, err)
			var recorded []bool
			for _, c := range log {
				is, err := again.Recorded(t.Context(), c)
				must(t, err)
				recorded = append(recorded, is)
			}
			if diff := cmp.Diff([]bool{false, false, true, true}, recorded); diff != "" {
				t.Errorf("noted: %v: which commits the record knows (-want +got):\n%s", noted, diff)
			}
			again.Close()
		}
	}
}

// A run that ended on this machine alone and is pushed later is found, although the remote
// keeps the record of an earlier run.
func TestShelvedHereAlone(t *testing.T) {
	t.Parallel()
	user := newUser(t, map[string]string{"a.txt": "a\n"})
	withRemote(t, user)
	write(t, user+"/"+record, "earlier")
	sh(t, user, "add", "-A")
	sh(t, user, "commit", "-q", "-m", "of an earlier run")
	sh(t, user, "push", "-q", "origin", "HEAD:refs/reprise/records/issue-7")
	sh(t, user, "reset", "-q", "--hard", "HEAD~1")
	r := openRun(t, user, keeping)
	commit(t, r, "here")
	kept := shelve(t, r)
	r.Close()
	again := openRun(t, user, pushing, keeping)
	if again.Record() != kept || read(t, again.Tree()+"/"+record) != "here" {
		t.Errorf("the record is at %s with %q, want %s", again.Record(), read(t, again.Tree()+"/"+record), kept)
	}
}

// Killed between any two of its writes and started again, the same is there in the
// end: the record is kept, and then the folder leaves the branch here and there.
func TestShelveKilledBetween(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"the record was kept at the remote", "the commit was made here"} {
		user := newUser(t, map[string]string{"a.txt": "a\n"})
		bare := withRemote(t, user)
		r := openRun(t, user, pushing, keeping)
		kept := commit(t, r, "one")
		switch after {
		case "the record was kept at the remote":
			_, err := r.keep(t.Context(), r.Record())
			must(t, err)
			sh(t, user, "update-ref", "-d", "refs/reprise/records/issue-7")
		default:
			hook := bare + "/hooks/update"
			write(t, hook, "#!/bin/sh\ncase $1 in refs/heads/*) exit 1;; esac\n")
			must(t, os.Chmod(hook, 0o755))
			var refused *PushError
			if _, err := r.Commit(t.Context(), Commit{Message: "finish\n\nReprise-Issue: 7", Shelve: true, Time: noon}); !errors.As(err, &refused) {
				t.Errorf("a push that was refused: %v", err)
			}
			must(t, os.Remove(hook))
		}
		r.Close()

		again := openRun(t, user, pushing, keeping)
		_, err := again.Commit(t.Context(), Commit{Message: "finish\n\nReprise-Issue: 7", Shelve: true, Time: noon})
		must(t, err)
		again.Close()
		for _, where := range []string{bare, user} {
			if got := sh(t, where, "rev-parse", "refs/reprise/records/issue-7", "refs/heads/"+branch+"~1"); got != kept+"\n"+kept {
				t.Errorf("killed after %s: in %s the record and the commit before the tip are %s, want %s", after, where, got, kept)
			}
			if got := sh(t, where, "ls-tree", "-r", "--name-only", "refs/heads/"+branch); got != "a.txt" {
				t.Errorf("killed after %s: in %s the branch has %q", after, where, got)
			}
		}
	}
}
