package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ways leads paths through their links, as filepath.EvalSymlinks does, but looks
// at each part of a way once: what a call may read begins alike, and there are a
// hundred paths of it. It holds for one call, as what it knows may change.
type ways map[string]way

// way is where a path leads.
type way struct {
	to     string
	folder bool
	err    error
}

// mostLinks is how many links one path may lead through.
const mostLinks = 255

// end is where a path leads, without links.
func (w ways) end(path string) (string, error) {
	if !filepath.IsAbs(path) {
		return filepath.EvalSymlinks(path)
	}
	links := 0
	found := w.walk("/", path, &links)
	return found.to, found.err
}

// ends leads paths through their links and leaves out what is not there.
func (w ways) ends(paths []string) []string {
	var out []string
	for _, path := range paths {
		if found, err := w.end(path); err == nil && filepath.IsAbs(found) {
			out = append(out, found)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// walk follows a path from a folder that no link leads to.
func (w ways) walk(from, path string, links *int) way {
	at := way{to: from, folder: true}
	for part := range strings.SplitSeq(path, "/") {
		switch {
		case at.err != nil:
			return at
		case !at.folder:
			return way{err: &os.PathError{Op: "lstat", Path: at.to, Err: syscall.ENOTDIR}}
		case part == "" || part == ".":
		case part == "..":
			at.to = filepath.Dir(at.to)
		default:
			at = w.step(at.to, part, links)
		}
	}
	return at
}

// step is where a name in a folder leads.
func (w ways) step(dir, name string, links *int) way {
	path := filepath.Join(dir, name)
	if known, ok := w[path]; ok {
		return known
	}
	found := way{to: path}
	switch info, err := os.Lstat(path); {
	case err != nil:
		found.err = err
	case info.Mode()&os.ModeSymlink == 0:
		found.folder = info.IsDir()
	default:
		if *links++; *links > mostLinks {
			return way{err: fmt.Errorf("%s leads through too many links", path)}
		}
		target, err := os.Readlink(path)
		switch {
		case err != nil:
			found.err = err
		case filepath.IsAbs(target):
			found = w.walk("/", target, links)
		default:
			found = w.walk(dir, target, links)
		}
	}
	w[path] = found
	return found
}
