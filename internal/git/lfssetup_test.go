package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What git-lfs leaves where it works is taken only if it is what the pointer stands for:
// no other content, and nothing of elsewhere.
func TestWhatIsTakenFromAStore(t *testing.T) {
	t.Parallel()
	p := pointer{op: op{path: "a.bin"}, oid: oidOf(content), size: int64(len(content))}
	for name, c := range map[string]struct {
		prepare func(object, secret string) error
		want    string
	}{
		"it":     {func(object, _ string) error { return os.WriteFile(object, []byte(content), 0o600) }, ""},
		"other":  {func(object, _ string) error { return os.WriteFile(object, []byte(strings.ToUpper(content)), 0o600) }, "git-lfs has stored something else for a.bin"},
		"longer": {func(object, _ string) error { return os.WriteFile(object, []byte(content+"more"), 0o600) }, "git-lfs has stored something else for a.bin"},
		"link":   {func(object, secret string) error { return os.Symlink(secret, object) }, "it is no ordinary file"},
		"folder linked": {func(object, secret string) error {
			dir := filepath.Dir(object)
			return errors.Join(os.Remove(dir), os.Symlink(filepath.Dir(secret), dir))
		}, "escapes"},
		"pipe":    {func(object, _ string) error { return syscall.Mkfifo(object, 0o600) }, "no ordinary file"},
		"nothing": {func(string, string) error { return nil }, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			store := t.TempDir()
			secret := filepath.Join(t.TempDir(), p.oid) // with the very content, so that only where it lies can be wrong
			write(t, secret, content)
			object := largeFile(store, p.oid)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(object), 0o755), c.prepare(object, secret)))
			data, err := p.read(store)
			if c.want == "" && (err != nil || string(data) != content) {
				t.Errorf("read %q, %v", data, err)
			}
			if c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}
