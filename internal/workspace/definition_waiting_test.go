package workspace

import (
	"os"
	"path"
	"path/filepath"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	run, err := metadata.Parse(data, metadata.File)
	if err != nil {
		t.Fatal(err)
	}
	d, is, err := Thaw(run, read)
	if err != nil {
		t.Fatal(err)
	}
	if is.Title != "Add a flag" || len(d.Plan.Phases) != 10 || !d.Words.Has("execute") {
		t.Errorf("read issue %q, %d phases", is.Title, len(d.Plan.Phases))
	}
	run = phases.TakeUp(run, phases.Start{At: run.UpdatedAt})
	if next := phases.Decide(d.Plan, run); next.Phase != "requirements" || next.Do != phases.DoExecute {
		t.Errorf("what comes next is %s of %q", next.Do, next.Phase)
	}
}
