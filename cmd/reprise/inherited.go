package main

import (
	"os"
	"strconv"
	"syscall"
)

// keepInherited keeps the files that reprise was started with from every program
// that reprise starts: a shell or a service may have left a key open. Standard
// input and output are passed on where they are meant to be. Files that are
// opened later are kept back anyway. Where the system does not list what is open,
// nothing is done.
func keepInherited() {
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return
	}
	for _, e := range open {
		if fd, err := strconv.Atoi(e.Name()); err == nil && fd > 2 {
			syscall.CloseOnExec(fd)
		}
	}
}
