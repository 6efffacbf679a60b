package workflow

import (
	"encoding/json"
	"fmt"
	"maps"

	"golang.org/x/mod/semver"
)

// pinned is what is looked at of a package.json and of its lock file.
type pinned struct {
	Dependencies map[string]string
	Packages     map[string]struct{ Dependencies map[string]string }
}

// versions gives the versions of the agent programs that a file of npm names.
func versions(text string) map[string]string {
	var p pinned
	if json.Unmarshal([]byte(text), &p) != nil {
		return nil
	}
	if p.Dependencies != nil {
		return p.Dependencies
	}
	return p.Packages[""].Dependencies
}

// upgrade gives, of two texts of the same file, the one with the newer versions: a
// version that is newer than ours comes from people, or from a bot of theirs.
func upgrade(name, text string) func(string) (string, error) {
	return func(old string) (string, error) {
		ours, theirs := versions(text), versions(old)
		if !maps.EqualFunc(ours, theirs, func(string, string) bool { return true }) {
			return "", fmt.Errorf("%s names other agent programs", name)
		}
		for program, version := range ours {
			if semver.Compare("v"+theirs[program], "v"+version) < 0 {
				return text, nil
			}
		}
		return old, nil
	}
}
