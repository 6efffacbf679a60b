package process

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// EndLeftovers ends the processes of calls in a work tree that outlived the
// reprise they belonged to, and says how many there were. A reprise that was
// killed takes the programs it started with it, but not what those started.
// When it returns they are gone, unless the kernel holds them. Call it only
// while no other process can be at work in that tree.
func EndLeftovers(dir string) int {
	f := family{mark: treeVar + "=" + dir, sessions: map[int]bool{}}
	own, _ := unix.Getsid(0)
	killed, blank := map[int]bool{}, map[int]int{}
	alive := false
	for began := time.Now(); time.Since(began) < restTime || alive && time.Since(began) < endTime; time.Sleep(time.Millisecond) {
		calm := true
		alive = false
		for _, p := range processes() {
			switch {
			case p.dead || p.pid == os.Getpid():
			case f.has(p):
				calm, alive, killed[p.pid] = false, true, true
				if p.session != own && p.session != 0 {
					f.sessions[p.session] = true // each call began one
				}
				_ = unix.Kill(p.pid, unix.SIGKILL) // it may have gone meanwhile
			case p.blank() && blank[p.pid] < 10: // it becomes another program just now
				calm = false
				blank[p.pid]++
			}
		}
		if calm {
			break
		}
	}
	return len(killed)
}
