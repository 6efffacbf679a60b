package agents

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// CopyTranscripts copies the transcripts in a folder into another one, once more through mask, the newest first and at
// most so many bytes. It gives the number of files left out.
func CopyTranscripts(from, to string, most int, mask func(string) string) (left int, err error) {
	attempts, err := KeptAttempts(from)
	if err != nil || len(attempts) == 0 {
		return 0, err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return 0, err
	}
	for _, n := range slices.Backward(attempts) {
		data, err := os.ReadFile(filepath.Join(from, name(n)))
		if err != nil {
			return left, err
		}
		if len(data) > most {
			left++
			continue
		}
		most -= len(data)
		if err := os.WriteFile(filepath.Join(to, name(n)), []byte(mask(string(data))), 0o600); err != nil {
			return left, err
		}
	}
	return left, nil
}

// Kept is a transcript that lies in a folder.
type Kept struct {
	Dir     string    // that has the file
	Attempt int       // its number, as the machine counted that had the call
	Call    CallStart // without the prompt
	At      time.Time
}

// deepest is how far below the folder that people name transcripts are looked for: an
// artifact in a folder of its own has them in another one.
const deepest = 2

// FindKept finds the transcripts in a folder into which artifacts of jobs were downloaded, in
// the order in which their calls began.
func FindKept(dir string) ([]Kept, error) {
	var all []Kept
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if below, err := filepath.Rel(dir, name); err != nil || below != "." && strings.Count(below, string(filepath.Separator)) >= deepest {
			return filepath.SkipDir
		}
		here, err := KeptIn(name)
		all = append(all, here...)
		return err
	})
	slices.SortStableFunc(all, func(a, b Kept) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Attempt, b.Attempt)) })
	return all, err
}

// KeptIn gives the transcripts that lie in a folder, by their numbers. One that does not say
// what it is of is none.
func KeptIn(dir string) (all []Kept, err error) {
	attempts, err := KeptAttempts(dir)
	for _, n := range attempts {
		r, err := OpenTranscript(dir, n)
		if err != nil {
			return nil, err
		}
		first, err := r.next()
		_ = r.Close() // opened for reading
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		if first.Call != nil {
			first.Call.Prompt = ""
			all = append(all, Kept{dir, n, *first.Call, first.At})
		}
	}
	return all, err
}
