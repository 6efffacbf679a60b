package lfs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// What git-lfs leaves where it works is taken only if it is what the pointer stands for:
// no other content, and nothing of elsewhere.
func TestWhatIsTakenFromAStore(t *testing.T) {
	const content = "content\n"
	p := Pointer{Path: "a.bin", Oid: fmt.Sprintf("%x", sha256.Sum256([]byte(content))), Size: int64(len(content))}
	for name, c := range map[string]struct {
		prepare func(object, secret string) error
		want    string
	}{
		"it":     {func(object, _ string) error { return os.WriteFile(object, []byte(content), 0o600) }, ""},
		"other":  {func(object, _ string) error { return os.WriteFile(object, []byte("CONTENT\n"), 0o600) }, "git-lfs has stored something else for a.bin"},
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
			store, users, elsewhere := t.TempDir(), t.TempDir(), t.TempDir()
			secret := filepath.Join(elsewhere, p.Oid) // with the very content, so that only where it lies can be wrong
			put(t, secret, content)
			object := ObjectIn(store, p.Oid)
			if err := errors.Join(os.MkdirAll(filepath.Dir(object), 0o755), c.prepare(object, secret)); err != nil {
				t.Fatal(err)
			}
			data, err := p.Read(store)
			copied := p.Copy(store, users)
			if c.want == "" {
				if err != nil || string(data) != content || copied != nil || !p.In(users) {
					t.Errorf("read %q, %v; copied: %v, %v", data, err, copied, p.In(users))
				}
				return
			}
			for _, err := range []error{err, copied} {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error %v, want %q", err, c.want)
				}
			}
			if left, _ := os.ReadDir(filepath.Dir(ObjectIn(users, p.Oid))); len(left) > 0 {
				t.Errorf("left in the user's folder: %v", left)
			}
		})
	}
}
