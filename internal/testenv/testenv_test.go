package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Agent programs that somebody has installed are not found, and what lies beside
// them is.
func TestWithoutAgents(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"with/claude", "with/other", "without/tool"} {
		file := filepath.Join(dir, name)
		must(os.MkdirAll(filepath.Dir(file), 0o755))
		must(os.WriteFile(file, []byte("#!/bin/sh\n"), 0o755))
	}
	without := filepath.Join(dir, "without")
	t.Setenv("PATH", withoutAgents(filepath.Join(dir, "with")+":"+without, filepath.Join(dir, "links")))
	for name, want := range map[string]bool{"claude": false, "other": true, "tool": true} {
		if found, err := exec.LookPath(name); (err == nil) != want {
			t.Errorf("%s is found: %q, %v", name, found, err)
		}
	}
	if links, err := os.ReadDir(filepath.Join(dir, "links")); err != nil || len(links) != 1 {
		t.Errorf("folders of links: %v, %v; want one, for the folder with an agent", links, err)
	}
}
