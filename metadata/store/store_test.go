package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// in is a folder below the nearest one that is there.
func in(dir string) Folder {
	within := dir
	for info, err := os.Stat(within); err != nil || !info.IsDir(); info, err = os.Stat(within) {
		within = filepath.Dir(within)
	}
	return Folder{Dir: dir, Within: within}
}

func TestStoreLoadsWhatItSaved(t *testing.T) {
	s := in(filepath.Join(t.TempDir(), "new", "issue-7"))
	r := sample(t)
	for r.Revision = 1; r.Revision <= 3; r.Revision++ {
		testenv.Must(t, s.Save(r))
		got, err := s.Load()
		testenv.Must(t, err)
		if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("-saved +loaded:\n%s", diff)
		}
	}
	info, err := os.Stat(filepath.Join(s.Dir, metadata.File))
	testenv.Must(t, err)
	if got := info.Mode(); got != 0o644 {
		t.Errorf("mode %v, want 0644", got)
	}
	wantFiles(t, s.Dir, metadata.File)
}

func TestStoreRefusesAnInvalidRun(t *testing.T) {
	s := in(filepath.Join(t.TempDir(), "issue-7"))
	err := s.Save(metadata.Run{})
	if err == nil || !strings.HasPrefix(err.Error(), "save "+filepath.Join(s.Dir, metadata.File)+": ") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(s.Dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was done: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	formatted, err := metadata.Format(sample(t))
	testenv.Must(t, err)
	write := func(name string, data []byte) error { return os.WriteFile(name, data, 0o644) }
	for name, test := range map[string]struct {
		make func(name, elsewhere string) error
		want string
	}{
		"nothing":   {func(name, _ string) error { return nil }, "no such file"},
		"torn":      {func(name, _ string) error { return write(name, formatted[:100]) }, "it ends in the middle: it was cut off"},
		"empty":     {func(name, _ string) error { return write(name, nil) }, "it is empty"},
		"a folder":  {func(name, _ string) error { return os.Mkdir(name, 0o755) }, "is not a regular file"},
		"a pipe":    {func(name, _ string) error { return syscall.Mkfifo(name, 0o644) }, "is not a regular file"},
		"a symlink": {func(name, elsewhere string) error { return os.Symlink(elsewhere, name) }, "is a symbolic link"},
		"hard link": {func(name, elsewhere string) error { return os.Link(elsewhere, name) }, "is a hard link"},
		"a terabyte": {
			func(name, _ string) error { return errors.Join(write(name, nil), os.Truncate(name, 1<<40)) },
			"has 1099511627776 bytes, more than the 67108864 that a run can need",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := in(t.TempDir())
			elsewhere := filepath.Join(t.TempDir(), "elsewhere.json")
			testenv.Must(t, write(elsewhere, formatted))
			file := filepath.Join(s.Dir, metadata.File)
			testenv.Must(t, test.make(file, elsewhere))
			_, err := s.Load()
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), file) {
				t.Errorf("got %v, want %s: %s", err, file, test.want)
			}
			if got := errors.Is(err, fs.ErrNotExist); got != (name == "nothing") {
				t.Errorf("wraps fs.ErrNotExist: %v", got)
			}
		})
	}
}

// A link in the place of the record is replaced, not followed.
func TestSaveReplacesALink(t *testing.T) {
	s := in(t.TempDir())
	elsewhere := filepath.Join(t.TempDir(), "elsewhere")
	testenv.Must(t, os.WriteFile(elsewhere, []byte("precious"), 0o600))
	testenv.Must(t, os.Symlink(elsewhere, filepath.Join(s.Dir, metadata.File)))
	testenv.Must(t, s.Save(sample(t)))
	if _, err := s.Load(); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(elsewhere); err != nil || string(data) != "precious" {
		t.Errorf("the file behind the link: %q, %v", data, err)
	}
}

// Who works in a folder above it leads no save and no load out of that folder.
func TestStoreIsNotLedAway(t *testing.T) {
	within, elsewhere := t.TempDir(), t.TempDir()
	s := Folder{Dir: filepath.Join(within, ".reprise", "issue-7"), Within: within}
	testenv.Must(t, s.Save(sample(t)))
	if _, err := s.Load(); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(elsewhere, "issue-7", metadata.File)
	testenv.Must(t, errors.Join(os.Mkdir(filepath.Dir(precious), 0o755), os.WriteFile(precious, []byte("precious"), 0o600)))
	for _, link := range []string{filepath.Dir(s.Dir), s.Dir} {
		testenv.Must(t, os.RemoveAll(filepath.Dir(s.Dir)))
		to := elsewhere
		if link == s.Dir {
			to = filepath.Dir(precious)
		}
		testenv.Must(t, errors.Join(os.MkdirAll(filepath.Dir(link), 0o755), os.Symlink(to, link)))
		if err := s.Save(sample(t)); err == nil {
			t.Errorf("with %s as a link it was saved", link)
		}
		if _, err := s.Load(); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("with %s as a link: error %v", link, err)
		}
		if data, err := os.ReadFile(precious); err != nil || string(data) != "precious" {
			t.Errorf("the file elsewhere reads %q, error %v", data, err)
		}
		wantFiles(t, elsewhere, "issue-7")
	}
}

func TestSaveSweepsWhatAKilledProcessLeft(t *testing.T) {
	s := in(t.TempDir())
	keep := []string{".metadata.json", "metadata.json1", "planning.md"}
	for _, name := range append(keep, ".metadata.json1", ".metadata.json4242424242") {
		testenv.Put(t, filepath.Join(s.Dir, name), "")
	}
	testenv.Must(t, s.Save(sample(t)))
	wantFiles(t, s.Dir, append(keep, metadata.File)...)
}

func TestSaveNamesTheFileThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	testenv.Put(t, file, "")
	for _, s := range []Folder{in(file), in(filepath.Join(file, "below")), in("/proc/self/fd")} {
		err := s.Save(sample(t))
		if err == nil || !strings.HasPrefix(err.Error(), "save "+filepath.Join(s.Dir, metadata.File)+": ") {
			t.Errorf("%s: got %v", s.Dir, err)
		}
	}
	dir := t.TempDir()
	testenv.Must(t, os.Mkdir(filepath.Join(dir, metadata.File), 0o755))
	if err := in(dir).Save(sample(t)); err == nil {
		t.Error("a folder was replaced")
	}
	wantFiles(t, dir, metadata.File)
}

// wantFiles fails the test if a folder does not hold exactly these files.
func wantFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	testenv.Must(t, err)
	want, got := map[string]bool{}, map[string]bool{}
	for _, name := range names {
		want[name] = true
	}
	for _, e := range entries {
		got[e.Name()] = true
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
