package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// StartedWith finds the processes with a text in their command line: for each the
// file that the system shows it by, and its words.
func StartedWith(t testing.TB, text string) (found []string) {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes to look through (%v)", err)
	}
	for _, file := range files {
		line, _ := os.ReadFile(file) // it may be gone by now
		if strings.Contains(string(line), text) {
			found = append(found, fmt.Sprintf("%s: %s", file, strings.ReplaceAll(string(line), "\x00", " ")))
		}
	}
	return found
}

// Self is the program that runs the tests.
func Self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	Must(t, err)
	return path
}
