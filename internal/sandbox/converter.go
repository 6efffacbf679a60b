package sandbox

import (
	"fmt"
	"math"
	"slices"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// Converters gives what makes of a program the same program in the sandbox, where git starts it to convert files. It
// reads programs and the folders read, writes only below write, and reaches no network. Where the system has no
// sandbox, programs stay as they are, or it is an error if how is Required.
func Converters(how Containment, helper, environ []string) func(argv, env, read []string, write string) ([]string, []string, error) {
	return func(argv, env, read []string, write string) ([]string, []string, error) {
		missing := landlocked()
		switch {
		case missing != nil && how == Required:
			return nil, nil, fmt.Errorf("the sandbox is required for %s, but %w", argv[0], missing)
		case missing != nil || how == Uncontained:
			return argv, env, nil
		}
		s := &Sandbox{Helper: helper, Limits: Limits{File: math.MaxUint64}.withDefaults(), hidden: hidden(environ, read)}
		c := Call{
			Argv: argv, Env: process.SetVar(process.SetVar(env, "HOME", write), "TMPDIR", write), Dir: write,
			Home: write, Temp: write, User: process.Lookup(env, "HOME"), Access: pipelines.AccessNone, Network: &Network{},
		}
		p, err := s.policy(c)
		if err != nil {
			return nil, nil, err
		}
		p.Parent, p.Read = 0, append(p.Read, read...) // what is not there yet counts when it is
		env, err = p.within(c.Env)
		return slices.Concat(helper, argv), env, err
	}
}
