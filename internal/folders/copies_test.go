package folders

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func do(t *testing.T, err error) {
	t.Helper()
	testenv.Must(t, err)
}

// roots opens two empty folders.
func roots(t *testing.T) (src, dst *os.Root) {
	t.Helper()
	return opened(t, t.TempDir()), opened(t, t.TempDir())
}

func TestCopy(t *testing.T) {
	src, dst := roots(t)
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	do(t, src.MkdirAll("a/b", 0o755))
	do(t, src.WriteFile("a/b/tool", []byte("program"), 0o755))
	do(t, src.Chmod("a/b/tool", 0o555))
	do(t, src.Chtimes("a/b/tool", old, old))
	do(t, src.Symlink("/etc", "a/link"))
	do(t, syscall.Mkfifo(filepath.Join(src.Name(), "a/pipe"), 0o600))
	do(t, src.Chmod("a/b", 0o500))
	defer func() { do(t, src.Chmod("a/b", 0o700)) }()
	do(t, Copy(t.Context(), src, "a", dst, "c"))
	info, err := dst.Stat("c/b/tool")
	do(t, err)
	if info.Mode().Perm() != 0o555 || !info.ModTime().Equal(old) {
		t.Errorf("mode %v and time %v, want 0555 and %v", info.Mode(), info.ModTime(), old)
	}
	if data, err := dst.ReadFile("c/b/tool"); err != nil || string(data) != "program" {
		t.Errorf("%q, %v", data, err)
	}
	if target, err := dst.Readlink("c/link"); err != nil || target != "/etc" {
		t.Errorf("the link leads to %q, %v", target, err)
	}
	if _, err := dst.Lstat("c/pipe"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a pipe: %v", err)
	}
	do(t, dst.WriteFile("c/b/new", nil, 0o600)) // whoever has the copy may write there
}

// What a program has closed to everybody can be copied all the same.
func TestLocked(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		src, dst := roots(t)
		do(t, src.MkdirAll("a/b", 0o755))
		do(t, src.WriteFile("a/b/c", []byte("text"), 0o644))
		do(t, src.Chmod("a/b/c", 0))
		do(t, src.Chmod("a/b", 0))
		do(t, src.Chmod("a", 0))
		do(t, Copy(t.Context(), src, "a", dst, "d"))
		if _, err := dst.Stat("d/b/c"); err != nil {
			t.Error(err)
		}
		do(t, errors.Join(src.Chmod("a", 0o700)))
	})
}

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
