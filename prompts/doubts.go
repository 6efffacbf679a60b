package prompts

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// Doubts are what the author of an own template may not have meant: that nothing takes it, or that an agent which
// gets it is not told the issue, the rules or the artifact. Named are those that the steps of pipelines name.
func (s *Set) Doubts(named []string) (found pipelines.Mistakes) {
	d := samples()[0]
	rules, _ := s.execute("policy", newView(d, 0)) // carried out before, as all that follow
	for name, file := range s.own {
		if _, err := fs.Stat(builtin, "builtin/en/"+name+".md"); err != nil && !s.called[name] && !slices.Contains(named, name) {
			found = append(found, pipelines.Mistake{File: file, Message: "no step names this template, no template calls it, and none of this name is built in, " + pipelines.MustBeOneOf(name, steps())})
		}
		text, _ := s.execute(name, newView(d, 0))
		for _, part := range [][3]string{
			{d.Issue.Title, "the issue", `{{template "issue" .}}`},
			{strings.TrimSpace(rules), "the rules", `{{template "policy" .}}`},
			{d.Artifact, "the path of the artifact", "{{.Artifact}}"},
		} {
			if slices.Contains(append(steps()[:3], named...), name) && !strings.Contains(text, part[0]) {
				found = append(found, pipelines.Mistake{File: file, Message: fmt.Sprintf("an agent that gets this is not told %s: write %s where it belongs", part[1], part[2])})
			}
		}
	}
	return found
}
