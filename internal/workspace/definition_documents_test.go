package workspace

import (
	"io/fs"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/test/phasestest"
)

// What the command line names counts over the pipeline, and all mistakes come at once, each
// with its place.
func TestDocuments(t *testing.T) {
	plan := phasestest.Plan()
	plan.Source = "mine.cue"
	files := map[string]string{"a.md": "A", "b.md": "B", "bin": "x\x00", "latin": "\xe9", "none": " \n", "big": strings.Repeat("x", mostDocument+1)}
	read := func(name string) ([]byte, error) {
		if name == "link" {
			return nil, folders.ErrNoFile
		}
		text, is := files[name]
		if !is {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	}
	plan.Documents = map[string]string{"plan": "a.md", "tell": "a.md"}
	all, err := Documents(plan, []string{"plan=b.md"}, read, read)
	if err != nil || string(all["plan"].Text) != "B" || all["plan"].Path != "b.md" || string(all["tell"].Text) != "A" || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	plan.Documents = map[string]string{"plan": "gone.md", "code": "a.md", "tell": "../a.md"}
	_, err = Documents(plan, []string{"x", "no=a.md", "code=a.md"}, read, read)
	for _, want := range []string{
		"--doc x: expected PHASE=PATH, such as design=docs/design.md",
		`--doc no=a.md: no phase "no", expected one of code, plan, tell`,
		"--doc code=a.md: the work of code is a change of the code, which no document can be",
		"mine.cue: given.plan: there is no file gone.md",
		`mine.cue: given.tell: "../a.md" is no path of a file from the top of the repository`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %s", err, want)
		}
	}
	for file, want := range map[string]string{"link": "is no file, or a symbolic link to one", "bin": "is no text in UTF-8", "latin": "is no text in UTF-8", "none": "is empty", "big": "expected at most 1048576", "/a.md": "is no path", "sub/.Git/config": "lies in git's own folder", "": "expected PHASE=PATH"} {
		if _, err := Documents(phasestest.Plan(), []string{"plan=" + file}, read, read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
	if _, err := Documents(phasestest.Plan(), []string{"plan=a.md", "plan=b.md"}, read, read); err == nil || !strings.Contains(err.Error(), "there is another document for plan") {
		t.Errorf("twice: %v", err)
	}
}
