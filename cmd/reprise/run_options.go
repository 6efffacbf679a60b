package main

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// runOptions are the flags of run and retry.
type runOptions struct {
	workspace.Options
	dry     bool
	json    bool
	prompts bool // every prompt is printed
	noInput bool
	log     logForm
}

// logForm is how progress is printed: one of logForms.
type logForm string

func logForms() []logForm { return []logForm{"text", "verbose", "json", "verbose-json"} }

// json reports whether each event is one object of JSON.
func (l logForm) json() bool { return strings.HasSuffix(string(l), "json") }

// verbose reports whether it is told what agents do, too.
func (l logForm) verbose() bool { return strings.HasPrefix(string(l), "verbose") }

// format is the form of the log as package terminal calls it.
func (l logForm) format() string {
	if l.json() {
		return "json"
	}
	return "text"
}

// origin adds the flags that say which run it is, and what it may spend and reach.
func (o *runOptions) origin(f *pflag.FlagSet) {
	f.StringVar(&o.Repo, "repo", ".", "any folder of the git repository")
	f.StringVar(&o.Id, "issue", "", "id of the issue: its number, or the name of the file it came from; or its address on GitHub")
	f.Func("more", "`AMOUNTS` that this run may spend from here on, such as usd=5,time=90m: usd; tokens, in and out; time, of agents and checks; attempts, which are calls of agents", func(text string) error { return command.More(text, &o.More) })
	pushFlag(f, &o.Push)
	sandboxFlag(f, &o.Sandbox)
}

// progress adds the flags that say what is printed, and whether somebody is asked.
func (o *runOptions) progress(f *pflag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "print the result as one JSON object on standard output")
	f.BoolVar(&o.noInput, "no-input", false, "end where the run waits for an answer or an approval, in place of asking for it on the terminal")
	f.StringVar((*string)(&o.log), "log", "text", "how progress is printed: text, verbose, which shows what agents do, too, on a terminal below the phases, json or verbose-json")
}

func (o *runOptions) readJobs(text string) (err error) {
	if o.Part.NoSplit = text == "off"; o.Part.NoSplit {
		return nil
	}
	if o.Jobs, err = strconv.Atoi(text); err != nil || o.Jobs < 1 || o.Jobs > 32 {
		return errors.New("it is 1 to 32, or off")
	}
	return nil
}

func (o *runOptions) readTake(text string) error {
	switch text {
	case "theirs":
		o.TakeTheirs = true
	case "over":
		o.TakeOver = true
	default:
		return errors.New("it is theirs or over")
	}
	return nil
}

// anew is the value of the flag --refresh.
type anew struct{ definition, issue *bool }

// Set reads the value.
func (a anew) Set(text string) error {
	read, err := command.ReadAnew(text)
	*a.definition, *a.issue = *a.definition || read.Definition, *a.issue || read.Issue
	return err
}

// String gives the default, which is nothing.
func (anew) String() string { return "" }

// Type gives the name of a value in the help.
func (anew) Type() string { return "issue|all" }

// check refuses flags that do not go together.
func (o *runOptions) check() error {
	if strings.Contains(o.Id, "/") {
		o.Id, o.Url = "", o.Id
	}
	switch {
	case o.File == "" && o.Url == "" && o.Id == "":
		return exit.Usagef("which issue? Give --issue-file FILE or --issue URL to start, or --issue ID to continue")
	case o.File != "" && o.Url+o.Id != "":
		return exit.Usagef("--issue-file and --issue each name an issue: give one of them")
	case o.dry && o.Push != nil && *o.Push:
		return exit.Usagef("--dry-run never pushes: leave --push out")
	case o.dry && o.Agent != "" && o.Agent != agents.Rehearsal:
		return exit.Usagef("--dry-run calls no model, so it takes no --agent %s", o.Agent)
	case !slices.Contains(logForms(), o.log):
		return exit.Usagef("--log %q is not one of text, verbose, json, verbose-json", o.log)
	case o.Language != "" && !slices.Contains(metadata.Languages(), o.Language):
		return exit.Usagef("--language %q is not one of %s", o.Language, strings.Join(metadata.Languages(), ", "))
	}
	if o.dry {
		o.Agent, o.Scratch = agents.Rehearsal, true
	}
	return nil
}

// logOf gives where progress is printed: not among the result for programs.
func logOf(o runOptions, env environ.Env) io.Writer {
	if o.json {
		return env.Stderr
	}
	return env.Stdout
}
