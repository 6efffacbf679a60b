package environ

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

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// Job is the job of a workflow that this program is a step of. Workflow commands are switched off from the beginning,
// and on only for those that it gives.
type Job struct {
	Env    Env
	out    *lockedWriter
	Log    *MaskingWriter // what is printed goes through it to out
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

// NewJob gives the job that env describes. From now on the streams of its Env go through Log, which masks secrets and
// takes the effect from workflow commands.
func NewJob(env Env) *Job {
	out := &lockedWriter{w: env.Stdout}
	// The machine reads both streams, and one may overtake the other.
	// What stands in the place of a secret is in brackets: it is masked first,
	// so that brackets, too, are made to count for nothing.
	log := &MaskingWriter{W: NewCommandEscaper(out), Mask: env.Finder().Mask}
	env.Stdout = log
	env.Stderr = env.Stdout
	return &Job{
		Env: env, out: out, Log: log,
		gha: githubactions.New(githubactions.WithGetenv(env.Getenv), githubactions.WithWriter(out.w)),
	}
}

// randomName gives text that nobody can guess.
func randomName() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails, see its documentation
	return hex.EncodeToString(b[:])
}

// Stop switches workflow commands off. What switches them on again is another
// word every time, so that nobody can use one that was seen.
func (j *Job) Stop() {
	j.resume = "reprise-" + randomName()
	_, _ = fmt.Fprintf(j.out.w, "::stop-commands::%s\n", j.resume)
}

// command gives a workflow command, between two that switch commands on and
// off again.
func (j *Job) command(give func()) {
	j.out.mu.Lock()
	defer j.out.mu.Unlock()
	_, _ = fmt.Fprintf(j.out.w, "::%s::\n", j.resume)
	give()
	j.Stop()
}

// Input gives an input of the action, named as in action.yml.
func (j *Job) Input(name string) string { return j.gha.GetInput(strings.ReplaceAll(name, "-", "_")) }

// Group begins a group of lines, and ends the one before.
func (j *Job) Group(title string) {
	j.command(func() {
		if j.open {
			j.gha.EndGroup()
		}
		if j.open = title != ""; j.open {
			j.gha.Group(j.Env.Finder().Mask(text.OneLine(title)))
		}
	})
}

// MaskAll keeps values out of the log. One that is short would make the log
// unreadable, and is no secret.
func (j *Job) MaskAll(all []secrets.Secret) {
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

// Notice shows a text at the top of the job's page.
func (j *Job) Notice(text string) { j.command(func() { j.gha.Noticef("%s", j.Log.Mask(text)) }) }

// Warning shows a text there as a warning.
func (j *Job) Warning(text string) { j.command(func() { j.gha.Warningf("%s", j.Log.Mask(text)) }) }

// Known hides the values of the job's variables in what programs read.
func (j *Job) Known(text string) string { return j.Env.Finder().MaskKnown(text) }

// Failure tells an error, with file, line and column where it has them.
func (j *Job) Failure(err error) {
	var mistakes pipelines.Mistakes
	j.command(func() {
		if !errors.As(err, &mistakes) {
			j.gha.Errorf("%s", j.Log.Mask(err.Error()))
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
			j.gha.WithFieldsMap(at).Errorf("%s", j.Log.Mask(text))
		}
	})
}

// Output sets an output of the step. The delimiter around it cannot be guessed
// by whoever wrote the value.
func (j *Job) Output(name, value string) error {
	end := "end-" + randomName()
	return j.file("output", "GITHUB_OUTPUT", fmt.Sprintf("%s<<%s\n%s\n%s", name, end, value, end))
}

// Summary adds to the page of the job.
func (j *Job) Summary(markdown string) error {
	return j.file("step-summary", "GITHUB_STEP_SUMMARY", j.Log.Mask(markdown))
}

// file appends to one of the files that the runner reads. Outside of a
// workflow there are none. The library panics where a file cannot be written.
func (j *Job) file(name, variable, text string) (err error) {
	if j.Env.Getenv(variable) == "" {
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

// Payload reads the payload of the event that started the workflow.
func (j *Job) Payload() ([]byte, error) {
	name := j.Env.Getenv("GITHUB_EVENT_PATH")
	if name == "" {
		return nil, errors.New("GITHUB_EVENT_PATH is not set: this command is for a step of a workflow")
	}
	data, err := folders.ReadRegular(name, 25_000_000)
	if errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("the file that GITHUB_EVENT_PATH names is not there: %w", err)
	}
	return data, err
}

// EarlierResultsDir is the folder that has what earlier jobs of the same workflow run have
// left there, each in a folder of its own, or "".
func (j *Job) EarlierResultsDir() string {
	dir := j.Env.Getenv("REPRISE_EARLIER_RESULTS")
	if found, err := os.ReadDir(dir); err != nil || len(found) == 0 {
		return "" // of a job that comes after no other
	}
	return dir
}

// ResultsDir is the folder where the job leaves what a workflow may keep, or "".
func (j *Job) ResultsDir() (string, error) {
	dir := j.Env.Getenv("REPRISE_RESULTS")
	if dir == "" {
		return "", nil
	}
	return dir, os.MkdirAll(dir, 0o755)
}
