package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// State is how a file that init would write stands to what is there.
type FileState int

// The states of a file.
const (
	Missing  FileState = iota // nothing is there
	Same                      // it is there, with this text
	Outdated                  // it is there as an older version wrote it
	Edited                    // somebody has changed what was written
	Foreign                   // init did not write what is there
)

// Change is a file that init would write, and what is there.
type FileChange struct {
	GeneratedFile
	State FileState
	Was   string   // what is there
	Bases []string // texts that init may have written before, the likeliest first
}

// Compare looks at what is there. older gives the texts that a file had in
// earlier commits, newest first.
func CompareFiles(root *os.Root, files []GeneratedFile, older func(name string) ([][]byte, error)) ([]FileChange, error) {
	var changes []FileChange
	for _, f := range files {
		c := FileChange{GeneratedFile: f}
		old, err := root.ReadFile(f.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			changes = append(changes, c)
			continue
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.Name, err)
		}
		c.Was = string(old)
		c.State = c.state()
		if c.State == Edited {
			texts, err := older(f.Name)
			if err != nil {
				return nil, err
			}
			if kept, err := root.ReadFile(f.base()); err == nil {
				texts = append([][]byte{kept}, texts...)
			}
			c.Bases = bases(c.Was, texts)
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func (c FileChange) state() FileState {
	_, digest := bare(c.Was)
	switch {
	case Alike(c.Was, c.Text) && (digest == "" || untouched(c.Was)):
		return Same
	case Alike(c.Was, c.Text), untouched(c.Was): // the first has the stamp of another text: nothing is lost with it
		return Outdated
	case digest != "":
		return Edited
	}
	return Foreign
}

// bases gives those of the texts that are as init wrote them, and first the one
// that the stamp of a text names.
func bases(text string, texts [][]byte) (all []string) {
	_, named := bare(text)
	for _, t := range texts {
		if untouched(string(t)) {
			all = append(all, string(t))
		}
	}
	slices.SortStableFunc(all, func(a, b string) int {
		rank := func(t string) int {
			if _, d := bare(t); d == named {
				return 0
			}
			return 1
		}
		return rank(a) - rank(b)
	})
	return all
}

// Diff shows what writing the file would change, in the unified format.
func (c FileChange) Diff(now string) string {
	return string(diff.Diff("a/"+c.Name, []byte(c.Was), "b/"+c.Name, []byte(now)))
}

// Upgrades gives what is to be written so that what people have changed is kept. It
// is an error, for people, if that cannot be told apart from what init writes.
func (c FileChange) Upgrades() ([]GeneratedFile, error) {
	now, err := c.upgraded()
	switch {
	case err != nil || now == c.Was && c.State != Missing:
		return nil, err
	case c.State != Edited:
		return []GeneratedFile{{Name: c.Name, Text: now}}, nil
	}
	// No commit will have the text as it is without the changes of people.
	return []GeneratedFile{{Name: c.Name, Text: now}, {Name: c.base(), Text: c.Text}}, nil
}

func (c FileChange) upgraded() (string, error) {
	switch {
	case c.State == Missing || c.State == Outdated:
		return c.Text, nil
	case c.State == Same:
		return c.Was, nil
	case c.Upgrade != nil:
		return c.Upgrade(c.Was)
	case c.State == Foreign:
		return "", fmt.Errorf("%s was not written by init, or its line \"Written by\" is gone", c.Name)
	}
	if len(c.Bases) == 0 {
		return "", fmt.Errorf("%s was changed since init wrote it, and no commit has it as it was then", c.Name)
	}
	base, _ := bare(c.Bases[0])
	ours, _ := bare(c.Was)
	theirs, _ := bare(c.Text)
	merged, ok := merge(base, ours, theirs)
	if !ok {
		return "", fmt.Errorf("%s: you and init changed the same lines", c.Name)
	}
	return strings.Replace(merged, Mark, stamp.FindString(c.Text), 1), nil
}

// Write puts texts in place, by name.
func WriteFiles(root *os.Root, texts []GeneratedFile) error {
	for _, f := range texts {
		if err := root.MkdirAll(path.Dir(f.Name), 0o755); err != nil {
			return fmt.Errorf("make the folder of %s: %w", f.Name, err)
		}
		if err := root.WriteFile(f.Name, []byte(f.Text), 0o644); err != nil {
			return fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	return nil
}
