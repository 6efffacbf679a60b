package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// fakes are programs whose threads do not end together. Their first argument is
// a folder.
func fakes() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"daemon without a head": func(args []string) int {
			daemon := exec.Command("/proc/self/exe", "fake", "lose the head", args[0])
			daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if err := daemon.Start(); err != nil {
				fmt.Fprintln(os.Stderr, err)
				return 1
			}
			for headless(args[0]) == 0 {
				time.Sleep(time.Millisecond)
			}
			return 0
		},
		"lose the head": loseHead,
	}
}

// loseHead ends the first thread of its process, and has another one write a
// file of the folder for ever.
func loseHead(args []string) int {
	go func() {
		for {
			if f, err := os.OpenFile(filepath.Join(args[0], "alive"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err == nil {
				fmt.Fprintln(f, os.Getpid())
				f.Close()
			}
			time.Sleep(time.Millisecond)
		}
	}()
	for range 8 {
		go func() {
			for {
				runtime.LockOSThread()
				if syscall.Gettid() == os.Getpid() {
					_, _, _ = syscall.Syscall(syscall.SYS_EXIT, 0, 0, 0) // of this thread alone
				}
				runtime.UnlockOSThread()
				time.Sleep(time.Microsecond)
			}
		}()
	}
	time.Sleep(time.Minute)
	return 97
}

// headless is the number of the process that writes the file of loseHead, once
// its first thread has ended, else 0.
func headless(dir string) int {
	data, _ := os.ReadFile(filepath.Join(dir, "alive"))
	line, _, _ := strings.Cut(string(data), "\n")
	pid, _ := strconv.Atoi(line)
	if f := fieldsOf(fmt.Sprintf("/proc/%d/stat", pid)); pid > 0 && len(f) > 0 && f[0] == "Z" {
		return pid
	}
	return 0
}
