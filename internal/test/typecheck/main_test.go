package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// What holds here and not elsewhere is found: in a file that another system leaves out, in a test,
// and in a number that its integers cannot hold.
func TestTypeErrors(t *testing.T) {
	folder := t.TempDir()
	t.Setenv("GOCACHE", t.TempDir()) // go list fails where it may not write to all that is in one
	for name, text := range map[string]string{
		"go.mod":        "module example.com/m\n\ngo 1.26\n",
		"big.go":        "package m\n\nconst big int = 1 << 40\n",
		"m_linux.go":    "package m\n\nfunc only() {}\n",
		"m_test.go":     "package m\n\nfunc init() { only() }\n",
		"sub/sub.go":    "package sub\n\nimport \"errors\"\n\nvar _ = errors.New\n",
		"m_other.go":    "//go:build !linux && !darwin\n\npackage m\n\nfunc only() {}\n",
		"testdata/x.go": "package wrong\n\nvar x int = \"\"\n",
	} {
		path := filepath.Join(folder, name)
		testenv.Put(t, path, text)
	}
	for system, want := range map[string]string{
		"linux/amd64":   "",
		"windows/amd64": "",
		"linux/386":     "big.go:3",
		"darwin/arm64":  "m_test.go:3",
	} {
		errors, err := typeErrors(folder, system)
		testenv.Must(t, err)
		if got := strings.Join(errors, "\n"); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q; it should name %q", system, got, want)
		}
	}
	if _, err := typeErrors(folder, "linux"); err == nil {
		t.Error("linux alone names no system, and was taken for one")
	}
}
