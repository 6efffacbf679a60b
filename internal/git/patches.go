package git

import (
	"bytes"
	"strings"
)

// CommitPatch is what one commit changed, as text.
type CommitPatch struct {
	Commit  string // full hash
	Trailer string // the value of the trailer that was asked for
	Text    string // as git diff prints it; binary files are named only
	Cut     bool   // the end of the text is missing
}

// maxPatches is how many bytes of patches are read of one branch.
const maxPatches = 32 << 20

// patchesIn divides what git log has printed where the mark stands at the
// beginning of a line.
func patchesIn(out []byte, mark string) []CommitPatch {
	var all []CommitPatch
	cut := len(out) > maxPatches
	for _, part := range bytes.Split(append([]byte("\n"), out...), []byte("\n"+mark))[1:] {
		title, text, _ := strings.Cut(string(part), "\n")
		commit, trailer, _ := strings.Cut(title, " ")
		if trailer = strings.TrimSpace(trailer); trailer != "" {
			all = append(all, CommitPatch{Commit: commit, Trailer: trailer, Text: strings.TrimPrefix(text, "\n")})
		}
	}
	if n := len(all); n > 0 {
		all[n-1].Cut = cut
	}
	return all
}

// diffArgs begin every comparison: no program that a file or a configuration
// could name is run.
func diffArgs() []string {
	return []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none"}
}
