package agents

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// threadFakes are fakes whose threads do not end together.
func threadFakes() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"daemon without a head": func(args []string) int {
			spawn(args, "lose the head", &syscall.SysProcAttr{Setsid: true})
			for headless(args[0]) == 0 {
				time.Sleep(time.Millisecond)
			}
			fmt.Println(goodResult)
			return 0
		},
		"lose the head": loseHead,
	}
}

// loseHead ends the first thread of its process, and has another one write a
// file of the bench for ever.
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
	return hang()
}

// headless is the number of the process that writes the file of loseHead, once
// its first thread has ended, else 0.
func headless(bench string) int {
	data, _ := os.ReadFile(filepath.Join(bench, "alive"))
	line, _, _ := strings.Cut(string(data), "\n")
	pid, _ := strconv.Atoi(line)
	if f := fieldsOf(fmt.Sprintf("/proc/%d/stat", pid)); pid > 0 && len(f) > 0 && f[0] == "Z" {
		return pid
	}
	return 0
}
