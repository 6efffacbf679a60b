package folder

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// Difference is a path at which two trees have something else. A side that has nothing
// there, or a folder, has no ID.
type Difference struct {
	Path    string
	Was, Is Object
}

// Object is what a tree has at a path, with the mode as git writes it in a list.
type Object struct{ Mode, ID string }

// RawFlags have diff-tree and diff-index print what Raw reads.
func RawFlags() []string {
	return []string{"--raw", "-z", "-r", "--no-abbrev", "--no-renames", "--ignore-submodules=none"}
}

// Raw reads records such as ":100644 100755 ID ID M" and a path, in the order of the paths.
func Raw(out []byte) (all []Difference, err error) {
	records := pathname.Records(out)
	for ; len(records) >= 2; records = records[2:] {
		f := strings.Fields(strings.TrimPrefix(records[0], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff answered %q", records[0])
		}
		all = append(all, Difference{records[1], object(f[0], f[2]), object(f[1], f[3])})
	}
	return all, nil
}

func object(mode, id string) Object {
	if mode == "000000" {
		return Object{}
	}
	return Object{PlainMode(mode), id}
}
