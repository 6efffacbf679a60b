package folders

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A virtual environment in a copy leads to the copy, and so does nothing else.
func TestRelocate(t *testing.T) {
	dir, of := filepath.Join(t.TempDir(), "copy$1"), filepath.Join(t.TempDir(), "tree")
	site := "app/.venv/lib/python3.11/site-packages/"
	before := map[string]string{
		"app/.venv/pyvenv.cfg":                    "command = /usr/bin/python3 -m venv " + of + "/app/.venv\n",
		"app/.venv/bin/tool":                      "#!" + of + "/app/.venv/bin/python\nprint(1)\n",
		"app/.venv/bin/activate":                  "VIRTUAL_ENV='" + of + "/app/.venv'\n",
		"app/.venv/bin/program":                   "\x7fELF\x00",
		site + "demo.pth":                         of,
		site + "demo.egg-link":                    of + "/app\n.",
		site + "__editable___demo_0_finder.py":    "MAPPING = {'demo': '" + of + "/app/src/demo'}\n",
		site + "demo-0.dist-info/direct_url.json": `{"url": "file://` + of + `/app"}`,
		site + "other.pth":                        of + "2/src\n" + of + ".old\n/usr" + "/lib\n",
		site + "demo/data.txt":                    of + "/data\n",
		"app/notes.txt":                           of + "/app\n",
		"node_modules/x/.venv/pyvenv.cfg":         of + "/x\n",
		"node_modules/x/.venv/bin/tool":           of + "/x\n",
	}
	for name, text := range before {
		do(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755))
		do(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o555))
	}
	outside := filepath.Join(t.TempDir(), "python")
	do(t, os.WriteFile(outside, []byte(of+"/x"), 0o644))
	do(t, os.Symlink(outside, filepath.Join(dir, "app/.venv/bin/python")))
	do(t, os.Chmod(filepath.Join(dir, "app/.venv/bin"), 0o555))
	do(t, Relocate(dir, of))
	want := map[string]string{}
	for name, text := range before {
		want[name] = text
	}
	want["app/.venv/pyvenv.cfg"] = "command = /usr/bin/python3 -m venv " + dir + "/app/.venv\n"
	want["app/.venv/bin/tool"] = "#!" + dir + "/app/.venv/bin/python\nprint(1)\n"
	want["app/.venv/bin/activate"] = "VIRTUAL_ENV='" + dir + "/app/.venv'\n"
	want[site+"demo.pth"] = dir
	want[site+"demo.egg-link"] = dir + "/app\n."
	want[site+"__editable___demo_0_finder.py"] = "MAPPING = {'demo': '" + dir + "/app/src/demo'}\n"
	want[site+"demo-0.dist-info/direct_url.json"] = `{"url": "file://` + dir + `/app"}`
	got := map[string]string{}
	for name := range before {
		data, err := os.ReadFile(filepath.Join(dir, name))
		do(t, err)
		got[name] = string(data)
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Mode().Perm() != 0o555 {
			t.Errorf("%s has mode %v, %v", name, info.Mode(), err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("relocated (-want +got):\n%s", diff)
	}
	if data, err := os.ReadFile(outside); err != nil || string(data) != of+"/x" {
		t.Errorf("a link was followed: %q, %v", data, err)
	}
}
