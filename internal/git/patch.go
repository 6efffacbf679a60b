// Package patch is what changed between two commits, as git prints it.
package git

import (
	"bytes"
	"strconv"
	"strings"
)

// Patch is what one commit changed, as text.
type CommitPatch struct {
	Commit  string // full hash
	Trailer string // the value of the trailer that was asked for
	Text    string // as git diff prints it; binary files are named only
	Cut     bool   // the end of the text is missing
}

// Most is how many bytes of patches are read of one branch.
const mostPatch = 32 << 20

// Parse divides what git log has printed where the mark stands at the
// beginning of a line.
func parsePatches(out []byte, mark string) []CommitPatch {
	var all []CommitPatch
	cut := len(out) > mostPatch
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

// Arguments begin every comparison: no program that a file or a configuration
// could name is run.
func diffArgs() []string {
	return []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none"}
}

// Stat takes the counts of files and lines that --numstat puts before a patch. Binary
// files have no lines.
func parseStat(out []byte) (files, added, deleted int, text []byte) {
	for len(out) > 0 && out[0] != '\n' {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		f := strings.SplitN(string(line), "\t", 3)
		if len(f) < 3 {
			break
		}
		more, _ := strconv.Atoi(f[0]) // "-" for a binary file
		less, _ := strconv.Atoi(f[1])
		files, added, deleted, out = files+1, added+more, deleted+less, rest
	}
	return files, added, deleted, bytes.TrimPrefix(out, []byte("\n"))
}
