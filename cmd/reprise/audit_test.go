package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// audit holds every commit of a run's branch against the record in it: each
// record is valid and may follow the one before, the commit's trailers name
// its newest attempt, no step has succeeded twice, and what a phase is said to
// have written is there. It returns the newest record.
func audit(repo, branch string) (metadata.Run, error) {
	var run metadata.Run
	commits, err := gitIn(repo, "log", "--reverse", "--first-parent", "--format=%H", branch, "--", ".reprise")
	if err != nil {
		return run, err
	}
	if commits == "" {
		return run, fmt.Errorf("%s has no commit of a run", branch)
	}
	for i, commit := range strings.Fields(commits) {
		next, err := recordAt(repo, commit, strings.TrimPrefix(branch, "reprise/"))
		if err != nil {
			return run, err
		}
		wrong := []error{truthful(repo, commit, next), once(next)}
		if i > 0 {
			wrong = append(wrong, follows(run, next))
		}
		if err := errors.Join(wrong...); err != nil {
			return run, fmt.Errorf("commit %d, %.12s: %w", i+1, commit, err)
		}
		run = next
	}
	return run, nil
}

func recordAt(repo, commit, folder string) (metadata.Run, error) {
	data, err := gitIn(repo, "show", commit+":.reprise/"+folder+"/"+metadata.File)
	if err != nil {
		return metadata.Run{}, err
	}
	return metadata.Parse([]byte(data), commit)
}

// follows says whether next may follow old. The record in which a step has
// begun is saved between two commits and has no commit of its own.
func follows(old, next metadata.Run) error {
	if next.Revision <= old.Revision {
		return fmt.Errorf("revision %d comes after %d", next.Revision, old.Revision)
	}
	old = old.Clone()
	old.Revision = next.Revision - 1
	for _, p := range next.Phases {
		before := old.Phase(p.Name)
		if before != nil && before.Status == metadata.PhasePending && p.Status == metadata.PhaseCompleted {
			before.Status = metadata.PhaseInProgress
		}
	}
	return metadata.CheckNext(old, next)
}

// once says whether a step has succeeded twice.
func once(run metadata.Run) error {
	seen := map[string]int{}
	for _, a := range run.Attempts {
		key := fmt.Sprintf("%s %s, generation %d, round %d", a.Phase, a.Step, a.Generation, a.Round)
		if a.Status == metadata.Succeeded && seen[key] > 0 {
			return fmt.Errorf("%s succeeded in attempts %d and %d", key, seen[key], a.N)
		}
		if a.Status == metadata.Succeeded {
			seen[key] = a.N
		}
	}
	return nil
}

// truthful says whether a commit is what its record says.
func truthful(repo, commit string, run metadata.Run) error {
	trailers, err := trailersOf(repo, commit)
	if err != nil {
		return err
	}
	if got := trailers["Reprise-Issue"]; got != run.IssueNumber {
		return fmt.Errorf("it is of issue %q, its record of %q", got, run.IssueNumber)
	}
	if n := trailers["Reprise-Attempt"]; n != "" {
		a := run.Attempts[len(run.Attempts)-1]
		if n != strconv.Itoa(a.N) || trailers["Reprise-Phase"] != a.Phase || trailers["Reprise-Step"] != string(a.Step) || a.Status == metadata.Started {
			return fmt.Errorf("its trailers are %v, its newest attempt is %+v", trailers, a)
		}
	}
	for _, p := range run.Phases {
		if p.Written > 0 && !slices.Contains([]metadata.AttemptStatus{metadata.Succeeded}, run.Attempts[p.Written-1].Status) {
			return fmt.Errorf("%s was written by attempt %d, which did not succeed", p.Name, p.Written)
		}
		if len(p.OutputFiles) == 0 {
			continue
		}
		text, err := gitIn(repo, "show", commit+":"+p.OutputFiles[0])
		if err != nil {
			return fmt.Errorf("the artifact of %s: %w", p.Name, err)
		}
		sum := sha256.Sum256([]byte(text))
		// A call that broke off, or brought too little, may have left a newer one.
		if p.Status == metadata.PhaseCompleted && hex.EncodeToString(sum[:]) != p.Digest {
			return fmt.Errorf("the artifact of %s is not what its review judged", p.Name)
		}
	}
	return nil
}

func trailersOf(repo, commit string) (map[string]string, error) {
	text, err := gitIn(repo, "show", "--no-patch", "--format=%(trailers:only,unfold)", commit)
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok {
			out[key] = value
		}
	}
	return out, err
}

// gitIn runs git in a repository and gives what it printed.
func gitIn(repo string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}
