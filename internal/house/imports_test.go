// Package house_test holds the rules of the house: what the pure core may not touch, and
// that the documents say what is true. It has no code of its own; it reads the code and
// documents of others.
package house_test

import (
	"os/exec"
	"strings"
	"testing"
)

// module is the import path that all our packages share.
const module = "github.com/reprise-ci/reprise/"

// TestLeftOut keeps large packages out of the program that a harmless-looking import would
// bring back.
func TestLeftOut(t *testing.T) {
	c := exec.Command("go", "list", "-deps", "./cmd/reprise")
	c.Dir = root
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	for imported := range strings.Lines(string(out)) {
		for _, large := range []string{"google.golang.org/protobuf", "google.golang.org/grpc", "cuelang.org/go/cue/cuecontext", "cuelang.org/go/cue/load", "net/http/pprof"} {
			if strings.HasPrefix(imported, large) {
				t.Errorf("the program has %s: go mod why %s says by whom", strings.TrimSpace(imported), large)
			}
		}
	}
}
