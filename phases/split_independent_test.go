package phases

import (
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// Tasks are written as "id files < needs".
func TestIndependent(t *testing.T) {
	var same, apart []string
	for i := range 30 {
		same = append(same, fmt.Sprintf("t%d f", i))
		apart = append(apart, fmt.Sprintf("t%d f%d", i, i))
	}
	for name, tt := range map[string]struct {
		tasks []string
		want  int
	}{
		"none":                          {nil, 0},
		"three with a file each":        {[]string{"a x", "b y", "c z"}, 3},
		"two of the same file":          {[]string{"a x", "b x", "c z"}, 2},
		"a folder and a file in it":     {[]string{"a dir/", "b dir/x", "c z"}, 2},
		"names that begin alike":        {[]string{"a dir", "b directory/x", "c z"}, 3},
		"files that nobody has named":   {[]string{"a", "b y", "c z"}, 2},
		"none has named any":            {[]string{"a", "b", "c"}, 1},
		"one after the other":           {[]string{"a x", "b y < a", "c z < b"}, 1},
		"two that wait for a third":     {[]string{"a x", "b y < a", "c z < a"}, 2},
		"three that wait for a fourth":  {[]string{"a x", "b y < a", "c z < a", "d w < a"}, 3},
		"that are named before it":      {[]string{"b y < a", "c z < b", "d w < c", "a x"}, 1},
		"the first touches all":         {[]string{"a x y z", "b x", "c y", "d z"}, 3},
		"in a ring of files":            {[]string{"a 1 2", "b 2 3", "c 3 4", "d 4 5", "e 5 1"}, 2},
		"a circle of an earlier record": {[]string{"a x < b", "b y < a", "c z"}, 2},
		"thirty with one file":          {same, 1},
		"more than can be parts":        {apart, mostParts},
	} {
		run := metadata.Run{Tasks: []metadata.Task{{ID: "other", Phase: "elsewhere", Files: []string{"q"}}}}
		for _, text := range tt.tasks {
			task, needs, _ := strings.Cut(text, " < ")
			words := strings.Fields(task)
			run.Tasks = append(run.Tasks, metadata.Task{ID: words[0], Phase: "plan", Files: words[1:], Needs: strings.Fields(needs)})
		}
		testenv.Is(t, name+":", independentParts(run, "plan"), tt.want)
	}
}
