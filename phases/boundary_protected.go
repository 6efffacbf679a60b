package phases

import (
	"path"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// Programs are the files of the repository that an agent of a pipeline may be
// started from: words of its command with a slash or an ending. Whoever changes
// such a file controls what the next agent does, such as the one that reviews.
func Programs(a pipelines.Agent) (files []string) {
	for _, word := range a.Command {
		if file := path.Clean(word); strings.ContainsAny(word, "/.") && !path.IsAbs(file) && !strings.HasPrefix(word, "-") {
			files = append(files, file) // no path of a change leads out of the tree
		}
	}
	return files
}

// programs are those of all agents, folded.
func programs(plan *pipelines.Pipeline) (files []string) {
	for _, a := range plan.Agents {
		for _, file := range Programs(a) {
			files = append(files, pipelines.FoldPath(file))
		}
	}
	return files
}
