package refs

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/git/objects"
)

// List gives the refs of a git directory, in their order, that have one of these names or lie
// below it, as for-each-ref does. It says no where only git can tell them: it keeps them
// otherwise than as files, or one of them leads to another.
func List(dir string, names ...string) (all []Ref, can bool) {
	found := map[string]string{}
	if !asFiles(dir) {
		return nil, false
	}
	for _, name := range names { // before those that are packed: git writes a ref there before it removes its file
		if !loose(dir, name, found) {
			return nil, false
		}
	}
	if !packed(filepath.Join(dir, "packed-refs"), names, found) {
		return nil, false
	}
	for name, commit := range found {
		if odd.MatchString(name) {
			return nil, false
		}
		all = append(all, Ref{name, commit})
	}
	slices.SortFunc(all, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return all, true
}

// asFiles says whether git keeps the refs of a git directory as files in it. What it reads to
// know that is the configuration there alone, which may name another form and another place.
func asFiles(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, "reftable"))
	config, wrong := os.ReadFile(filepath.Join(dir, "config"))
	return errors.Is(err, fs.ErrNotExist) && (wrong == nil || errors.Is(wrong, fs.ErrNotExist)) && !elsewhere.Match(config)
}

var elsewhere = regexp.MustCompile(`(?i)refstorage`)

// odd is a name that git gives to no ref, or not with certainty: it passes over those that
// something else has made.
var odd = regexp.MustCompile(`[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|\.(/|$)|//`)

// loose adds the refs that have files of their own.
func loose(dir, name string, found map[string]string) bool {
	info, err := os.Lstat(filepath.Join(dir, filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return true
	}
	if err != nil || !info.IsDir() && !info.Mode().IsRegular() {
		return false
	}
	if !info.IsDir() {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if errors.Is(err, fs.ErrNotExist) {
			return true // it is packed now, or gone
		}
		commit := strings.TrimSuffix(string(text), "\n")
		found[name] = commit
		return err == nil && objects.IsHash(commit)
	}
	entries, err := os.ReadDir(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || strings.HasSuffix(e.Name(), ".lock") {
			continue // git gives no ref such a name
		}
		if !loose(dir, name+"/"+e.Name(), found) {
			return false
		}
	}
	return true
}

// packed adds those refs that have no file of their own.
func packed(file string, names []string, found map[string]string) bool {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		return false // to read from a pipe would take for ever
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(file)
	}
	if err != nil {
		return errors.Is(err, fs.ErrNotExist)
	}
	text := string(data)
	if !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(text, " "+name) }) {
		return true
	}
	for line := range strings.Lines(text) {
		commit, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok || line[0] == '#' {
			continue
		}
		if !slices.ContainsFunc(names, func(name string) bool { return ref == name || strings.HasPrefix(ref, name+"/") }) {
			continue
		}
		if !objects.IsHash(commit) {
			return false
		}
		if _, own := found[ref]; !own {
			found[ref] = commit
		}
	}
	return true
}
