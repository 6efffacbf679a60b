package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestVetTime has more pipelines that never end than there is time for: they
// are checked side by side, and what was not checked is named.
func TestVetTime(t *testing.T) {
	const bomb = "import \"list\"\n_l: list.Range(0, 3000, 1)\n_n: [for a in _l for b in _l for c in _l {a+b+c}]\nphases: [{name: \"a\", goal: \"x\"}]\n"
	dir := t.TempDir()
	var names []string
	for i := range 12 + 2*runtime.NumCPU() { // so many are checked side by side
		file := filepath.Join(dir, fmt.Sprintf("%d.cue", i))
		if err := os.WriteFile(file, []byte(bomb), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, file)
	}
	begin := time.Now()
	found, _, err := vetEach(t.Context(), nil, names, time.Second)
	if err != nil || len(found) != len(names) {
		t.Fatalf("%d, %v", len(found), err)
	}
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
	for i, mistakes := range found {
		if len(mistakes) != 1 || !strings.Contains(mistakes.Error(), names[i]) {
			t.Errorf("of %s it says %v", names[i], mistakes)
		}
	}
	if last := found[len(found)-1].Error(); !strings.Contains(last, "was not checked: all together took longer than 1s; check it by itself: reprise vet ") {
		t.Errorf("the last reads %q", last)
	}
}
