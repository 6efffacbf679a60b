//go:build unix

package testenv

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user that systems keep for programs without rights.
const nobody = 65534

// Ordinary runs a test as somebody who is not root. Root may do what modes forbid
// everybody else, so what a test sees as root is not what people see. The test is
// run as the user who runs all tests and, if that is root, as an
// ordinary user, too: in another process, which has a home and a temporary
// folder of its own, copies of the folders in its working folder, and nothing
// else of the caller's.
func Ordinary(t *testing.T, test func(t *testing.T), folders ...string) {
	t.Helper()
	if os.Geteuid() != 0 {
		test(t)
		return
	}
	t.Run("root", test)
	t.Run("ordinary user", func(t *testing.T) { again(t, strings.Split(t.Name(), "/")[0], folders) })
}

// again runs the test of that name in another process.
func again(t *testing.T, name string, folders []string) {
	dir, err := os.MkdirTemp("", "ordinary-")
	Must(t, err)
	t.Cleanup(func() { Must(t, os.RemoveAll(dir)) })
	self, err := os.Executable()
	Must(t, err)
	program := filepath.Join(dir, filepath.Base(self))
	if os.Link(self, program) != nil { // another file system
		data, err := os.ReadFile(self)
		Must(t, err)
		Must(t, os.WriteFile(program, data, 0o755))
		Must(t, os.Chmod(program, 0o755)) // whatever the umask is
	}
	for _, name := range []string{"home", "tmp", "work"} {
		Must(t, os.Mkdir(filepath.Join(dir, name), 0o755))
	}
	for _, name := range folders {
		Must(t, os.CopyFS(filepath.Join(dir, "work", name), os.DirFS(name)))
	}
	Must(t, filepath.WalkDir(dir, func(file string, _ fs.DirEntry, err error) error {
		if err != nil || file == program {
			return err
		}
		return os.Lchown(file, nobody, nobody)
	}))
	c := exec.CommandContext(t.Context(), program, "-test.run=^"+name+"$", "-test.v="+verbose())
	c.Dir = filepath.Join(dir, "work")
	c.Env = append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "TMPDIR="+filepath.Join(dir, "tmp"))
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := c.CombinedOutput()
	if err != nil || testing.Verbose() {
		t.Logf("%s", out)
	}
	if err != nil {
		t.Errorf("as an ordinary user: %v", err)
	}
	if strings.Contains(string(out), "no tests to run") {
		t.Errorf("as an ordinary user, there is no test %s", name)
	}
}

func verbose() string {
	if testing.Verbose() {
		return "true"
	}
	return "false"
}
