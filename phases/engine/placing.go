package engine

import (
	"errors"
	"io/fs"
	"os"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// takeOpened gives what the files of a tree at some paths are to have, by how they are once
// restore has taken all of it back. Refused are those that no person could read.
func takeOpened(tree string, paths []string, restore func() error) (all []metadata.Opened, refused []string, err error) {
	wanted := map[string][]byte{}
	for _, p := range paths {
		if data, ok := textAt(tree, p); ok && data != nil {
			wanted[p] = data
		}
	}
	if err := restore(); err != nil {
		return nil, nil, err
	}
	for _, p := range paths {
		before, ok := textAt(tree, p)
		text, is := wanted[p]
		switch {
		case !ok || !is:
			refused = append(refused, p)
		case before == nil || string(before) != string(text):
			all = append(all, phases.OpenedChange(p, before, string(text)))
		}
	}
	return all, refused, nil
}

// layOutOpened lays what an agent has asked for into its tree, for it to go on with that, but for
// what something else is there for by now.
func layOutOpened(tree string, all []metadata.Opened) error {
	for _, o := range all {
		if before, ok := textAt(tree, o.Path); !ok || digest(before) != o.Before {
			continue
		}
		if err := putOpened(tree, o); err != nil {
			return err
		}
	}
	return nil
}

// UnplacedOpened gives what of that is not there yet.
func UnplacedOpened(tree string, approved []metadata.Opened) (all []metadata.Opened, err error) {
	for _, o := range approved {
		before, ok := textAt(tree, o.Path)
		switch {
		case ok && before != nil && string(before) == o.Text: // somebody has done it
		case !ok || digest(before) != o.Before:
			return nil, &phases.Refusal{Reason: metadata.Because("opened_moved", "path", o.Path)}
		case phases.OpenedChange(o.Path, before, o.Text).Diff != o.Diff: // somebody else has written that into the record
			return nil, &phases.Refusal{Reason: metadata.Because("opened_otherwise", "path", o.Path)}
		default:
			all = append(all, o)
		}
	}
	return all, nil
}

// placeOpened writes what is Left of what was approved, and gives that.
func placeOpened(tree string, approved []metadata.Opened) ([]metadata.Opened, error) {
	all, err := UnplacedOpened(tree, approved)
	for _, o := range all {
		err = errors.Join(err, putOpened(tree, o))
	}
	return all, err
}

// putOpened writes what a file is to have.
func putOpened(tree string, o metadata.Opened) error {
	return lay(tree, tree, map[string][]byte{o.Path: []byte(o.Text)})
}

// textAt gives the text that a file has, nil if there is no file; ok is false if it has something else.
func textAt(tree, name string) (data []byte, ok bool) {
	root, err := os.OpenRoot(tree)
	if err != nil {
		return nil, false
	}
	defer root.Close() // opened for reading
	data, err = folders.ReadFile(root, name, phases.MostOpenedBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, true
	}
	return append([]byte{}, data...), err == nil && utf8.Valid(data)
}

// digest is what stands for a text in metadata.Opened; "" for no file.
func digest(data []byte) string {
	if data == nil {
		return ""
	}
	return phases.DigestOf(data)
}
