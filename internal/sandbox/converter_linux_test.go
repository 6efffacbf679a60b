//go:build amd64 || arm64

package sandbox

import (
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A program that another one starts reads and writes what it is given, and reaches
// nothing else, whatever PATH, home or pipes lead it to. Without the sandbox all
// of it works.
func TestConverters(t *testing.T) {
	c := newCell(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	socket, err := net.Listen("unix", filepath.Join(c.root, "s"))
	testenv.Must(t, err)
	defer socket.Close()
	store, late := filepath.Join(c.root, "store"), filepath.Join(c.root, "late")
	c.write(filepath.Join(store, "file"), "")
	c.write(filepath.Join(c.dir, "a.bin"), "")

	commands := map[string]string{
		"store": "echo > $store/x", "home": "echo > ~/y", "temporary": "echo > $TMPDIR/z", "read-late": "cat $late/file", "read-system": "cat /etc/passwd",
		"convert":    "test \"$(cat)\" = content",
		"write-late": "echo > $late/x", "read-tree": "cat $tree/main.go", "write-tree": "echo > $tree/a.bin", "read-repo": "cat $repo/.git/config",
		"write-repo": "echo > $repo/x", "read-users-home": "cat $user/.ssh/id_ed25519", "write-users-home": "echo >> $user/.profile",
		"read-temp": "cat $temp/token", "write-temp": "echo > $temp/x", "link": "ln $late/file $store/link", "through-link": "ln -sfn $temp $store/away && cat $store/away/token",
		"environment": fmt.Sprintf("cat /proc/%d/environ", os.Getpid()),
		"tcp":         "exec 3<>/dev/tcp/127.0.0.1/" + port, "udp": "exec 3<>/dev/udp/127.0.0.1/" + port,
		"socket": fmt.Sprintf("perl -MIO::Socket::UNIX -e 'exit !IO::Socket::UNIX->new(%q)'", filepath.Join(c.root, "s")),
	}
	allowed := []string{"convert", "home", "read-late", "read-system", "store", "temporary"}
	for how, want := range map[Containment][]string{Required: allowed, BestEffort: allowed, uncontained: nil} {
		t.Run(string(how), func(t *testing.T) {
			testenv.Must(t, os.RemoveAll(late))
			script := fmt.Sprintf("IFS=; store=%q late=%q tree=%q repo=%q user=%q temp=%q\n", store, late, c.dir, c.repo, c.user, c.temp)
			for _, name := range slices.Sorted(maps.Keys(commands)) {
				script += fmt.Sprintf("if (%s) >&2; then ok=\"$ok %s\"; fi\n", commands[name], name)
			}
			script += `printf '%s' "$ok"`
			env := append(slices.Clone(c.environ), "TMPDIR="+c.temp)
			argv, env, err := Converters(how, []string{testenv.Self(t), "fake", "enter the sandbox"}, c.environ)([]string{"/bin/bash", "-c", script}, env, []string{late}, store)
			testenv.Must(t, err)
			c.write(filepath.Join(late, "file"), "x")
			between := exec.Command("/bin/sh", append([]string{"-c", `"$@"; exit $?`, "git"}, argv...)...) // the process that starts it is not ours
			between.Env, between.Stdin = env, strings.NewReader("content")
			said := &strings.Builder{}
			between.Stderr = said
			out, err := between.Output()
			t.Logf("%s", said)
			testenv.Must(t, err)
			got := strings.Fields(string(out))
			slices.Sort(got)
			if want == nil {
				want = slices.Sorted(maps.Keys(commands))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what worked (-want +got):\n%s", diff)
			}
		})
	}
}
