package setup

import (
	"io"
	"io/fs"
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
	deepFiles   = 3   // folders below the one in which they are looked for
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

// first gives the first of some files in a folder that there is, by its name in it; see matching.
func (r repository) first(dir string, names ...string) string {
	for _, name := range names {
		if found := r.matching(dir, name); len(found) > 0 {
			return found[0]
		}
	}
	return ""
}

// matching gives the files of a folder that a name or a pattern means, by their names in it.
// "**/" in a pattern stands for that folder and those below it.
func (r repository) matching(dir, pattern string) (names []string) {
	if !strings.Contains(pattern, "*") {
		if r.has(path.Join(dir, pattern)) {
			return []string{pattern}
		}
		return nil
	}
	folder, name, deep := strings.Cut(pattern, "**/")
	if !deep {
		folder, name = path.Split(pattern)
	}
	r.visit(path.Join(dir, folder), deep, 0, func(file string) {
		if ok, err := path.Match(name, path.Base(file)); ok && err == nil && len(names) < mostFiles {
			names = append(names, strings.TrimPrefix(file, dir+"/"))
		}
	})
	return names
}

// visit shows the files of a folder and, if it is to go deep, of those below it.
func (r repository) visit(dir string, deep bool, level int, show func(name string)) {
	entries, _ := fs.ReadDir(r.fs, dir) // what cannot be read is as if it were not there
	for _, e := range entries[:min(len(entries), 1000)] {
		switch name := path.Join(dir, e.Name()); {
		case e.Type().IsRegular():
			show(name)
		case e.IsDir() && deep && level < deepFiles:
			r.visit(name, deep, level+1, show)
		}
	}
}

var (
	// plainFile is no option, and the shell reads nothing else in it.
	plainFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]*$`)
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
