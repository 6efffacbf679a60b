// Package refs is names of a repository with the commits that they are at.
package git

import (
	"strings"
)

// Ref is a name and the commit that it is at, a full hash.
type Ref struct{ Name, Commit string }

// Format is how for-each-ref has to print refs for Parse; ls-remote prints them so itself.
const refFormat = "--format=%(objectname)%09%(refname)"

// Parse reads what git prints of refs, each on a line of its own that has come to its end.
func ParseRefs(out []byte) (all []Ref) {
	for line := range strings.Lines(string(out)) {
		line, whole := strings.CutSuffix(line, "\n")
		commit, name, named := strings.Cut(line, "\t")
		if whole && named && isHash(commit) {
			all = append(all, Ref{name, commit})
		}
	}
	return all
}

// Beginning gives the patterns by which ls-remote lists refs that begin in these ways.
func RefsBeginning(prefixes []string) (patterns []string) {
	for _, p := range prefixes {
		patterns = append(patterns, p+"*")
	}
	return patterns
}

// Fetched gives the arguments by which git fetches refs of origin: its branches to where a
// clone has those of origin, and all else to the same name.
func refsFetched(all []Ref) (args []string) {
	for _, r := range all {
		into := r.Name
		if name, is := strings.CutPrefix(r.Name, "refs/heads/"); is {
			into = "refs/remotes/origin/" + name
		}
		args = append(args, "+"+r.Name+":"+into)
	}
	return args
}
