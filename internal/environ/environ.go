// Package environ is all that the program takes from the process it runs in:
// streams, variables, the clock, and the secrets among the variables. Everything
// that depends on them gets an Env, so that tests can give another one.
package environ

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/text"
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

// cloudSwitch matches a variable by which an agent program goes to another cloud, where it is set to yes.
var cloudSwitch = text.Pattern(`^(?:CLAUDE_CODE|GOOGLE_GENAI)_USE_\w+=(.*)`)

// WithoutOff gives an environment without such variables that say anything but yes: the programs take that for no.
func WithoutOff(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		m := cloudSwitch().FindStringSubmatch(kv)
		return m != nil && !slices.Contains([]string{"1", "true", "yes", "on"}, strings.ToLower(strings.TrimSpace(m[1])))
	})
}

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

// Rest waits as this environment does.
func (e Env) Rest(ctx context.Context, d time.Duration) error {
	if e.Wait != nil {
		return e.Wait(ctx, d)
	}
	return Sleep(ctx, d)
}

// Interruptible is a file whose reader does not wait any longer once the
// program was told to stop.
type Interruptible struct {
	*os.File
	Ctx context.Context
}

// Read reads from the file, or fails with the cause for which the program
// stops. What the file gives after that is lost.
func (f Interruptible) Read(p []byte) (int, error) {
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	own := make([]byte, len(p)) // p is the caller's again when it returns
	go func() {
		n, err := f.File.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-f.Ctx.Done():
		return 0, context.Cause(f.Ctx)
	}
}

// HandedOver is the variable by which a workflow hands over secrets that it cannot name
// one by one: an object of JSON with a text for each name.
const HandedOver = "REPRISE_SECRETS"

// handedName is long, as the number of characters is written out in it.
var handedName = text.Pattern(`^[A-Z][A-Z0-9_]{0,99}$`)

// Unpack gives an environment with the secrets that were handed over as variables, and without the variable that had
// them all. An error names all mistakes, and no value.
func (e Env) Unpack() (Env, error) {
	text := e.Getenv(HandedOver)
	e.Environ = slices.DeleteFunc(slices.Clone(e.Environ), func(kv string) bool { return strings.HasPrefix(kv, HandedOver+"=") })
	if strings.TrimSpace(text) == "" {
		return e, nil
	}
	given, problems := map[string]string{}, []error(nil)
	if json.Unmarshal([]byte(text), &given) != nil { // the error may quote it
		problems = append(problems, errors.New(`it is no object of JSON with texts, such as {"NAME": "value"}`))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case !handedName().MatchString(name):
			problems = append(problems, errors.New("a name is not that of a variable: it has to begin with a capital letter, and have only capital letters, digits and _; it is not shown, as it may be part of a value"))
		case reserved(name):
			problems = append(problems, fmt.Errorf("%s is a name that the runner, the system or reprise uses itself: give it another name", name))
		case e.Getenv(name) != "" && e.Getenv(name) != given[name]:
			problems = append(problems, fmt.Errorf("%s is set already: hand it over once", name))
		case strings.ContainsRune(given[name], 0):
			problems = append(problems, fmt.Errorf("%s has a zero byte, which no variable can have", name))
		}
	}
	if len(problems) > 0 {
		return e, fmt.Errorf("%s: %w", HandedOver, errors.Join(problems...))
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		e.Handed = append(e.Handed, secrets.Secret{Name: name, Value: given[name]})
		if e.Getenv(name) == "" {
			e.Environ = slices.DeleteFunc(e.Environ, func(kv string) bool { return kv == name+"=" }) // the first of two counts for some
			e.Environ = append(e.Environ, name+"="+given[name])
		}
	}
	e.Finder().Learn(e.Handed...)
	return e, nil
}

// reserved reports whether a name is not for a secret: what has it decides how programs
// start, or which job this is.
func reserved(name string) bool {
	for _, start := range []string{"GITHUB_", "RUNNER_", "ACTIONS_", "INPUT_", "REPRISE_", "LD_", "DYLD_", "GIT_", "XDG_", "LC_"} {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return slices.Contains([]string{"PATH", "HOME", "SHELL", "USER", "TMPDIR", "TERM", "LANG", "IFS", "ENV", "BASH_ENV", "NODE_OPTIONS", "CI"}, name)
}
