//go:build slow || e2e

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// picture is what a turn leaves behind, without times, names of commits, and
// how often something was tried.
type picture struct {
	Status    metadata.Status
	Stop      *metadata.Stop
	Steps     []string // that succeeded, in order, or sorted where several are at work
	Phases    map[string]metadata.Phase
	Rollbacks []metadata.Rollback
	Files     map[string]string // on the branch
	Code      string            // in the work tree of the run, and what is different there
	Branches  string            // of the user's repository and of origin
	Left      []string          // files besides
}

// never are what is never the same twice: times, and commits in marks of a conflict.
var never = regexp.MustCompile(`(?m)\d{4}-\d\d-\d\dT[0-9:.]+Z|^\|{7} [0-9a-f]+$`)

// older is the record that is kept by name of a run that has gone on since.
var older = regexp.MustCompile(`[0-9a-f]+ refs/reprise/records/`)

// picture takes a picture, and holds every commit against its record.
func (sc *scene) picture() picture {
	sc.t.Helper()
	run := sc.holds("7")
	p := picture{Status: run.Status, Stop: run.Stop, Steps: strings.Split(done(run), ", "), Phases: map[string]metadata.Phase{}, Rollbacks: run.RollbackHistory, Files: map[string]string{}}
	if sc.lanes > 1 {
		slices.Sort(p.Steps)
	}
	for _, ph := range run.Phases {
		ph.StartedAt, ph.CompletedAt, ph.Base, ph.Written = nil, nil, "", 0
		if ph.Checks != nil {
			ph.Checks = nil // durations; that they passed shows in the steps
		}
		if ph.Verdict != nil {
			ph.Verdict.Commit = "" // which has times in it
		}
		if c := ph.RollbackContext; c != nil {
			c.TriggeredAt = time.Time{}
		}
		p.Phases[ph.Name] = ph
	}
	for i := range p.Rollbacks {
		p.Rollbacks[i].Timestamp = time.Time{}
	}
	for _, name := range strings.Fields(sc.git("origin.git", "ls-tree", "-r", "--name-only", world.RecordAt(sc.path("origin.git"), environ.BranchPrefix+"7"))) {
		text := sc.git("origin.git", "show", world.RecordAt(sc.path("origin.git"), environ.BranchPrefix+"7")+":"+name)
		if filepath.Base(name) == metadata.File || strings.Contains(name, "/attempt-") {
			continue // the one is looked at above; the other is what an attempt that was lost had changed
		}
		p.Files[name] = never.ReplaceAllString(text, "NEVER")
	}
	tip := sc.origin("7")
	record := strings.TrimSpace(sc.git("origin.git", "rev-parse", world.RecordAt(sc.path("origin.git"), environ.BranchPrefix+"7")))
	for _, dir := range []string{"project", "origin.git"} {
		refs := strings.NewReplacer(tip, "TIP", record, "RECORD").Replace(sc.git(dir, "for-each-ref", "--format=%(objectname) %(refname)"))
		p.Branches += older.ReplaceAllString(refs, "OLDER refs/reprise/records/")
	}
	p.Code, p.Left = sc.code(p.Files), sc.left()
	for name := range p.Files {
		if filepath.Base(name) == metadata.StatementFile {
			p.Files[name] = "" // it has digests of what is never the same twice
		}
	}
	return p
}

// git runs git in a part of the stand.
func (sc *scene) git(dir string, args ...string) string {
	sc.t.Helper()
	return testenv.MustGit(sc.t, sc.path(dir), append([]string{"--no-optional-locks"}, args...)...)
}

// code says in what the work tree of the run is not what is on the branch.
func (sc *scene) code(want map[string]string) string {
	sc.t.Helper()
	trees, _ := filepath.Glob(sc.path("runs/*/7/tree")) // a valid pattern
	if len(trees) != 1 {
		return fmt.Sprintf("the work trees are %q", trees)
	}
	var wrong strings.Builder
	seen := map[string]bool{}
	err := world.WalkFiles(os.DirFS(trees[0]), func(name string, data []byte) error {
		if strings.HasPrefix(name, ".git/") || filepath.Base(name) == metadata.File || strings.Contains(name, "/attempt-") {
			return nil
		}
		seen[name] = true
		if text := never.ReplaceAllString(string(data), "NEVER"); text != want[name] {
			fmt.Fprintf(&wrong, "%s is %q; ", name, text)
		}
		return nil
	})
	testenv.Must(sc.t, err)
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if !seen[name] {
			fmt.Fprintf(&wrong, "%s is missing; ", name)
		}
	}
	return wrong.String()
}

// left lists the files of the stand besides work trees and objects. What a
// killed process had not committed is kept on purpose.
func (sc *scene) left() []string {
	sc.t.Helper()
	var all []string
	for _, part := range []string{"project/.git", "origin.git", "runs", "tmp"} {
		err := filepath.WalkDir(sc.path(part), func(name string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "objects" || d.Name() == "tree" || strings.HasSuffix(name, "refs/reprise")):
				return fs.SkipDir
			case d.IsDir(), strings.HasPrefix(d.Name(), "leftover-"), transcript.MatchString(name):
				return nil
			}
			rel, err := filepath.Rel(sc.dir, name)
			all = append(all, rel)
			return err
		})
		testenv.Must(sc.t, err)
	}
	return all
}

// transcript is the file of a call. A kill gives another number to the call that is
// made again, and leaves the file of the one that it cut.
var transcript = regexp.MustCompile(`/transcripts/attempt-[0-9]+\.jsonl$`)

// calls are the calls of the agent so far, each with how often.
func (sc *scene) calls() map[string]int {
	sc.t.Helper()
	data, err := os.ReadFile(sc.path("home/calls"))
	if err != nil && !os.IsNotExist(err) {
		sc.t.Fatal(err)
	}
	n := map[string]int{}
	for line := range bytes.Lines(data) {
		n[string(bytes.TrimSpace(line))]++
	}
	return n
}
