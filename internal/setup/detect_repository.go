package setup

import (
	"io"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// repository is read with care: it may be anybody's.
type repository struct{ fs fs.FS }

const (
	mostRead    = 1 << 20
	mostFolders = 200 // that are looked into
	mostDeep    = 2   // folders below the top
	mostFiles   = 200 // of a kind
)

// read gives the text of a file, or "" if there is none that can be read.
func (r repository) read(name string) string {
	if !r.has(name) {
		return ""
	}
	f, err := r.fs.Open(name)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }() // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, mostRead+1))
	if err != nil || len(data) > mostRead {
		return ""
	}
	return string(data)
}

// has reports whether there is a plain file of that name.
func (r repository) has(name string) bool {
	info, err := fs.Stat(r.fs, name)
	return err == nil && info.Mode().IsRegular()
}

// first gives the first of some files in a folder that there is, by its name in it.
func (r repository) first(dir string, names ...string) string {
	for _, name := range names {
		if r.has(path.Join(dir, name)) {
			return name
		}
	}
	return ""
}

// anyFile reports whether a folder has a file, not further down than deep, whose name fits.
func (r repository) anyFile(dir string, deep int, fits func(name string) bool) bool {
	return r.visit(dir, deep, func(name string) bool { return fits(path.Base(name)) })
}

// files gives the files of a folder, not further down than deep, whose names fit.
func (r repository) files(dir string, deep int, fits func(name string) bool) (names []string) {
	r.visit(dir, deep, func(name string) bool {
		if fits(path.Base(name)) {
			names = append(names, name)
		}
		return len(names) == mostFiles
	})
	return names
}

// visit shows the files of a folder, not further down than deep, until done says so.
func (r repository) visit(dir string, deep int, done func(name string) bool) bool {
	entries, err := fs.ReadDir(r.fs, dir)
	if err != nil {
		return false
	}
	for _, e := range entries[:min(len(entries), 1000)] {
		name := path.Join(dir, e.Name())
		if e.Type().IsRegular() && done(name) || e.IsDir() && deep > 0 && r.visit(name, deep-1, done) {
			return true
		}
	}
	return false
}

var (
	// plainName is a name in which the shell reads nothing else.
	plainName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,39}$`)
	foreign   = regexp.MustCompile(`^(node_modules|vendor|third_party|testdata|fixtures?|tests?|spec|examples?|samples?|docs?|templates?|dist|build|target)$`)
)

// folders gives the top and the folders below it that may have a project of
// their own, outer ones first.
func (r repository) folders() []string {
	all := []string{"."}
	for i := 0; i < len(all) && len(all) < mostFolders; i++ {
		if all[i] != "." && strings.Count(all[i], "/")+1 >= mostDeep {
			continue
		}
		entries, err := fs.ReadDir(r.fs, all[i])
		if err != nil {
			continue
		}
		for _, e := range entries {
			if e.IsDir() && plainName.MatchString(e.Name()) && !foreign.MatchString(e.Name()) && len(all) < mostFolders {
				all = append(all, path.Join(all[i], e.Name()))
			}
		}
	}
	return all
}

// below gives those of the folders that lie in another one.
func (r repository) below(dir string) []string {
	return slices.DeleteFunc(r.folders(), func(d string) bool {
		return d == dir || dir != "." && !strings.HasPrefix(d, dir+"/")
	})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
