// Package status finds out what became of a work tree since git's index was written: it reads
// what git status says, and often finds without a process that there is nothing to say.
package status

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// Arguments ask git for what Records reads.
func Arguments() []string {
	// "dirty" keeps git from running itself in repositories inside the tree.
	return []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"}
}

// Record is a path of the work tree that is not as the index has it: what that has there, or
// neither mode nor ID if the path is new.
type Record struct{ Path, Mode, ID string }

// Records reads what git said. Where only the index is not as the newest commit, there is none.
func Records(out []byte) (all []Record, err error) {
	for _, record := range pathname.Records(out) {
		if name, ok := strings.CutPrefix(record, "? "); ok {
			all = append(all, Record{Path: strings.TrimSuffix(name, "/")})
			continue
		}
		f := strings.SplitN(record, " ", 9) // 1, how, submodule, modes and hashes, path
		if len(f) != 9 || f[0] != "1" || len(f[1]) != 2 {
			return nil, fmt.Errorf("git status answered %q", record)
		}
		if f[1][1] != '.' {
			all = append(all, Record{Path: f[8], Mode: f[4], ID: f[7]})
		}
	}
	return all, nil
}
