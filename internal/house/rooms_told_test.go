package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Rooms that the page tells of in a sentence below the table: only tests and measurements use them.
var beside = []string{"internal/house", "internal/e2e", "internal/benchmark", "internal/github/githubtest", "internal/testenv", "internal/ordinary", "internal/phasestest", "internal/pictures", "internal/progresstest", "internal/site", "internal/world"}

// Every room has a row in the table of docs/architecture.md, and every row is a room.
func TestRoomsAreTold(t *testing.T) {
	told := map[string]bool{}
	for line := range strings.Lines(read(t, "docs/architecture.md")) {
		if cells := strings.Split(line, "|"); len(cells) == 5 {
			for _, m := range codeSpan.FindAllStringSubmatch(cells[1], -1) {
				told[m[1]] = true
			}
		}
	}
	for room := range rooms {
		within := slices.ContainsFunc(beside, func(b string) bool { return strings.HasPrefix(room+"/", b+"/") })
		if !told[room] && !within && !strings.HasSuffix(room, "test") {
			t.Errorf("docs/architecture.md has no row for %s: add one", room)
		}
		delete(told, room)
	}
	for row := range told {
		t.Errorf("docs/architecture.md has a row for %s, which is no room: take it away", row)
	}
}

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
