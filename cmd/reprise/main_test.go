package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// TestMain lets the test binary be the program itself, too: for what starts
// it, and as the child process that evaluates CUE.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == workspace.EvaluateCommand {
		serveEvaluation()
	}
	if strings.HasSuffix(os.Args[0], ".test") {
		testenv.InMemory()
		testenv.Together(2, 16)
	}
	testscript.Main(sameEverywhere{m}, map[string]func(){"reprise": main, "hurried": hurried, "traced": traced, "asks": asks})
}

// sameEverywhere runs the tests in the surroundings that all rooms have in common.
type sameEverywhere struct{ *testing.M }

// Run is called in the process that runs tests, and in no other.
func (s sameEverywhere) Run() int {
	defer testenv.Isolate()()
	defer world.Models(os.TempDir())()
	return s.M.Run()
}

// serveEvaluation is the program as its own child. The race detector waits a
// second at the end of a process unless the environment, which the parent
// keeps from its child, says otherwise.
func serveEvaluation() {
	if raced && os.Getenv("GORACE") == "" {
		self, err := os.Executable()
		if err == nil {
			err = syscall.Exec(self, os.Args, append(os.Environ(), world.NoRaceWait))
		}
		fmt.Fprintln(os.Stderr, "starting over:", err)
		os.Exit(1)
	}
	main()
}

// hurried is the program for tests in which the forge goes wrong: it waits a
// hundredth of the time before it asks again, and no longer for an answer than
// the environment says.
func hurried() {
	env := environ.Env{Wait: func(ctx context.Context, d time.Duration) error { return environ.Sleep(ctx, d/100) }}
	if most, err := time.ParseDuration(os.Getenv(answerWithin)); err == nil {
		env.Http = &http.Client{Timeout: most}
	}
	live(env)
}

const answerWithin = "HURRIED_ANSWER_WITHIN"
