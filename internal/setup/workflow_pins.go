package setup

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"

	"github.com/reprise-ci/reprise/internal/text"
	"golang.org/x/mod/semver"
)

// pinned is what is looked at of a package.json and of its lock file.
type pinned struct {
	Dependencies map[string]string
	Packages     map[string]struct{ Dependencies map[string]string }
}

// pins gives a file of npm that installs some agents. A test holds that no package is needed by two.
func pins(name string, agents []string) (string, error) {
	var first []byte
	var all map[string]any
	for _, agent := range agents {
		data, err := agentLocks.ReadFile(path.Join("init_agents", agent, name))
		if err != nil {
			return "", err
		}
		var one map[string]any
		if err := json.Unmarshal(data, &one); err != nil {
			return "", fmt.Errorf("%s of %s: %w", name, agent, err)
		}
		if first == nil {
			first, all = data, one
			continue
		}
		join(all, one)
	}
	if len(agents) == 1 {
		return string(first), nil
	}
	joined, err := text.JSON(all)
	return string(joined), err
}

// join adds to an object what another one has besides.
func join(to, from map[string]any) {
	for key, value := range from {
		if inner, is := to[key].(map[string]any); is {
			if more, is := value.(map[string]any); is {
				join(inner, more)
				continue
			}
		}
		to[key] = value
	}
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

// stands says of an older text of a file whether it is to stay: a version that is newer
// than ours comes from people, or from a bot of theirs.
func stands(text string) func(string) FileState {
	return func(old string) FileState {
		ours, theirs := versions(text), versions(old)
		if !maps.EqualFunc(ours, theirs, func(string, string) bool { return true }) {
			return Foreign // it names other agent programs
		}
		for program, version := range ours {
			if semver.Compare("v"+theirs[program], "v"+version) < 0 {
				return Outdated
			}
		}
		return Same
	}
}
