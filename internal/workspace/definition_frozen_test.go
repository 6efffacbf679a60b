package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// A run that waits is continued by newer versions of reprise: the folder of one, as version
// 3 of the record has it, is read, with its pipeline and prompts as they were. Once a
// release has written such a folder, it stays as it is here, and newer ones come beside it.
func TestAWaitingRunIsRead(t *testing.T) {
	read := func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join("testdata", "waiting", path.Base(name)))
	}
	data, err := read(metadata.File)
	testenv.Must(t, err)
	run, err := metadata.Parse(data, metadata.File)
	testenv.Must(t, err)
	d, is, err := thaw(run, read)
	testenv.Must(t, err)
	if is.Title != "Add a flag" || len(d.Plan.Phases) != 10 || d.Words.Files()["execute.md"] == "" {
		t.Errorf("read issue %q, %d phases", is.Title, len(d.Plan.Phases))
	}
	run = phases.TakeUp(run, phases.Start{At: run.UpdatedAt})
	if next := phases.Decide(phases.On(d.Plan, run)); next.Phase != "requirements" || next.Do != phases.DoExecute {
		t.Errorf("what comes next is %s of %q", next.Do, next.Phase)
	}
}

// A document is a file of the repository, and nothing that a link, a pipe or a huge file
// makes of its path.
func TestDocumentIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a repository")
	for name, text := range map[string]string{"docs/spec.md": "REST", ".git/config": "token", "large": strings.Repeat("x", mostDocument+1)} {
		file := filepath.Join(dir, name)
		testenv.Put(t, file, text)
	}
	err := errors.Join(
		os.Symlink("../.git/config", filepath.Join(dir, "docs/link.md")), os.Symlink(".git", filepath.Join(dir, "notes")),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644),
	)
	testenv.Must(t, err)
	if text, err := documentIn(dir, "docs/spec.md"); err != nil || string(text) != "REST" {
		t.Errorf("%q (%v)", text, err)
	}
	for _, name := range []string{"gone.md", "gone/spec.md"} {
		if _, err := documentIn(dir, name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, want := range map[string]string{"docs/link.md": "no ordinary file", "notes/config": "no ordinary file", "pipe": "no ordinary file", "docs": "no ordinary file", "large": "more than", "../x": "escapes"} {
		if text, err := documentIn(dir, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %q (%v), want %q", name, text, err, want)
		}
	}
}

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
	all, err := documents(plan, []string{"plan=b.md"}, read, read)
	if err != nil || string(all["plan"].Text) != "B" || all["plan"].Path != "b.md" || string(all["tell"].Text) != "A" || len(all) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	plan.Documents = map[string]string{"plan": "gone.md", "code": "a.md", "tell": "../a.md"}
	_, err = documents(plan, []string{"x", "no=a.md", "code=a.md"}, read, read)
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
		if _, err := documents(phasestest.Plan(), []string{"plan=" + file}, read, read); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", file, err, want)
		}
	}
	if _, err := documents(phasestest.Plan(), []string{"plan=a.md", "plan=b.md"}, read, read); err == nil || !strings.Contains(err.Error(), "there is another document for plan") {
		t.Errorf("twice: %v", err)
	}
}
