package testenv

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Programs that tests start hear signals that whoever runs the tests ignores.
func TestSignalsAreHeard(t *testing.T) {
	const below = "REPRISE_TEST_IGNORES"
	if os.Getenv(below) != "" {
		defer Isolate()()
		out, err := exec.Command("/bin/sh", "-c", "trap 'echo it hears HUP' HUP; trap 'echo it hears INT' INT; kill -HUP $$; kill -INT $$").CombinedOutput()
		t.Logf("%s%v", out, err)
		return
	}
	self, err := os.Executable()
	must(err)
	c := exec.Command("/bin/sh", "-c", `trap '' HUP INT; exec "$0" -test.v -test.run '^TestSignalsAreHeard$'`, self)
	c.Env = append(os.Environ(), below+"=1")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "hears HUP") || !strings.Contains(string(out), "hears INT") {
		t.Errorf("%v: %s", err, out)
	}
}
