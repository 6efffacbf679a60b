package git

import (
	"fmt"
	"strings"
)

// Difference is a path at which two trees have something else. A side that has nothing
// there, or a folder, has no ID.
type difference struct {
	Path    string
	Was, Is treeObject
}

// Object is what a tree has at a path, with the mode as git writes it in a list.
type treeObject struct{ Mode, ID string }

// RawFlags have diff-tree and diff-index print what Raw reads.
func rawFlags() []string {
	return []string{"--raw", "-z", "-r", "--no-abbrev", "--no-renames", "--ignore-submodules=none"}
}

// Raw reads records such as ":100644 100755 ID ID M" and a path, in the order of the paths.
func parseRaw(out []byte) (all []difference, err error) {
	records := records(out)
	for ; len(records) >= 2; records = records[2:] {
		f := strings.Fields(strings.TrimPrefix(records[0], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff answered %q", records[0])
		}
		all = append(all, difference{records[1], treeObjectOf(f[0], f[2]), treeObjectOf(f[1], f[3])})
	}
	return all, nil
}

func treeObjectOf(mode, id string) treeObject {
	if mode == "000000" {
		return treeObject{}
	}
	return treeObject{plainMode(mode), id}
}
