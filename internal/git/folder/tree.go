package folder

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Tree is a folder that is changed, with all that lies in it. Only folders in which
// something changes are read.
type Tree struct {
	read  func(ctx context.Context, id string) ([]byte, error)
	write func(data []byte) (id string, err error)

	root node
}

// node is a folder, or what another one has under a name.
type node struct {
	mode, id string           // as the folder above has them
	inside   map[string]*node // nil: not read
	changed  bool             // of inside
}

// NewTree gives the folder with an id. What is in it is read, and written, by these.
func NewTree(id string, read func(context.Context, string) ([]byte, error), write func([]byte) (string, error)) *Tree {
	return &Tree{read: read, write: write, root: node{mode: Mode, id: id}}
}

// Set puts an object at a path, in place of whatever is there, and makes the folders
// above it. With the path "" it is the whole tree.
func (t *Tree) Set(ctx context.Context, path, mode, id string) error {
	return t.put(ctx, path, &node{mode: strings.TrimPrefix(mode, "0"), id: id})
}

func (t *Tree) put(ctx context.Context, path string, n *node) error {
	if path == "" {
		t.root = *n
		return nil
	}
	in, rest := &t.root, path
	for {
		name, below, more := strings.Cut(rest, "/")
		if name == "" || name == "." || name == ".." {
			return fmt.Errorf("%q is no path of a file", path)
		}
		if err := t.open(ctx, in); err != nil {
			return err
		}
		in.changed = true
		if !more {
			in.inside[name] = n
			return nil
		}
		if to := in.inside[name]; to == nil || to.mode != Mode {
			in.inside[name] = &node{mode: Mode, inside: map[string]*node{}}
		}
		in, rest = in.inside[name], below
	}
}

// Remove takes away what is at a path, if there is anything, and folders that are
// empty then.
func (t *Tree) Remove(ctx context.Context, path string) error {
	_, err := t.take(ctx, path)
	return err
}

// Move takes what is at a path to another one.
func (t *Tree) Move(ctx context.Context, from, to string) error {
	n, err := t.take(ctx, from)
	if err == nil && n == nil {
		err = fmt.Errorf("there is no %s to move", from)
	}
	if err != nil {
		return err
	}
	return t.put(ctx, to, n)
}

// take takes what is at a path out of the tree; nil if there is nothing.
func (t *Tree) take(ctx context.Context, path string) (*node, error) {
	var above []*node
	in, rest := &t.root, path
	for {
		if in.mode != Mode {
			return nil, nil
		}
		if err := t.open(ctx, in); err != nil {
			return nil, err
		}
		above = append(above, in)
		name, below, more := strings.Cut(rest, "/")
		n := in.inside[name]
		if n == nil {
			return nil, nil
		}
		if !more {
			delete(in.inside, name)
			for _, dir := range above {
				dir.changed = true
			}
			return n, nil
		}
		in, rest = n, below
	}
}

// open reads what is in a folder.
func (t *Tree) open(ctx context.Context, n *node) error {
	if n.inside != nil {
		return nil
	}
	entries, err := entriesOf(ctx, t.read, n.id)
	if err != nil {
		return err
	}
	n.inside = map[string]*node{}
	for _, e := range entries {
		n.inside[e.Name] = &node{mode: e.Mode, id: e.ID}
	}
	return nil
}

// entriesOf reads a folder by its id.
func entriesOf(ctx context.Context, read func(ctx context.Context, id string) ([]byte, error), id string) ([]Entry, error) {
	data, err := read(ctx, id)
	if err != nil {
		return nil, err
	}
	entries, err := Entries(data, len(id)/2)
	if err != nil {
		return nil, fmt.Errorf("folder %s %w", id, err)
	}
	return entries, nil
}

// Save writes all folders that have changed, and gives the id of the whole.
func (t *Tree) Save() (string, error) {
	_, err := t.save(&t.root)
	return t.root.id, err
}

// save writes a folder, and says whether it has anything.
func (t *Tree) save(n *node) (some bool, err error) {
	if !n.changed {
		return true, nil
	}
	for name, in := range n.inside {
		some, err := t.save(in)
		if err != nil {
			return false, err
		}
		if !some {
			delete(n.inside, name)
		}
	}
	if len(n.inside) == 0 && n != &t.root {
		return false, nil
	}
	var b bytes.Buffer
	for _, name := range slices.SortedFunc(maps.Keys(n.inside), func(x, y string) int {
		return cmp.Compare(n.inside[x].sortedAs(x), n.inside[y].sortedAs(y))
	}) {
		id, err := hex.DecodeString(n.inside[name].id)
		if err != nil {
			return false, err
		}
		fmt.Fprintf(&b, "%s %s\x00%s", n.inside[name].mode, name, id)
	}
	n.id, err = t.write(b.Bytes())
	n.changed = false
	return true, err
}

// sortedAs is the name by which git sorts what a folder has under a name.
func (n *node) sortedAs(name string) string {
	if n.mode == Mode {
		return name + "/"
	}
	return name
}
