//go:build amd64 || arm64

package sandbox

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/process"
)

// separate finds out how calls are kept together here, by trying it with the helper.
func separate(helper []string, l Limits) separation {
	err := errors.New("this build of reprise makes none")
	if noNamespaces != "on" {
		p := policy{Own: true, Memory: memoryFor(l), Network: &closed{Own: true}}
		p.noteUser()
		if err = try(helper, p, process.Namespaces(true)); err == nil {
			return separation{namespaced: true, network: true}
		}
		p.Network = nil
		if other := try(helper, p, process.Namespaces(false)); other == nil {
			return separation{namespaced: true, noNet: err.Error(), noGate: cannotLend(helper)}
		}
	}
	return separation{why: err.Error(), noNet: err.Error(), noGate: cannotLend(helper), group: canGroup(helper, l)}
}

// cannotLend says why calls cannot be given their sockets here, such as that something above reprise answers system calls
// already; "" if they can.
func cannotLend(helper []string) string {
	if err := try(helper, policy{Network: &closed{Network: Network{Port: 1}}}, process.Apart()); err != nil {
		return err.Error()
	}
	return ""
}

// canGroup reports whether a call can have a control group here: making one is
// less than being allowed to enter it.
func canGroup(helper []string, l Limits) bool {
	g, err := makeGroup(l.Processes, "trial")
	if err != nil {
		return false
	}
	defer g.Remove()
	return try(helper, policy{Control: g.file()}, process.Apart()) == nil
}

// try has the helper do what it does for a call, but for its program.
func try(helper []string, p policy, attr *syscall.SysProcAttr) error {
	if len(helper) == 0 {
		return errors.New("there is no program to try it with")
	}
	p.Trial = true
	env, err := p.within(nil)
	if err != nil {
		return err
	}
	said := &strings.Builder{}
	cmd := exec.Command(helper[0], helper[1:]...)
	cmd.Args = append(cmd.Args, os.DevNull) // for a program, which is not started
	cmd.Env, cmd.Stderr, cmd.SysProcAttr = env, said, attr
	cmd.SysProcAttr.Pdeathsig = 0 // it would end with the thread that is here now
	err = cmd.Run()
	var refused *os.PathError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &refused) && refused.Err == unix.ENOSPC: // see user_namespaces(7)
		return errors.New("the system lets this user make none, or no more")
	case errors.As(err, &refused):
		return fmt.Errorf("the system lets this user make none: %w", refused.Err)
	}
	_, why, _ := strings.Cut(process.LastWords(said.String()), "sandbox: ")
	return errors.New(cmp.Or(why, err.Error()))
}

// noteUser notes whom the program runs as: in a new user namespace a process
// cannot tell any more.
func (p *policy) noteUser() {
	if uid := os.Geteuid(); uid != 0 {
		p.User, p.Group = uid, os.Getegid()
	}
}

// enterNamespaces arranges the namespaces that this process is the first one of.
func (p policy) enterNamespaces() error {
	if !p.Own {
		return nil
	}
	if p.User != 0 {
		for _, f := range []struct{ name, text string }{
			{"setgroups", "deny"}, // without it, only root of the machine may name a group
			{"uid_map", fmt.Sprintf("%[1]d %[1]d 1", p.User)},
			{"gid_map", fmt.Sprintf("%[1]d %[1]d 1", p.Group)},
		} {
			if err := os.WriteFile("/proc/self/"+f.name, []byte(f.text), 0); err != nil {
				return fmt.Errorf("a user namespace: %w", err)
			}
		}
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("mounts of its own: %w", err)
	}
	if err := unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil { // in many containers nobody may
		return fmt.Errorf("a /proc of its own: %w", err)
	}
	if !p.apart() {
		return nil
	}
	if err := raiseLoopback(); err != nil {
		return fmt.Errorf("a network of its own: %w", err)
	}
	return nil
}

// furnishNamespaces adds to them what depends on the call: a /dev/shm that goes with it, and a listener in the place of
// the gate, which is handed out.
func (p policy) furnishNamespaces() error {
	if p.Own && p.Memory != 0 {
		if err := unix.Mount("tmpfs", memory, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=1777,size="+strconv.FormatUint(p.Memory, 10)); err != nil {
			return fmt.Errorf("a %s of its own: %w", memory, err)
		}
	}
	if !p.Own || !p.apart() || p.Network.Port == 0 { // then nothing is handed out, and that descriptor is another's
		return nil
	}
	defer unix.Close(relayFile)
	if err := handOut(p.Network.Port); err != nil {
		return fmt.Errorf("a network of its own: leading to the proxy: %w", err)
	}
	return nil
}

// memoryFor is the size of a call's /dev/shm: the machine's, within what it may write. 0: it uses the machine's, as
// there is none or one of its folders lies there.
func memoryFor(l Limits, folders ...string) uint64 {
	var s unix.Statfs_t
	if err := unix.Statfs(memory, &s); err != nil {
		return 0
	}
	for _, dir := range folders {
		if within(dir, memory) {
			return 0
		}
	}
	return min(s.Blocks*uint64(s.Frsize), l.Disk)
}
