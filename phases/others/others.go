// Package others is the other runs of a repository, as an agent is told of them.
package others

import (
	"fmt"
	"strings"
)

// Run is another run of the same repository that is open. Its texts are of others, on
// one line each.
type Run struct {
	ID, Title string
	Status    string   // running, waiting, interrupted or failed
	Phase     string   // that it is in
	Tasks     []string // titles of what it has found to do
	Files     []string // that it has changed, or says that it will
	Shared    []string // those of them that this run changes, too, or says that it will
}

// String says it in some lines, for an agent.
func (o Run) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s (%s, %s)", o.ID, o.Title, o.Status, o.Phase)
	for _, t := range o.Tasks {
		out.WriteString("\n- " + t)
	}
	if len(o.Files) > 0 {
		out.WriteString("\nfiles: " + strings.Join(o.Files, ", "))
	}
	if len(o.Shared) > 0 {
		out.WriteString("\nshared: " + strings.Join(o.Shared, ", "))
	}
	return out.String()
}
