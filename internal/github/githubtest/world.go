package githubtest

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Host is what a server runs in, and where it says what is wrong: a test, or
// a program that is none.
type Host interface {
	Helper()
	Errorf(format string, args ...any)
	Cleanup(func())
}

// world finds in the state what a host names, and tells the host if there is no such
// thing. The caller holds its lock.
type world struct {
	*state.State
	host Host
}

// repository finds owner/name, or adds it.
func (w *world) repository(name string) *state.Repository {
	if !strings.Contains(name, "/") {
		w.host.Helper()
		w.host.Errorf("githubtest: %q is not owner/name", name)
	}
	return w.Repository(name)
}

// thread finds an issue or a pull request.
func (w *world) thread(repo string, number int) *state.Issue {
	if is := w.repository(repo).Issues[number]; is != nil {
		return is
	}
	w.host.Helper()
	w.host.Errorf("githubtest: there is no issue %d in %s", number, repo)
	return &state.Issue{}
}

// comment finds a comment; nil if there is none.
func (w *world) comment(repo string, id int64) *state.Posted {
	c := w.repository(repo).Comments.Find(id)
	if c == nil {
		w.host.Helper()
		w.host.Errorf("githubtest: there is no comment %d in %s", id, repo)
	}
	return c
}
