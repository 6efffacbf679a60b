package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/sethvargo/go-githubactions"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/secrets"
)

// job is the job of a workflow that this program is a step of: where inputs
// come from, and where outputs and messages go.
//
// What agents and people wrote may look like a workflow command. So commands
// are switched off from the beginning, and on only for those that job gives.
type job struct {
	env    environment
	out    *lockedWriter
	log    *masking // what is printed goes through it to out
	gha    *githubactions.Action
	resume string // what switches commands on again
	open   bool   // a group of lines is open
}

// lockedWriter lets one write at a time pass, so that nothing of an agent gets
// between the two that switch commands on and off.
type lockedWriter struct {
	mu sync.Mutex
	w  io.Writer
}

// Write writes to the writer behind it.
func (l *lockedWriter) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}

func newJob(env environment) *job {
	out := &lockedWriter{w: env.stdout}
	// The machine reads both streams, and one may overtake the other.
	// What stands in the place of a secret is in brackets: it is masked first,
	// so that brackets, too, are made to count for nothing.
	log := &masking{w: newInert(out), mask: env.finder().Mask}
	env.stdout = log
	env.stderr = env.stdout
	return &job{
		env: env, out: out, log: log,
		gha: githubactions.New(githubactions.WithGetenv(env.getenv), githubactions.WithWriter(out.w)),
	}
}

// random gives text that nobody can guess.
func random() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	return hex.EncodeToString(b[:])
}

// stop switches workflow commands off. What switches them on again is another
// word every time, so that nobody can use one that was seen.
func (j *job) stop() {
	j.resume = "reprise-" + random()
	_, _ = fmt.Fprintf(j.out.w, "::stop-commands::%s\n", j.resume)
}

// command gives a workflow command, between two that switch commands on and
// off again.
func (j *job) command(give func()) {
	j.out.mu.Lock()
	defer j.out.mu.Unlock()
	_, _ = fmt.Fprintf(j.out.w, "::%s::\n", j.resume)
	give()
	j.stop()
}

// input gives an input of the action, named as in action.yml.
func (j *job) input(name string) string { return j.gha.GetInput(strings.ReplaceAll(name, "-", "_")) }

// group begins a group of lines, and ends the one before.
func (j *job) group(title string) {
	j.command(func() {
		if j.open {
			j.gha.EndGroup()
		}
		if j.open = title != ""; j.open {
			j.gha.Group(j.env.finder().Mask(oneLine(title)))
		}
	})
}

// maskAll keeps values out of the log. One that is short would make the log
// unreadable, and is no secret.
func (j *job) maskAll(all []secrets.Secret) {
	done := map[string]bool{}
	for _, s := range all {
		for line := range strings.Lines(s.Value) { // a mask is one line
			if line = strings.TrimSpace(line); len(line) >= secrets.MinLength && !done[line] {
				done[line] = true
				j.gha.AddMask(line)
			}
		}
	}
}

// notice, warning and failure stand at the top of the job's page.
func (j *job) notice(text string)  { j.command(func() { j.gha.Noticef("%s", j.log.mask(text)) }) }
func (j *job) warning(text string) { j.command(func() { j.gha.Warningf("%s", j.log.mask(text)) }) }

// known hides the values of the job's variables in what programs read.
func (j *job) known(text string) string { return j.env.finder().MaskKnown(text) }

// failure tells an error, with file, line and column where it has them.
func (j *job) failure(err error) {
	var mistakes pipelines.Errors
	j.command(func() {
		if !errors.As(err, &mistakes) {
			j.gha.Errorf("%s", j.log.mask(err.Error()))
			return
		}
		for _, m := range mistakes {
			at := map[string]string{}
			if m.File != "" && m.Line > 0 {
				at = map[string]string{"file": m.File, "line": fmt.Sprint(m.Line), "col": fmt.Sprint(m.Column)}
			}
			text := m.Message
			if m.Path != "" {
				text = m.Path + ": " + text
			}
			j.gha.WithFieldsMap(at).Errorf("%s", j.log.mask(text))
		}
	})
}

// output sets an output of the step. The delimiter around it cannot be guessed
// by whoever wrote the value.
func (j *job) output(name, value string) error {
	end := "end-" + random()
	return j.file("output", "GITHUB_OUTPUT", fmt.Sprintf("%s<<%s\n%s\n%s", name, end, value, end))
}

// summary adds to the page of the job.
func (j *job) summary(markdown string) error {
	return j.file("step-summary", "GITHUB_STEP_SUMMARY", j.log.mask(markdown))
}

// file appends to one of the files that the runner reads. Outside of a
// workflow there are none. The library panics where a file cannot be written.
func (j *job) file(name, variable, text string) (err error) {
	if j.env.getenv(variable) == "" {
		return nil
	}
	defer func() {
		if broke := recover(); broke != nil {
			err = fmt.Errorf("write to %s: %v", variable, broke)
		}
	}()
	j.gha.IssueFileCommand(&githubactions.Command{Name: name, Message: text})
	return nil
}

// oneLine puts a text on one line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// event reads the payload of the event that started the workflow.
func (j *job) payload() ([]byte, error) {
	name := j.env.getenv("GITHUB_EVENT_PATH")
	if name == "" {
		return nil, errors.New("GITHUB_EVENT_PATH is not set: this command is for a step of a workflow")
	}
	data, err := readRegular(name, 25_000_000)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the file that GITHUB_EVENT_PATH names is not there: %w", err)
	}
	return data, err
}
