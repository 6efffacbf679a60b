package process

import (
	"os/exec"
	"strings"
	"testing"
	"time"
)

// What a command prints is read to its end, and who stays and holds the pipes is
// not waited for.
func TestRun(t *testing.T) {
	var out strings.Builder
	errs := Excerpt{TailMax: 100}
	began := time.Now()
	cmd := exec.Command("/bin/sh", "-c", "sleep 300 & echo $!; seq 100000; echo no >&2; exit 3")
	if err := RunBounded(cmd, &out, &errs); err == nil || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("error %v", err)
	}
	first, rest, _ := strings.Cut(out.String(), "\n")
	t.Cleanup(func() { _ = exec.Command("kill", first).Run() })
	if !strings.HasSuffix(rest, "\n99999\n100000\n") || errs.String() != "no\n" {
		t.Errorf("it printed %d bytes and %q", len(rest), errs.String())
	}
	if took := time.Since(began); took > 200*time.Second {
		t.Errorf("it took %v", took)
	}
	if err := RunBounded(exec.Command("/nowhere"), &out, &errs); err == nil {
		t.Error("a program that is not there says nothing")
	}
}
