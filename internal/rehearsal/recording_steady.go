package rehearsal

import (
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/phases/engine"
)

// fence finds the boundaries of the texts from outside in a prompt, which are drawn anew
// each time.
var fence = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`<<<([a-z2-7]{16})\b`) })

// passing finds what the output of the same check says otherwise each time: times, hashes
// of commits, temporary folders.
var passing = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\b\d+\.\d+ ?(ns|µs|us|ms|s|sec|seconds?|m|min|minutes?)\b|\b\d+ ?ms\b|\(cached\)|duration_ms:? [\d.]+|` +
		`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?|\b\d\d:\d\d:\d\d\b|` +
		`\b[0-9a-f]{40}([0-9a-f]{24})?\b|\S*/reprise-[0-9a-f]{12}-[^\s/]*|/go-build\d+`)
})

// steady is the prompt of a task without what differs from run to run although the same
// is asked: boundaries, the folder of the run, and what a check prints otherwise each time.
func steady(t engine.Task) string {
	text := t.Prompt
	for _, m := range fence().FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, m[1], "BOUNDARY")
	}
	if filepath.IsAbs(t.Dir) {
		text = strings.ReplaceAll(text, t.Dir, "TREE")
		text = strings.ReplaceAll(text, filepath.Dir(t.Dir)+string(filepath.Separator), "RUN/")
	}
	return passing().ReplaceAllString(text, "…")
}
