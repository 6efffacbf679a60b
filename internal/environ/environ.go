// Package environ is all that the program takes from the process it runs in:
// streams, variables, the clock, and the secrets among the variables. Everything
// that depends on them gets an Env, so that tests can give another one.
package environ

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/reprise-ci/reprise/internal/secrets"
)

// VersionText is the version a release was linked with, else the commit that
// the go command built from.
func VersionText() string {
	if Version != "dev" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Version
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) > 12 {
			return Version + " " + s.Value[:12]
		}
	}
	return Version
}

// IsTerminal reports whether a stream is a terminal.
func IsTerminal(stream any) bool {
	f, ok := stream.(interface{ Fd() uintptr })
	return ok && term.IsTerminal(int(f.Fd()))
}

// Agrees asks a yes-or-no question on out. No answer is no.
func (e Env) Agrees(out io.Writer, question string) (bool, error) {
	_, _ = fmt.Fprint(out, question)
	answer, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return err == nil && (answer == "y" || answer == "yes"), err
}

// Version is set by the linker in a release.
var Version = "dev"

// Env is everything the program takes from the process it runs in.
type Env struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string // NAME=value, as os.Environ gives it
	Now            func() time.Time
	Wait           func(ctx context.Context, d time.Duration) error // before a forge is asked again; nil: sleep
	Http           *http.Client                                     // by which a forge is asked; nil: the usual one
	SecretFinder   *secrets.Finder                                  // finds what must not be seen; nil: Finder makes one
	Handed         []secrets.Secret                                 // what Unpack found
}

// Getenv gives the value of a variable, or "".
func (e Env) Getenv(name string) string {
	for _, kv := range e.Environ {
		if len(kv) > len(name) && kv[len(name)] == '=' && kv[:len(name)] == name {
			return kv[len(name)+1:]
		}
	}
	return ""
}

// BranchPrefix begins the names of branches; REPRISE_BRANCH_PREFIX has another.
const BranchPrefix = "reprise/issue-"

// Prefix is what the names of branches begin with.
func (e Env) Prefix() string { return cmp.Or(e.Getenv("REPRISE_BRANCH_PREFIX"), BranchPrefix) }

// Branch names the branch of a run.
func (e Env) Branch(id string) string { return e.Prefix() + id }

// Sleep waits, or returns why ctx was cancelled.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
