package world

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// Audit holds every commit of a run's branch against the record in it: each
// record is valid and may follow the one before, the commit's trailers name
// its newest attempt, no step has succeeded twice, and what a phase is said to
// have written is there. It returns the newest record.
func Audit(repo, branch string) (metadata.Run, error) {
	var run metadata.Run
	all, err := commitsOf(repo, branch)
	if err != nil {
		return run, err
	}
	var artifacts []string
	for _, c := range all {
		for _, p := range c.run.Phases {
			if len(p.OutputFiles) > 0 {
				artifacts = append(artifacts, c.id+":"+p.OutputFiles[0])
			}
		}
	}
	texts, err := filesIn(repo, artifacts)
	if err != nil {
		return run, err
	}
	for i, c := range all {
		wrong := []error{c.truthful(texts), Once(c.run)}
		if i > 0 {
			wrong = append(wrong, metadata.CheckLater(run, c.run))
		}
		if err := errors.Join(wrong...); err != nil {
			return run, fmt.Errorf("commit %d, %.12s: %w", i+1, c.id, err)
		}
		run = c.run
	}
	return run, nil
}

// runCommit is a commit of a run with the record in it.
type runCommit struct {
	id       string
	trailers map[string]string
	run      metadata.Run
}

// RecordAt names the newest commit that has the record of a run: the branch, unless
// its folder was taken off that.
func RecordAt(repo, branch string) string {
	folder := strings.TrimPrefix(branch, "reprise/")
	if _, err := testenv.Git(repo, "rev-parse", "--verify", "--quiet", branch+":.reprise/"+folder); err == nil {
		return branch
	}
	if kept := git.KeptRefs + folder; exec.Command("git", "-C", repo, "rev-parse", "--verify", "--quiet", kept).Run() == nil {
		return kept
	}
	return branch
}

// commitsOf reads the commits of a run that have its record, oldest first.
func commitsOf(repo, branch string) ([]runCommit, error) {
	const mark = "commit "
	log, err := testenv.Git(repo, "log", "--reverse", "--first-parent", "--format="+mark+"%H%n%(trailers:only,unfold)", RecordAt(repo, branch), "--", ".reprise")
	if err != nil {
		return nil, err
	}
	var all []runCommit
	var records []string
	for line := range strings.Lines(log) {
		line = strings.TrimSpace(line)
		if id, ok := strings.CutPrefix(line, mark); ok {
			all = append(all, runCommit{id: id, trailers: map[string]string{}})
			records = append(records, id+":.reprise/"+strings.TrimPrefix(branch, "reprise/")+"/"+metadata.File)
		} else if key, value, ok := strings.Cut(line, ": "); ok {
			all[len(all)-1].trailers[key] = value
		}
	}
	for i := len(all) - 1; i >= 0; i-- {
		if all[i].trailers[git.RecordTrailer] != "" { // it takes the folder off
			all, records = slices.Delete(all, i, i+1), slices.Delete(records, i, i+1)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no commit of a run", branch)
	}
	texts, err := filesIn(repo, records)
	for i := range all {
		if err == nil {
			all[i].run, err = metadata.Parse([]byte(texts[records[i]]), records[i])
		}
	}
	return all, err
}

// filesIn reads files of commits, by names such as COMMIT:PATH, in one process
// however many they are. What is not there is missing in the answer.
func filesIn(repo string, names []string) (map[string]string, error) {
	c := exec.Command("git", "-C", repo, "cat-file", "--batch")
	c.Stdin = strings.NewReader(strings.Join(names, "\n") + "\n")
	out, err := c.Output()
	if err != nil {
		return nil, fmt.Errorf("git cat-file: %w", err)
	}
	texts, rest := map[string]string{}, string(out)
	for _, name := range names {
		var head, hash, kind string
		var size int
		head, rest, _ = strings.Cut(rest, "\n") // HASH blob SIZE, or NAME missing
		if n, _ := fmt.Sscan(head, &hash, &kind, &size); n == 3 && kind == "blob" {
			texts[name], rest = rest[:size], rest[size+1:]
		}
	}
	return texts, nil
}

// Once says whether a step has succeeded twice. After a merge of the base checks run
// again, and so do those that fail, once that is mended.
func Once(run metadata.Run) error {
	seen := map[string]int{}
	for _, a := range run.Attempts {
		merges := 0
		for _, m := range run.Merges {
			if m.Attempt < a.N {
				merges++
			}
		}
		of := func(step metadata.Step) string {
			return fmt.Sprintf("%s %s, generation %d, round %d, after %d merges", a.Phase, step, a.Generation, a.Round, merges)
		}
		if a.Step == metadata.Check && a.Verdict == metadata.Fail {
			delete(seen, of(metadata.Revise)) // it may have broken tests, and was taken back
			continue
		}
		key := of(a.Step)
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
func (c runCommit) truthful(texts map[string]string) error {
	run, trailers := c.run, c.trailers
	if got := trailers["Reprise-Issue"]; got != run.IssueNumber {
		return fmt.Errorf("it is of issue %q, its record of %q", got, run.IssueNumber)
	}
	if n := trailers["Reprise-Attempt"]; n != "" {
		at, err := strconv.Atoi(n)
		if err != nil || at < 1 || at > len(run.Attempts) {
			return fmt.Errorf("its trailers are %v, and there are %d attempts", trailers, len(run.Attempts))
		}
		a := run.Attempts[at-1]
		if trailers["Reprise-Phase"] != a.Phase || trailers["Reprise-Step"] != string(a.Step) || a.Status == metadata.Started {
			return fmt.Errorf("its trailers are %v, the attempt is %+v", trailers, a)
		}
	}
	for _, p := range run.Phases {
		if p.Written > 0 && !slices.Contains([]metadata.AttemptStatus{metadata.Succeeded}, run.Attempts[p.Written-1].Status) {
			return fmt.Errorf("%s was written by attempt %d, which did not succeed", p.Name, p.Written)
		}
		if len(p.OutputFiles) == 0 {
			continue
		}
		text, ok := texts[c.id+":"+p.OutputFiles[0]]
		if !ok {
			return fmt.Errorf("the artifact of %s is not there", p.Name)
		}
		sum := sha256.Sum256([]byte(text))
		// A call that broke off, or brought too little, may have left a newer one.
		if p.Status == metadata.PhaseCompleted && hex.EncodeToString(sum[:]) != p.Digest {
			return fmt.Errorf("the artifact of %s is not what its review judged", p.Name)
		}
	}
	return nil
}
