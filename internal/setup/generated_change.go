package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"

	"github.com/rogpeppe/go-internal/diff"
)

// FileState is how a file that init would write stands to what is there.
type FileState int

// The states of a file.
const (
	Missing  FileState = iota // nothing is there
	Same                      // it is there, with this text
	Outdated                  // it is there as an older version wrote it
	Edited                    // somebody has changed what was written
	Foreign                   // init did not write what is there
)

// FileChange is a file that init would write, and what is there.
type FileChange struct {
	GeneratedFile
	State FileState
	Was   string // what is there
}

// CompareFiles looks at what is there.
func CompareFiles(root *os.Root, files []GeneratedFile) ([]FileChange, error) {
	var changes []FileChange
	for _, f := range files {
		c := FileChange{GeneratedFile: f}
		old, err := root.ReadFile(f.Name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read %s: %w", f.Name, err)
		default:
			c.Was = string(old)
			c.State = c.state()
		}
		changes = append(changes, c)
	}
	return changes, nil
}

func (c FileChange) state() FileState {
	_, digest := bare(c.Was)
	switch {
	case alike(c.Was, c.Text) && (digest == "" || Untouched(c.Was)):
		return Same
	case alike(c.Was, c.Text), Untouched(c.Was): // the first has the stamp of another text: nothing is lost with it
		return Outdated
	case digest != "":
		return Edited
	}
	return Foreign
}

// Diff shows what writing the file would change, in the unified format.
func (c FileChange) Diff(now string) string {
	return string(diff.Diff("a/"+c.Name, []byte(c.Was), "b/"+c.Name, []byte(now)))
}

// Upgraded gives what is to be written so that what people have changed stays: beside such a file, NAME.new. nil:
// nothing.
func (c FileChange) Upgraded() *GeneratedFile {
	state := c.State
	if state == Foreign && c.Stands != nil {
		state = c.Stands(c.Was)
	}
	switch state {
	case Same:
		return nil
	case Missing, Outdated:
		return &c.GeneratedFile
	}
	return &GeneratedFile{Name: c.Name + ".new", Text: c.Text}
}

// WriteFiles puts texts in place, by name.
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
