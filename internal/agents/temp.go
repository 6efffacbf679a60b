package agents

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// makeTemp makes the temporary folder of a call.
func (o Options) makeTemp() (string, error) {
	return os.MkdirTemp(o.Temp, cmp.Or(o.Mark, "reprise-"))
}

// Sweep removes the temporary folders of calls whose process was killed, by Mark. No other process may be calling
// agents with the same mark.
func (o Options) Sweep() {
	if o.Mark == "" {
		return
	}
	dir := cmp.Or(o.Temp, os.TempDir())
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // it is found out when the next one is made
	}
	for _, e := range entries {
		if e.IsDir() && strings.HasPrefix(e.Name(), o.Mark) {
			_ = folders.RemoveAll(filepath.Join(dir, e.Name())) // somebody else's, made to look alike
		}
	}
}
