package main

import (
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// edited names the artifacts that somebody has changed by hand, until they have
// passed a review again.
func (c commenter) edited() string {
	var lines []string
	for _, r := range c.rows {
		p := c.plan.Phase(r.Rec.Name)
		if p != nil && !p.NoReview && r.Rec.Edited() && c.run.Status != metadata.Completed {
			lines = append(lines, "✏️ "+c.Tell.Edited(code(brief(p.Writes, 200))))
		}
	}
	return alert(alertNote, strings.Join(lines, "\n\n"))
}
