package process

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Programs that leave session, parents and environment behind are ended all the
// same. Nothing else runs beside this: whichever call ends next ends them.
func TestOrphansThatShedAll(t *testing.T) {
	name := fmt.Sprintf("4711.%d", time.Now().UnixNano())
	e, printed := shell(t, strings.ReplaceAll(`(setsid sh -c 'env -i setsid sleep N & env -i sleep N &' &); env -i setsid sleep N & sleep 0.2; echo done`, "N", name))
	if printed != "done\n" || e.Left == 0 {
		t.Errorf("it printed %q and ended with %+v", printed, e)
	}
	if left := testenv.StartedWith(t, name); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// In a container, a process whose session was begun outside of it is told that
// its session is 0, and so are all of that session. Orphans are found all the
// same, and what reprise itself starts is none.
func TestOrphansWhereTheSessionIsOutside(t *testing.T) {
	name := fmt.Sprintf("4712.%d", time.Now().UnixNano())
	cmd := exec.Command("/bin/sh", "-c", "(env -i setsid sleep "+name+" &); exec cat")
	cmd.SysProcAttr = Apart()
	pipes, err := connect(cmd, false, false, nil)
	testenv.Must(t, err)
	defer pipes.close()
	c, done, err := atWork.start(cmd, markerVar+"="+name)
	pipes.closeTheirs()
	testenv.Must(t, err)
	defer func() { done(); c.kill(); sweep(c.pid(), name); c.collect() }()
	ours := exec.Command("sleep", "600")
	testenv.Must(t, ours.Start())
	defer func() { _ = ours.Process.Kill(); _ = ours.Wait() }()

	outside := family{mark: markerVar + "=" + name, orphans: true}
	var orphans []process
	for end := time.Now().Add(5 * time.Minute); len(orphans) == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		orphans = slices.DeleteFunc(processes(), func(p process) bool {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid)) // it may be gone
			return p.parent != os.Getpid() || string(line) != "sleep\x00"+name+"\x00"
		})
	}
	if len(orphans) != 1 || !outside.has(orphans[0]) {
		t.Errorf("the orphan %+v is not known", orphans)
	}
	if outside.has(process{pid: ours.Process.Pid, parent: os.Getpid()}) || outside.has(process{pid: c.pid(), parent: os.Getpid(), session: c.pid()}) {
		t.Error("a program of reprise itself is taken for an orphan")
	}
}
