package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// inRepository is what a document writes as code that can only be a path of the repository.
var inRepository = regexp.MustCompile(`^(cmd|docs|examples|internal|metadata|phases|pipelines|prompts)/[\w./-]+$`)

// What CONTRIBUTING.md and docs/architecture.md name is there.
func TestPathsInDocuments(t *testing.T) {
	checked := 0
	for _, doc := range []string{"CONTRIBUTING.md", "docs/architecture.md"} {
		for _, s := range parse(read(t, doc)).spans {
			if !inRepository.MatchString(s.text) {
				continue
			}
			checked++
			if _, err := os.Stat(filepath.Join(root, s.text)); err != nil {
				t.Errorf("%s:%d: there is no %s", doc, s.line, s.text)
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d paths were looked for, which is too few: how do the documents write them?", checked)
	}
}
