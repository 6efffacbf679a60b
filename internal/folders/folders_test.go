package folders

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// locked fills a folder with what programs leave behind, and gives a root of
// the folder above it.
func locked(t *testing.T) (*os.Root, string) {
	t.Helper()
	dir := t.TempDir()
	top := filepath.Join(dir, "top")
	for name, mode := range map[string]fs.FileMode{
		"read-only/deep/file": 0o444, "closed/deep/file": 0o000, "unreadable/deep/file": 0o644,
		"no-entry/deep/file": 0o644, "odd \xff/file": 0o644, "open/file": 0o640,
	} {
		file := filepath.Join(top, name)
		testenv.Must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, nil, 0o644), os.Chmod(file, mode)))
	}
	testenv.Must(t, os.Symlink("../outside", filepath.Join(top, "link")))
	for _, e := range []struct {
		name string
		mode fs.FileMode
	}{
		{"outside", 0o755}, // made here, and closed below
		{"top/read-only/deep", 0o555},
		{"top/read-only", 0o555},
		{"top/closed/deep", 0},
		{"top/closed", 0},
		{"top/unreadable/deep", 0o333},
		{"top/unreadable", 0o333},
		{"top/no-entry/deep", 0o666},
		{"top/no-entry", 0o666},
		{"outside", 0},
		{"top", 0},
	} {
		file := filepath.Join(dir, e.name)
		if err := os.MkdirAll(file, 0o755); err != nil && e.mode != 0 {
			t.Fatal(err)
		}
		testenv.Must(t, os.Chmod(file, e.mode))
	}
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	t.Cleanup(func() {
		_ = root.Close() // opened for reading
		_ = os.Chmod(filepath.Join(dir, "outside"), 0o755)
		if err := RemoveAll(top); err != nil { // else the folder of the test could not be removed
			t.Error(err)
		}
	})
	return root, dir
}

func mode(t *testing.T, file string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(file)
	testenv.Must(t, err)
	return info.Mode().Perm()
}

func TestUnlock(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		root, dir := locked(t)
		Unlock(root, "top")
		got := map[string]fs.FileMode{}
		err := Walk(root, "top", func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.Type()&fs.ModeSymlink == 0 {
				got[name] = mode(t, filepath.Join(dir, name))
			}
			return err
		})
		testenv.Must(t, err)
		want := map[string]fs.FileMode{
			"top": 0o700, "top/open": 0o755, "top/open/file": 0o640, "top/odd \xff": 0o755, "top/odd \xff/file": 0o644,
			"top/read-only": 0o755, "top/read-only/deep": 0o755, "top/read-only/deep/file": 0o444,
			"top/closed": 0o700, "top/closed/deep": 0o700, "top/closed/deep/file": 0o400,
			"top/unreadable": 0o733, "top/unreadable/deep": 0o733, "top/unreadable/deep/file": 0o644,
			"top/no-entry": 0o766, "top/no-entry/deep": 0o766, "top/no-entry/deep/file": 0o644,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("modes (-want +got):\n%s", diff)
		}
		if got := mode(t, filepath.Join(dir, "outside")); got != 0 {
			t.Errorf("a link was followed: what it leads to has mode %o", got)
		}
	})
}

func TestRemove(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		root, dir := locked(t)
		for _, name := range []string{"top/read-only/deep/file", "top/closed/deep", "top/unreadable", "top/link", "top/gone/file", "top"} {
			if err := Remove(root, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := root.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there (%v)", name, err)
			}
		}
		if _, err := os.Lstat(filepath.Join(dir, "outside")); err != nil {
			t.Errorf("a link was followed: %v", err)
		}
	})
}

func TestRemoveAll(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		_, dir := locked(t)
		if err := RemoveAll(filepath.Join(dir, "top")); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "top")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("it is still there (%v)", err)
		}
	})
}

func TestWalkLeavesOut(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/1", "a/2", "b/1", "c"} {
		file := filepath.Join(dir, name)
		testenv.Put(t, file, "")
	}
	root := opened(t, dir)
	for stop, want := range map[string][]string{
		"":     {".", "a", "a/1", "a/2", "b", "b/1", "c"},
		"a":    {".", "a", "b", "b/1", "c"},
		"a/1":  {".", "a", "a/1", "b", "b/1", "c"},
		".":    {"."},
		"gone": {"gone"},
	} {
		from := "."
		if stop == "gone" {
			from = stop
		}
		var got []string
		err := Walk(root, from, func(name string, _ fs.DirEntry, err error) error {
			got = append(got, name)
			if name == stop {
				return fs.SkipDir
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", stop, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("leaving out %q (-want +got):\n%s", stop, diff)
		}
	}
}

// Whatever a program puts in the place of a file, reading it comes to an end.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	root := opened(t, dir)
	at := func(name string) string { return filepath.Join(dir, name) }
	testenv.Must(t, errors.Join(
		os.WriteFile(at("file"), []byte("12345"), 0o600), os.Mkdir(at("folder"), 0o700), syscall.Mkfifo(at("pipe"), 0o600),
		os.Symlink("file", at("link")), os.Symlink("/dev/zero", at("device")),
	))
	if data, err := ReadFile(root, "file", 5); err != nil || string(data) != "12345" {
		t.Errorf("read %q, error %v", data, err)
	}
	if _, err := ReadFile(root, "file", 4); err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("a file that is too large: error %v", err)
	}
	for _, name := range []string{"folder", "pipe", "link", "device", "missing"} {
		if data, err := ReadFile(root, name, 100); err == nil {
			t.Errorf("%s reads %q", name, data)
		}
	}
}

// A file that somebody replaces all the time is opened all the same, and is never taken for
// something else.
func TestOpenWhatIsReplaced(t *testing.T) {
	root := opened(t, t.TempDir())
	testenv.Must(t, root.WriteFile("a", []byte("x"), 0o644))
	stop, stopped := make(chan struct{}), make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				stopped <- nil
				return
			default:
			}
			err := root.WriteFile("b", []byte("x"), 0o644)
			if err == nil {
				err = root.Rename("b", "a")
			}
			if err != nil {
				stopped <- err
				return
			}
		}
	}()
	for range 5000 {
		if data, err := ReadFile(root, "a", 1); err != nil || string(data) != "x" {
			t.Errorf("it reads %q, %v", data, err)
			break
		}
	}
	close(stop)
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// Links that lead to a folder are not below it; every other one on the way is.
func TestLinkBelow(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	testenv.Must(t, err)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"top/in", "out/in"} {
		testenv.Must(t, errors.Join(os.MkdirAll(at(name), 0o755), os.WriteFile(at(name+"/x"), nil, 0o600)))
	}
	for link, to := range map[string]string{"top/link": "../out", "top/in/link": at("out"), "top/self": ".", "top/x": "in/x", "top/gone": "nothing", "name": "top", "out/link": "in"} {
		testenv.Must(t, os.Symlink(to, at(link)))
	}
	for file, want := range map[string]string{
		"top/in/x": "", "top/in/none": "", "top": "", "out/in/x": "", "out/link/x": "", "name/in/x": "", "none/x": "",
		"top/link/in/x": "top/link", "top/in/link/in/x": "top/in/link", "top/x": "top/x", "top/gone": "top/gone", "top/self/in/x": "top/self", "top/self/in/link/in/x": "top/self",
		"name/link/in/x": "name/link", "name/x": "name/x",
	} {
		for _, top := range []string{"top", "name"} {
			got := LinkBelow(at(top), at(file))
			if want != "" {
				if got != at(want) {
					t.Errorf("%s below %s leads through %q, want %s", file, top, got, want)
				}
			} else if got != "" {
				t.Errorf("%s below %s leads through %q, want none", file, top, got)
			}
		}
	}
	if got := LinkBelow(at("none"), at("top/link/in/x")); got != "" {
		t.Errorf("below a folder that is not there: %q", got)
	}
}

// Between taking the lock and writing its number a process is not yet known,
// but it soon will be.
func TestTakenJustNow(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "lock"))
	testenv.Must(t, err)
	defer f.Close()
	testenv.Must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	written := make(chan error)
	go func() {
		time.Sleep(50 * time.Millisecond)
		_, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
		written <- err
	}()
	_, err = TakeLock(t.Context(), root)
	var locked *Held
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}

// A link in the place of a folder is seen, also one to where the folder is now, and
// is removed without what it leads to.
func TestStanding(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	dir, away := filepath.Join(top, "tree"), filepath.Join(top, "away")
	do := func(err error) {
		t.Helper()
		testenv.Must(t, err)
	}
	do(os.Mkdir(dir, 0o755))
	do(os.WriteFile(filepath.Join(dir, "a"), nil, 0o644))
	s := Stands(top, dir)
	do(s.Still())
	do(Straighten(dir))
	do(os.Chmod(dir, 0))
	do(s.Still())
	do(os.Chmod(dir, 0o755))
	do(os.Rename(dir, away))
	do(s.Still())
	do(Straighten(dir))
	do(os.Symlink(away, dir))
	if err := s.Still(); err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("of the link it says %v", err)
	}
	do(Straighten(dir))
	if _, err := os.Lstat(dir); !os.IsNotExist(err) {
		t.Errorf("the link is there: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(away, "a")); err != nil {
		t.Errorf("what it leads to: %v", err)
	}
	do(os.Mkdir(dir, 0o755))
	if s.Still() == nil {
		t.Error("another folder passes for the one that was there")
	}
}

// A folder that others have made, or may write in, is not used. Root uses what is of the owner of the folder beside it.
func TestOwn(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		dir, beside, uid := t.TempDir(), t.TempDir(), os.Geteuid()
		for _, tt := range []struct {
			mode             os.FileMode
			owner, gid, next int
			want             string
		}{
			{0o700, uid, uid, uid, ""},
			{0o755, uid, uid, uid, ""},
			{0o775, uid, uid, uid, ""},
			{0o777, uid, uid, uid, "others may write in " + dir + " (mode 0777)"},
			{0o1777, uid, uid, uid, "others may write in " + dir + " (mode 0777)"},
			{0o770, uid, 12, uid, "others may write in " + dir + " (mode 0770)"},
			{0o700, 23456, 23456, uid, dir + " belongs to another user (23456), who may have filled it"},
			{0o700, 23456, 23456, 23456, ""},
			{0o707, 23456, 23456, 23456, "others may write in " + dir + " (mode 0707)"},
		} {
			if uid != 0 && (tt.owner != uid || tt.gid != uid) {
				continue // only root can make it
			}
			testenv.Must(t, errors.Join(os.Chown(dir, tt.owner, tt.gid), os.Chown(beside, tt.next, -1), syscall.Chmod(dir, uint32(tt.mode))))
			said := ""
			if err := Own(dir, beside); err != nil {
				said = err.Error()
			}
			if said != tt.want {
				t.Errorf("%o of %d:%d beside %d: %q, want %q", tt.mode, tt.owner, tt.gid, tt.next, said, tt.want)
			}
		}
		if err := Own(filepath.Join(dir, "none"), beside); err != nil {
			t.Errorf("none is there: %v", err)
		}
	})
}

// opened is a folder for as long as a test lasts.
func opened(t *testing.T, dir string) *os.Root {
	t.Helper()
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = root.Close() })
	return root
}

func TestAliases(t *testing.T) {
	existing := []string{"README.md", "src/main.go", "src/util/a.go", "Doc/x.md", "caf\u00e9.md", "both", "Both", "Stra\u00dfe"}
	for name, test := range map[string]struct {
		added []string
		gone  string
		want  map[string]string
	}{
		"another case":           {[]string{"readme.MD"}, "", map[string]string{"readme.MD": "README.md"}},
		"another folder":         {[]string{"SRC/new.go"}, "", map[string]string{"SRC/new.go": "src"}},
		"a folder further in":    {[]string{"src/Util/b.go"}, "", map[string]string{"src/Util/b.go": "src/util"}},
		"another accent":         {[]string{"cafe\u0301.md"}, "", map[string]string{"cafe\u0301.md": "caf\u00e9.md"}},
		"the sign for Kelvin":    {[]string{"k.md", "\u212a.md"}, "", map[string]string{"\u212a.md": "k.md"}},
		"two new ones":           {[]string{"A.go", "a.go"}, "", map[string]string{"a.go": "A.go"}},
		"a file like a folder":   {[]string{"doc"}, "", map[string]string{"doc": "Doc"}},
		"only the case changes":  {[]string{"readme.md"}, "README.md", map[string]string{}},
		"a folder is renamed":    {[]string{"doc/x.md"}, "Doc/x.md", map[string]string{}},
		"both are there already": {[]string{"Both/x"}, "", map[string]string{}},
		"no alias":               {[]string{"src/new.go", "new/main.go"}, "", map[string]string{}},
	} {
		if got := Aliases(test.added, existing, map[string]bool{test.gone: true}); !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}
