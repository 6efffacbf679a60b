package indexfile

import (
	"fmt"
	"strconv"
	"strings"
)

// folder is what git has noted about a folder of the index: how many entries are in it,
// and which object it is. Git then need not look at each of them.
type folder struct {
	name   string
	count  int // of entries; less than 0: it has changed since, and is no object
	object string
	inside []*folder
}

// deepest is how many folders may lie in each other. No file system has a path of so many, and
// whoever notes more wants to have the stack used up.
const deepest = 4096

// parseFolder reads a folder, and those in it, from the beginning of a text. Above are the
// folders that it lies in.
func parseFolder(text string, hash, above int) (f *folder, rest string, err error) {
	if above > deepest {
		return nil, "", errForm
	}
	name, rest, ok := strings.Cut(text, "\x00")
	line, rest, is := strings.Cut(rest, "\n")
	entries, folders, two := strings.Cut(line, " ")
	if !ok || !is || !two {
		return nil, "", errForm
	}
	f = &folder{name: name}
	if f.count, err = strconv.Atoi(entries); err != nil {
		return nil, "", errForm
	}
	n, err := strconv.Atoi(folders)
	if err != nil || n < 0 || n > len(rest) {
		return nil, "", errForm
	}
	if f.count >= 0 {
		if len(rest) < hash {
			return nil, "", errForm
		}
		f.object, rest = rest[:hash], rest[hash:]
	}
	for range n {
		var in *folder
		if in, rest, err = parseFolder(rest, hash, above+1); err != nil {
			return nil, "", err
		}
		f.inside = append(f.inside, in)
	}
	return f, rest, nil
}

// forget notes that something has changed at a path.
func (f *folder) forget(path string) {
	for f != nil {
		f.count, f.object = -1, ""
		name, below, more := strings.Cut(path, "/")
		var next *folder
		for i, in := range f.inside {
			if in.name != name {
				continue
			}
			if next = in; !more { // a file takes its place
				f.inside, next = append(f.inside[:i:i], f.inside[i+1:]...), nil
			}
			break
		}
		f, path = next, below
	}
}

func (f *folder) append(b []byte, name string) []byte {
	b = fmt.Appendf(b, "%s\x00%d %d\n%s", name, f.count, len(f.inside), f.object)
	for _, in := range f.inside {
		b = in.append(b, in.name)
	}
	return b
}
