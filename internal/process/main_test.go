package process

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestMain lets the test binary be programs that the tests start: "fake NAME
// ARGUMENT..." on its command line makes it that one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "fake" {
		syscall.Exit(fake(os.Args[2])(os.Args[3:])) // os.Exit takes a second with the race detector
	}
	testenv.Main(m)
}

// fake gives a program by its name.
func fake(name string) func([]string) int {
	if name == "await an order" {
	}
	return fakes()[name]
}

// program is one that is run as reprise runs all.
func program(argv ...string) Program {
	return Program{
		Argv: argv, Env: os.Environ(), Dir: os.TempDir(), Whole: 5 * time.Minute, Grace: 100 * time.Millisecond, Linger: time.Second,
		Line: func([]byte) Reaction { return GoOn },
	}
}

func shell(t *testing.T, command string) (e Ending, printed string) {
	t.Helper()
	p, out := program("/bin/sh", "-c", command), &Excerpt{HeadMax: 64 << 10}
	p.Output = out
	e, err := p.Run(t.Context())
	testenv.Must(t, err)
	return e, out.String()
}

// BenchmarkCall is the cost of supervising a program that ends at once.
func BenchmarkCall(bm *testing.B) {
	p := Program{
		Argv: []string{"/bin/true"}, Env: os.Environ(), Dir: bm.TempDir(), Grace: time.Second, Linger: time.Second,
		Line: func([]byte) Reaction { return GoOn },
	}
	for bm.Loop() {
		if _, err := p.Run(bm.Context()); err != nil {
			bm.Fatal(err)
		}
	}
}

// BenchmarkSpawn is the least that can do: the same without supervision.
func BenchmarkSpawn(bm *testing.B) {
	for bm.Loop() {
		if err := exec.Command("/bin/true").Run(); err != nil {
			bm.Fatal(err)
		}
	}
}
