package source

import (
	"os"
	"testing"
)

// childArg makes the test program a child that evaluates, as the hidden
// command does for reprise.
const childArg = "evaluate-as-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// child evaluates in a process of its own.
func child(t testing.TB) Evaluator {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Under the race detector a program would wait a second before it ends.
	return Evaluator{Argv: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", self, childArg}}
}
