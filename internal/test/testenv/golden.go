package testenv

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Update has golden files written instead of compared with.
var Update = flag.Bool("update", false, "rewrite golden files")

// Golden holds a file against what a test has made, or writes it.
func Golden(t testing.TB, file, got string) {
	t.Helper()
	if *Update {
		Put(t, file, got)
	}
	if diff := cmp.Diff(Read(t, file), got); diff != "" {
		t.Errorf("%s is not as it was; go test -run %s -update writes it (-was +is):\n%s", file, t.Name(), diff)
	}
}
