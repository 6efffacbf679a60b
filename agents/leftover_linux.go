package agents

import (
	"golang.org/x/sys/unix"
)

// EndLeftovers ends the processes of calls in a work tree that outlived the
// reprise they belonged to, and says how many there were. A reprise that was
// killed takes the programs it started with it, but not what those started.
// Call it only while no other process can be at work in that tree.
func EndLeftovers(dir string) (ended int) {
	f := family{mark: treeVar + "=" + dir}
	for _, p := range processes() {
		if p.state != "Z" && f.has(p) {
			_ = unix.Kill(p.pid, unix.SIGKILL) // it may have gone meanwhile
			ended++
		}
	}
	return ended
}
