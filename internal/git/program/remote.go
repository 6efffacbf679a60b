package program

import "strings"

// Raced says whether the remote refused because somebody else was at the same
// branch at the same moment.
func Raced(why string) bool {
	for _, text := range []string{
		"cannot lock ref", "failed to lock", "failed to update ref", "incorrect old value",
		"fetch first", "non-fast-forward", "stale info", "atomic transaction failed",
	} {
		if strings.Contains(why, text) {
			return true
		}
	}
	return false
}

// RemoteLines returns what the remote printed for people.
func RemoteLines(stderr string) []string {
	var said []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(text) != "" {
			said = append(said, strings.TrimSpace(text))
		}
	}
	return said
}
