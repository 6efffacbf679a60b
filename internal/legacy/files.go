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

// documents lists the Markdown files that an older phase wrote and that are not empty, the artifact first.
func (old *OlderRun) documents(phase string, listed []string) (out []document, err error) {
	names, err := fs.Glob(old.files, "*/output/*.md")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		full := path.Join(old.Top, name)
		if !ofPhase(name, phase) || metadata.CheckPath(full) != nil {
			continue
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
		case slices.ContainsFunc(listed, func(l string) bool { return strings.HasSuffix(l, d.path) }):
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
func (old *OlderRun) review(phase string) (string, error) {
	names, err := fs.Glob(old.files, "*/review/result.md")
	for _, name := range names {
		if ofPhase(name, phase) {
			data, err := readOlder(old.files, name)
			return strings.ToValidUTF8(strings.TrimSpace(string(data)), "\uFFFD"), err
		}
	}
	return "", err
}

// ofPhase reports whether a file is in the folder of a phase, such as 03_test_scenario.
func ofPhase(name, phase string) bool {
	folder, _, _ := strings.Cut(name, "/")
	_, of, _ := strings.Cut(folder, "_")
	return plainName(of) == phase
}

// readOlder reads a regular file that is not too large to be kept. A link that leads out of the
// folder is none.
func readOlder(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Lstat(files, name) // opening a pipe would wait
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular():
		return nil, nil
	case err != nil:
		return nil, err
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
