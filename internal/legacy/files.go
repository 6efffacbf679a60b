package legacy

import (
	"cmp"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
)

// maxOlderFile is the most that is taken over of an artifact or a review, in bytes.
const maxOlderFile = 4 << 20

// document is a file of an older phase.
type document struct {
	path string // from the top of the repository
	data []byte
}

// documents lists the Markdown files that an older phase wrote, the artifact
// first: the one that the record lists, else one that is called as the phase is. What is
// empty is none.
func (old *OlderRun) documents(phase string, listed []string) ([]document, error) {
	folder, err := old.folder(phase)
	if folder == "" || err != nil {
		return nil, err
	}
	dir := path.Join(folder, "output")
	entries, err := fs.ReadDir(old.files, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []document
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		full := path.Join(old.Top, name)
		if !e.Type().IsRegular() || path.Ext(name) != ".md" || metadata.CheckPath(full) != nil {
			continue // what else lies there stays where it is
		}
		data, err := readOlder(old.files, name)
		if err != nil {
			return nil, err
		}
		if strings.TrimSpace(string(data)) != "" {
			out = append(out, document{full, data})
		}
	}
	rank := func(d document) int {
		switch {
		case slices.Contains(listed, d.path):
			return 0
		case strings.HasPrefix(plainName(d.path), phase):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(out, func(a, b document) int { return cmp.Compare(rank(a), rank(b)) })
	return out, nil
}

// review gives the newest review of an older phase, empty if there is none.
func (old *OlderRun) review(phase string) (document, error) {
	folder, err := old.folder(phase)
	if folder == "" || err != nil {
		return document{}, err
	}
	name := path.Join(folder, "review", "result.md")
	data, err := readOlder(old.files, name)
	if errors.Is(err, fs.ErrNotExist) || strings.TrimSpace(string(data)) == "" {
		return document{}, nil
	}
	return document{path.Join(old.Top, name), data}, err
}

// folder finds the folder of a phase, such as 03_test_scenario.
func (old *OlderRun) folder(phase string) (string, error) {
	if old.files == nil {
		return "", nil
	}
	entries, err := fs.ReadDir(old.files, ".")
	for _, e := range entries {
		if _, name, ok := strings.Cut(e.Name(), "_"); e.IsDir() && ok && plainName(name) == phase {
			return e.Name(), nil
		}
	}
	return "", err
}

// readOlder reads a regular file that is not too large to be kept.
func readOlder(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name) // opening a pipe would wait
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, exit.Usagef("%s is not a regular file", name)
	case info.Size() > maxOlderFile:
		return nil, exit.Usagef("%s has %d bytes; the limit is %d: make it smaller, or take it away", name, info.Size(), maxOlderFile)
	}
	return fs.ReadFile(files, name)
}

// plainName gives the name of a file or folder without its ending, spelt as
// phases are.
func plainName(p string) string {
	base := path.Base(p)
	return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(base, path.Ext(base))), "-", "_")
}
