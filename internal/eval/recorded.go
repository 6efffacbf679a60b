package eval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/text"
)

// recordings are the answers of agents that are kept beside a suite, a file for each
// trial. The zero value keeps none and plays none.
type recordings struct {
	dir           string
	record, plays bool
}

// recordedIn is the folder of a suite with the recordings.
const recordedIn = "recorded"

func (r recordings) file(t Trial) string {
	return filepath.Join(r.dir, t.Variant, t.Case, fmt.Sprintf("%d.jsonl", t.Run))
}

func (r recordings) has(t Trial) bool {
	_, err := os.Stat(r.file(t))
	return err == nil
}

// own is the recording of a trial in the folder where it is carried out.
func own(dir string) string { return filepath.Join(dir, "recording.jsonl") }

// begun reports whether a trial that was begun in a folder can be gone on with: what it
// asked so far is recorded, where it is to be.
func (r recordings) begun(dir string) bool {
	_, err := os.Stat(own(dir))
	return err == nil || !r.record && !r.plays
}

// begin makes what a trial records in, or what it plays.
func (r recordings) begin(t Trial, dir string) (err error) {
	var data []byte
	if r.plays {
		if data, err = os.ReadFile(r.file(t)); err != nil {
			return err
		}
	}
	if r.plays || r.record {
		err = os.WriteFile(own(dir), data, 0o600)
	}
	return err
}

// variables are what a process is told in which the trial is carried out.
func (r recordings) variables(dir string) []string {
	switch {
	case r.plays:
		return []string{rehearsal.Plays + "=" + own(dir)}
	case r.record:
		return []string{rehearsal.Records + "=" + own(dir)}
	}
	return nil
}

// keep puts the recording of a trial that is over beside the suite.
func (r recordings) keep(t Trial, dir string) error {
	if !r.record {
		return nil
	}
	data, err := os.ReadFile(own(dir))
	if err != nil {
		return err
	}
	return writeWhole(r.file(t), data)
}

// played leaves of the trials those that are recorded, and the first of each case, which is
// stale without a recording. The suite is left with the variants of which there are some.
func (s *Suite) played(all []Trial, r recordings) ([]Trial, error) {
	some := map[string]bool{} // by variant
	for _, t := range all {
		some[t.Variant] = some[t.Variant] || r.has(t)
	}
	s.Variants = slices.DeleteFunc(slices.Clone(s.Variants), func(v Variant) bool { return !some[v.Name] })
	if len(s.Variants) == 0 {
		return nil, exit.Usagef("no run of these is recorded in %s; record some first: reprise eval %s --record", r.dir, text.QuoteShell(s.dir))
	}
	return slices.DeleteFunc(slices.Clone(all), func(t Trial) bool { return !some[t.Variant] || t.Run > 1 && !r.has(t) }), nil
}

// judged gives a result with what is stale about it, which keeps it from being solved: the
// answers are to other questions.
func (r Result) judged(misses []string) Result {
	for _, s := range r.Stale {
		r.Misses = append(r.Misses, "stale: "+s)
	}
	r.Misses = append(r.Misses, misses...)
	r.Solved = len(r.Misses) == 0
	return r
}

// stale gives which call of a trial was asked otherwise than it was recorded.
func (r recordings) stale(dir string) ([]string, error) {
	said, err := os.ReadFile(rehearsal.StaleFile(own(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return []string{string(said)}, err
}
