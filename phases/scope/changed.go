package scope

import "strings"

// Changed lists the files that a patch of git changes, as it names them. It cannot undo
// the quotes of names with characters that are not printed.
func Changed(patch string) (names []string) {
	for line := range strings.Lines(patch) {
		rest, is := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "diff --git ") // no line of a file begins so in a patch
		if at := max(strings.LastIndex(rest, " b/"), strings.LastIndex(rest, ` "b/`)); is && at >= 0 {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(rest[at+1:], `"`), "b/"), `"`))
		}
	}
	return names
}
