package environ

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

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
	Log    *maskingWriter // what is printed goes through it to out
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
	log := &maskingWriter{W: NewCommandEscaper(out), Mask: env.Finder().Mask}
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

// ResultsDir is the folder where the job leaves what a workflow may keep, or "".
func (j *Job) ResultsDir() (string, error) {
	dir := j.Env.Getenv("REPRISE_RESULTS")
	if dir == "" {
		return "", nil
	}
	return dir, os.MkdirAll(dir, 0o755)
}

// commandEscaper is a writer to the log of a job on GitHub, through which no line gets as a workflow command: one that
// begins with :: behind any space, or has ##[ anywhere.
type commandEscaper struct {
	mu     sync.Mutex
	w      io.Writer
	inside bool // a line, behind the space it begins with
	hashes int  // that stand right before
}

// NewCommandEscaper gives a writer to the log behind w.
func NewCommandEscaper(w io.Writer) *commandEscaper { return &commandEscaper{w: w} }

// Write writes p so that nothing in it is a command. It reports len(p) also
// where it wrote more.
func (i *commandEscaper) Write(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := make([]byte, 0, len(p)+16)
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			i.inside = false
		case c == ':' && !i.inside:
			out = append(out, "| "...)
			i.inside = true
		case c > ' ' && c < utf8.RuneSelf: // other characters may be space as well
			i.inside = true
		}
		if c == '[' && i.hashes >= 2 {
			out = append(out, ' ')
		}
		if i.hashes++; c != '#' {
			i.hashes = 0
		}
		out = append(out, c)
	}
	if _, err := i.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// EscapedEnv gives the environment of a command whose output is the log of a job on
// GitHub, if it is; elsewhere lines are only lines.
func EscapedEnv(e Env) Env {
	if e.Getenv("GITHUB_ACTIONS") == "true" {
		e.Stdout, e.Stderr = NewCommandEscaper(e.Stdout), NewCommandEscaper(e.Stderr)
	}
	return e
}

// Unescaped gives the writer for workflow commands of our own.
func Unescaped(w io.Writer) io.Writer {
	if i, ok := w.(*commandEscaper); ok {
		return i.w
	}
	return w
}

// holder is a process as it stands in the lease on a run. Jobs of one run of a workflow are told apart by the machine,
// and processes on it by what is random.
type holder struct {
	Run     int64 // of the workflow
	Attempt int
	Runner  string // the machine; empty if it has no name
	random  string
}

var unfit = text.Pattern(`[^A-Za-z0-9._-]+`)

// RunnerName is the name of a machine as it stands in a lease.
func RunnerName(name string) string {
	name = unfit().ReplaceAllString(name, "-")
	return name[:min(len(name), 60)]
}

// OwnerOf names this process: the run of a workflow, its attempt and its machine,
// or what else is known of where it runs.
func OwnerOf(env Env) string {
	own := randomName()[:12]
	if id := env.Getenv("GITHUB_RUN_ID"); id != "" {
		return strings.Join([]string{"actions", id, cmp.Or(env.Getenv("GITHUB_RUN_ATTEMPT"), "1"), RunnerName(env.Getenv("RUNNER_NAME")), own}, "/")
	}
	return "process/" + own
}

// ParseOwner reads what OwnerOf wrote, also as it was before it named a machine.
func ParseOwner(owner string) (holder, bool) {
	parts := strings.Split(owner, "/")
	if parts[0] != "actions" || len(parts) != 3 && len(parts) != 5 {
		return holder{}, false
	}
	id, err := strconv.ParseInt(parts[1], 10, 64)
	attempt, err2 := strconv.Atoi(parts[2])
	h := holder{Run: id, Attempt: attempt}
	if len(parts) == 5 {
		h.Runner, h.random = parts[3], parts[4]
	}
	return h, err == nil && err2 == nil
}

// SameJob reports whether two processes, as OwnerOf names them, are of jobs of the same run of
// a workflow and of the same attempt.
func SameJob(a, b string) bool {
	one, known := ParseOwner(a)
	other, ok := ParseOwner(b)
	return known && ok && one.Run == other.Run && one.Attempt == other.Attempt
}
