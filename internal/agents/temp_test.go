package agents

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestSweep(t *testing.T) {
	dir := t.TempDir()
	mine, other := Options{Temp: dir, Mark: "reprise-0a1b-"}, Options{Temp: dir, Mark: "reprise-0a1c-"}
	var made []string
	for _, o := range []Options{mine, mine, other, {Temp: dir}} {
		name, err := cli{opts: o}.makeTemp("")
		testenv.Must(t, err)
		testenv.Must(t, os.WriteFile(filepath.Join(name, "task.json"), nil, 0o600))
		made = append(made, name)
	}
	Options{Temp: dir}.Sweep()
	mine.Sweep()
	for i, name := range made {
		if _, err := os.Stat(name); (err == nil) != (i >= 2) {
			t.Errorf("%s: %v", name, err)
		}
	}
	Options{Temp: filepath.Join(dir, "none"), Mark: "x"}.Sweep()
}
