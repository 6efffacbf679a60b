package phases

import (
	"strconv"
	"strings"
)

// ChangedInPatch lists the files that a patch of git changes, and counts the changes that they
// are in. What was moved is listed by both of its names: where it was, it is no longer.
func ChangedInPatch(patch string) (names []string, files int) {
	first, moved := 0, false // of the names of the change at hand
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if head, is := strings.CutPrefix(line, "diff --git "); is { // no line of a file begins so in a patch
			if first, moved = len(names), false; both(head) != "" {
				names, files = append(names, both(head)), files+1
			}
			continue
		}
		from, was := strings.CutPrefix(line, "rename from ") // nor so
		to, is := strings.CutPrefix(line, "rename to ")
		switch {
		case was && !moved: // then what the first line seems to name twice is nothing
			files += 1 - (len(names) - first)
			names, moved = append(names[:first], unquoted(from)), true
		case is && moved:
			names = append(names, unquoted(to))
		}
	}
	return names, files
}

// both gives the name that the first line of a change has twice, or "".
func both(head string) string {
	half := len(head) / 2
	if len(head)%2 == 0 || head[half] != ' ' {
		return ""
	}
	from, was := strings.CutPrefix(unquoted(head[:half]), "a/")
	to, is := strings.CutPrefix(unquoted(head[half+1:]), "b/")
	if !was || !is || from != to {
		return ""
	}
	return to
}

// unquoted gives a name as it is; git quotes one with characters that are not printed.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}
