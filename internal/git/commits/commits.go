// Package commits makes commits: what they change in a tree, and the commits themselves,
// are written as objects of git. A process of git for it would take longer than all the
// rest. Nothing looks at a work tree, so this takes the same time whatever its size.
package commits

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git/folder"
	"github.com/reprise-ci/reprise/internal/git/loose"
	"github.com/reprise-ci/reprise/internal/git/objects"
)

// Op is one change of a tree: M (set path to data if inline, else to the object id), D
// (delete path), R (rename path to to).
type Op struct {
	Kind   byte
	Path   string
	To     string
	Mode   string
	ID     string // always set for M
	Data   []byte
	Inline bool
}

// Commit is a commit to be made.
type Commit struct {
	Parents []string
	From    string // the commit whose files it has before the ops
	Ops     []Op
	Who     string // author and committer, as "Name <email>"
	Time    time.Time
	Message string
}

// Maker makes commits in a folder of objects.
type Maker struct {
	Folder string
	Format loose.Format
	LookUp func(ctx context.Context, names ...string) ([]objects.Object, error)
	Git    func(ctx context.Context, stdin []byte, args ...string) ([]byte, error)
}

// Make makes a commit and gives its hash. Each commit and object that it names has to be
// here.
func (m Maker) Make(ctx context.Context, c Commit) (string, error) {
	if err := m.mustHave(ctx, c); err != nil {
		return "", err
	}
	tree, err := m.tree(ctx, c)
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("tree %s\nparent %s\nauthor %s %d +0000\ncommitter %[3]s %[4]d +0000\n\n%[5]s\n",
		tree, strings.Join(c.Parents, "\nparent "), c.Who, c.Time.Unix(), strings.TrimRight(c.Message, "\n"))
	return m.Format.Put(m.Folder, "commit", []byte(text))
}

// mustHave asks git about objects that have no file of their own.
func (m Maker) mustHave(ctx context.Context, c Commit) error {
	found, err := m.LookUp(ctx, c.Parents...)
	if err != nil {
		return err
	}
	for i, o := range found {
		if o.Kind != "commit" || o.ID != c.Parents[i] {
			err = errors.Join(err, fmt.Errorf("commit %q is not here", c.Parents[i]))
		}
	}
	var ask strings.Builder
	for _, o := range c.Ops {
		if o.Kind != 'M' || o.Inline || o.Mode == "160000" {
			continue
		}
		if _, err := os.Lstat(loose.Path(m.Folder, o.ID)); err != nil {
			ask.WriteString(o.ID + "\n")
		}
	}
	if err != nil || ask.Len() == 0 {
		return err
	}
	out, err := m.Git(ctx, []byte(ask.String()), "cat-file", "--batch-check")
	for line := range strings.Lines(string(out)) {
		if id, missing := strings.CutSuffix(line, " missing\n"); missing {
			err = errors.Join(err, fmt.Errorf("object %s is not here", id))
		}
	}
	return err
}

// tree makes the files of a commit, and gives the id of their folder.
func (m Maker) tree(ctx context.Context, c Commit) (string, error) {
	top, err := m.folder(ctx, c.From+"^{tree}")
	if err != nil {
		return "", err
	}
	read := func(ctx context.Context, id string) ([]byte, error) {
		if id == top.ID {
			return top.Data, nil
		}
		o, err := m.folder(ctx, id)
		return o.Data, err
	}
	tree := folder.NewTree(top.ID, read, func(data []byte) (string, error) { return m.Format.Put(m.Folder, "tree", data) })
	for _, o := range c.Ops {
		switch {
		case o.Kind == 'D':
			err = tree.Remove(ctx, o.Path)
		case o.Kind == 'R':
			err = tree.Move(ctx, o.Path, o.To)
		default:
			if o.Inline {
				_, err = m.Format.Put(m.Folder, "blob", o.Data)
			}
			if err == nil {
				err = tree.Set(ctx, o.Path, o.Mode, o.ID)
			}
		}
		if err != nil {
			return "", err
		}
	}
	return tree.Save()
}

func (m Maker) folder(ctx context.Context, name string) (objects.Object, error) {
	found, err := m.LookUp(ctx, name)
	if err == nil && found[0].Kind != "tree" {
		err = fmt.Errorf("folder %q is not here", name)
	}
	if err != nil {
		return objects.Object{}, err
	}
	return found[0], nil
}
