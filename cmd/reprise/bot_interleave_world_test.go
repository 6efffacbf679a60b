//go:build slow || e2e

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// incident is one thing that somebody does, and what follows from it.
type incident struct {
	After  time.Duration // since the one before, or since the run stopped
	Ending bool          // it waits for that
	By     string
	Text   string // of a comment; "$ " begins a command line; "push" is a commit by hand
	Edit   bool   // the comment is changed later
	Jobs   []assignment
}

// assignment is one job that a comment starts.
type assignment struct {
	After   time.Duration // since the comment
	SameRun bool          // it belongs to the workflow run of the job before
	Again   time.Duration // it is started again so long after it was killed; 0: not at all
	fate
}

// meeting is a branch and a forge in memory, at which machines meet.
type meeting struct {
	forge   *githubtest.Server
	repo    string
	origin  *memOrigin
	backend workspace.Backend
	dir     string
	ctx     context.Context
	began   time.Time

	mu       sync.Mutex
	runs     int
	machines []*memMachine
	said     map[int64]statement
	story    strings.Builder
	wrong    []string
	last     *metadata.Run
	records  []metadata.Run  // as they were pushed
	over     map[string]bool // jobs that the forge knows to be over, as in leases
	jobs     map[int][]githubtest.Job
	more     []string       // environment of jobs
	thinks   time.Duration  // how long an agent takes; 0: some time below 90 s
	unheard  map[int64]bool // comments that the gate has taken for words to somebody else
	wg       sync.WaitGroup
}

// statement is a comment that somebody has written.
type statement struct {
	id   int64
	by   string
	text string
	edit bool
	at   time.Time
}

// note adds to the story of what happened.
func (w *meeting) note(m *memMachine, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	who := "-"
	if m != nil {
		who = m.name
	}
	fmt.Fprintf(&w.story, "%10s %-8s %s\n", time.Since(w.began).Round(time.Millisecond), who, fmt.Sprintf(format, args...))
}

// fault is something that must not be.
func (w *meeting) fault(m *memMachine, format string, args ...any) {
	w.note(m, "WRONG: "+format, args...)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// opener opens the branch for a machine.
func (w *meeting) opener(m *memMachine) func(context.Context, git.Options) (workspace.Checkout, error) {
	return func(_ context.Context, o git.Options) (workspace.Checkout, error) { return openMem(m, w.origin, o) }
}

// machine makes a new one.
func (w *meeting) machine(name string, f fate) *memMachine {
	m := &memMachine{w: w, name: name, fate: f, dice: rand.New(rand.NewPCG(f.Seed, 1))}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.machines = append(w.machines, m)
	return m
}

// asked notes what a machine asks of the forge. One that could know that it
// has lost the run writes nothing.
func (w *meeting) asked(m *memMachine, req *http.Request) {
	if req.Method == http.MethodGet || strings.HasSuffix(req.URL.Path, "/graphql") {
		return
	}
	w.note(m, "%s %s", req.Method, req.URL.Path)
	m.mu.Lock()
	lost := m.lost
	m.mu.Unlock()
	w.mu.Lock()
	last := w.last
	w.mu.Unlock()
	if last != nil && last.Execution.Lease != nil && req.Method == http.MethodPatch && m.me != "" && m.me != last.Execution.Lease.Owner {
		w.fault(m, "%s %s comes while %s has the run", req.Method, req.URL.Path, last.Execution.Lease.Owner)
	}
	if !lost.IsZero() && time.Now().After(lost) {
		w.fault(m, "%s %s comes %s after it has lost the run", req.Method, req.URL.Path, time.Since(lost))
	}
}

// works notes that an agent begins or ends.
func (w *meeting) works(m *memMachine, t engine.Task, begins bool) {
	w.note(m, "agent, %s %s: begins %v", t.Step, t.Phase, begins)
	m.mu.Lock()
	lost := m.lost
	m.mu.Unlock()
	if begins && !lost.IsZero() && time.Now().After(lost) {
		w.fault(m, "an agent begins %s after the run was lost", time.Since(lost))
	}
}

// pushed holds every commit that is taken against the one before.
func (w *meeting) pushed(m *memMachine, c *memCommit) {
	if m == nil {
		w.note(m, "a commit by hand")
		return
	}
	name := phases.RecordFile(fmt.Sprint(hubIssue))
	w.note(m, "pushes %.7s: %s", c.id, text.FirstLine(c.message))
	run, err := metadata.Parse([]byte(c.files[name]), c.id)
	if err != nil {
		w.fault(m, "the record is %v", err)
		return
	}
	if err := world.Once(run); err != nil {
		w.fault(m, "%v", err)
	}
	if w.last != nil {
		if err := metadata.CheckLater(*w.last, run); err != nil {
			w.fault(m, "%v", err)
		}
		w.inTurn(m, w.last.Execution.Lease, run.Execution.Lease)
	}
	m.mu.Lock()
	if lease := run.Execution.Lease; lease != nil {
		m.me = lease.Owner
	}
	m.held = run.Execution.Lease
	m.mu.Unlock()
	w.mu.Lock()
	w.records = append(w.records, run)
	w.last = &run
	w.mu.Unlock()
}

// inTurn holds that a run is not taken from one who holds it.
func (w *meeting) inTurn(m *memMachine, before, now *metadata.Lease) {
	if before == nil || now != nil && now.Owner == before.Owner || m.me == before.Owner {
		return
	}
	w.mu.Lock()
	over := w.over[before.Owner]
	machines := slices.Clone(w.machines)
	w.mu.Unlock()
	expired := !time.Now().Before(before.Expires)
	if !over && !expired {
		w.fault(m, "it takes the run from %s, which holds it until %s", before.Owner, before.Expires.Format(time.TimeOnly))
	}
	for _, o := range machines {
		if o.me == before.Owner && o != m && expired {
			o.mu.Lock()
			o.lost, o.held = cmpTime(time.Now(), before.Expires), nil
			o.mu.Unlock()
		}
	}
}

func cmpTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// happens lets everything happen, and everything end.
func (w *meeting) happens(all []incident) {
	for i, h := range all {
		for wait := 0; h.Ending && wait < 2000 && w.atWork(); wait++ {
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(h.After)
		w.happen(i, h)
	}
	w.wg.Wait()
	if calm(all) {
		w.kept()
	}
}

func (w *meeting) atWork() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last == nil || w.last.Status == metadata.Running
}

// calm reports whether no machine comes to harm, and nobody works on one of
// their own.
func calm(all []incident) bool {
	return !slices.ContainsFunc(all, func(h incident) bool {
		return strings.HasPrefix(h.Text, "$ ") || slices.ContainsFunc(h.Jobs, func(a assignment) bool { return a.Kill+a.Pause+a.Lose > 0 })
	})
}

// kept holds that a job which leaves a command to the one at work is right:
// that one takes it before it ends.
func (w *meeting) kept() {
	for _, m := range w.machines {
		if s, ok := w.said[m.comment]; ok && strings.Contains(m.log(), "reason: already_running") && !phases.Taken(*w.last, s.id) && s.counts() {
			w.fault(m, "nobody has taken comment %d (%s), which it left to another", s.id, s.text)
		}
	}
}

// counts reports whether a statement is a command of somebody who may give it,
// and stays as it was.
func (s statement) counts() bool {
	denied := s.by == "eve" || s.by == "ada" && strings.HasPrefix(s.text, "/skip")
	return !denied && !s.edit && s.text != "/help" && s.text != "/rolback"
}

func (w *meeting) happen(i int, h incident) {
	switch {
	case h.Text == "push":
		w.byHand(i)
	case strings.HasPrefix(h.Text, "$ "):
		m := w.machine(fmt.Sprintf("local%d", i), h.Jobs[0].fate)
		w.note(m, "%s", h.Text)
		w.wg.Go(func() {
			args := append(strings.Fields(h.Text[2:]), "--issue", fmt.Sprint(hubIssue), "--push")
			code := run(m.context(w.ctx), args, m.environment(filepath.Join(w.dir, m.name)))
			w.note(m, "ends with %d", code)
		})
	default:
		w.comment(i, h)
	}
}

// byHand is somebody who pushes to the branch of the run.
func (w *meeting) byHand(i int) {
	o := w.origin
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tip == "" {
		return
	}
	files := map[string]string{"notes.txt": fmt.Sprint(i)}
	for name, text := range o.commits[o.tip].files {
		if name != "notes.txt" {
			files[name] = text
		}
	}
	c := o.add(o.tip, files, "By hand", time.Now().UTC())
	o.tip, o.accepted = c.id, append(o.accepted, c.id)
	w.pushed(nil, c)
}

// comment is somebody who writes a comment. The gate looks at each at once;
// of the jobs behind it, some never come.
func (w *meeting) comment(i int, h incident) {
	id := w.forge.AddComment(w.repo, hubIssue, githubtest.Comment{Author: h.By, Body: h.Text})
	w.note(nil, "%s says %q in %d", h.By, h.Text, id)
	w.said[id] = statement{id, h.By, h.Text, h.Edit, time.Now()}
	payload := w.forge.CommentPayload(w.repo, id, "created", "")
	file := filepath.Join(w.dir, fmt.Sprintf("event-%d.json", i))
	if err := os.WriteFile(file, payload, 0o644); err != nil {
		w.fault(nil, "%v", err)
	}
	if h.Edit {
		time.Sleep(1100 * time.Millisecond)
		w.forge.EditComment(w.repo, id, h.Text+" now")
	}
	gate := w.machine(fmt.Sprintf("gate%d", i), fate{Seed: uint64(i)})
	w.wg.Go(func() {
		end := w.act(gate, file, h.By, 1, 1, "INPUT_COMMAND=gate")
		w.mu.Lock()
		defer w.mu.Unlock()
		w.unheard[id] = strings.Contains(end, "decision: ignored")
	})
	run := 0
	for n, a := range h.Jobs {
		if !a.SameRun || run == 0 {
			w.runs++
			run = 9000 + w.runs
		}
		m, run := w.machine(fmt.Sprintf("job%d.%d", i, n), a.fate), run
		m.comment = id
		w.tell(m, run, 1, "in_progress")
		w.wg.Go(func() {
			time.Sleep(a.After)
			w.act(m, file, h.By, run, 1)
			w.ended(m, run, 1)
			if m.isGone() && a.Again > 0 {
				time.Sleep(a.Again)
				if !w.allOver(run) {
					return // the forge starts a run again when all of it has ended
				}
				again := w.machine(m.name+"again", fate{Seed: a.Seed + 1})
				w.tell(again, run, 2, "in_progress")
				w.act(again, file, h.By, run, 2)
				w.ended(again, run, 2)
			}
		})
	}
}

// tell has the forge know how a job stands. A run is over when all its jobs are.
func (w *meeting) tell(m *memMachine, run, attempt int, status string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	jobs := slices.DeleteFunc(slices.Clone(w.jobs[run*10+attempt]), func(j githubtest.Job) bool { return j.Runner == m.name })
	jobs = append(jobs, githubtest.Job{Name: m.name, Runner: m.name, Status: status})
	w.jobs[run*10+attempt] = jobs
	if attempt == 1 && w.jobs[run*10+2] != nil {
		return // the forge tells of the newest attempt
	}
	all := githubtest.Run{ID: int64(run), Attempt: attempt, Jobs: jobs}
	if !slices.ContainsFunc(jobs, func(j githubtest.Job) bool { return j.Status != "completed" }) {
		all.Status, all.Conclusion = "completed", "success"
	}
	w.forge.AddRun(w.repo, all)
	w.over[m.me] = w.over[m.me] || status == "completed"
}

func (w *meeting) allOver(run int) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return !slices.ContainsFunc(w.jobs[run*10+1], func(j githubtest.Job) bool { return j.Status != "completed" })
}

// act runs the program as the step of a job.
func (w *meeting) act(m *memMachine, event, by string, run, attempt int, more ...string) string {
	env := m.environment(filepath.Join(w.dir, m.name), append([]string{
		"GITHUB_ACTIONS=true", "CI=true", "GITHUB_API_URL=" + w.forge.URL, "GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=" + w.repo,
		"GITHUB_EVENT_NAME=issue_comment", "GITHUB_EVENT_PATH=" + event, "GITHUB_ACTOR=" + by, "GITHUB_TRIGGERING_ACTOR=" + by,
		fmt.Sprintf("GITHUB_RUN_ID=%d", run), fmt.Sprintf("GITHUB_RUN_ATTEMPT=%d", attempt), "RUNNER_NAME=" + m.name, "GITHUB_WORKSPACE=" + w.dir,
		"INPUT_GITHUB_TOKEN=" + hubToken, "INPUT_PIPELINE=small", "INPUT_SANDBOX=off",
	}, append(more, w.more...)...)...)
	err := bot.Act(m.context(w.ctx), env, rehearse)
	end := "?"
	for line := range strings.Lines(m.log()) {
		if strings.HasPrefix(line, "decision: ") {
			end = strings.TrimSpace(line)
		}
	}
	var code exit.Code
	if err != nil && !errors.As(err, &code) {
		w.fault(m, "it fails with %v", err)
	}
	if m.isGone() {
		end = "is gone"
	}
	w.note(m, "%s (%d)", end, int(code))
	return end
}

// ended tells the forge that a job is over: at once where it ended by itself,
// and some minutes later where its machine is gone.
func (w *meeting) ended(m *memMachine, run, attempt int) {
	if m.isGone() {
		time.Sleep(5 * time.Minute)
	}
	w.tell(m, run, attempt, "completed")
}

// finishCommands has a last command brought to its end, when all is quiet.
func (w *meeting) finishCommands() {
	time.Sleep(12 * time.Hour)
	w.comment(99, incident{By: "max", Text: "/run", Jobs: []assignment{{After: time.Second}}})
	w.wg.Wait()
}

// sound holds what is left against what was asked for.
func (w *meeting) sound() error {
	if len(w.wrong) > 0 {
		return errors.New(w.wrong[0])
	}
	o := w.origin
	line := o.line(o.base, o.tip)
	for _, id := range o.accepted {
		if !o.contains(o.tip, id) {
			return fmt.Errorf("commit %.7s was taken and is lost", id)
		}
	}
	if len(line) != len(o.accepted) {
		return fmt.Errorf("%d commits were taken, the branch has %d", len(o.accepted), len(line))
	}
	if w.last == nil {
		return errors.New("there is no run")
	}
	run := *w.last
	if run.Execution.Lease != nil {
		return fmt.Errorf("the lease is %+v", run.Execution.Lease)
	}
	if run.Status != metadata.Completed && (run.Stop == nil || run.Stop.Why == "") {
		return fmt.Errorf("the run is %s and does not say why", run.Status)
	}
	if err := w.obeyed(run); err != nil {
		return err
	}
	return w.shown(run)
}

// obeyed holds that every command was taken once, or refused once, in order.
func (w *meeting) obeyed(run metadata.Run) error {
	taken, refused := map[int64]int{}, map[int64]bool{}
	order := int64(0)
	for _, d := range run.Decisions {
		if d.Comment == 0 {
			continue
		}
		taken[d.Comment]++
		refused[d.Comment] = strings.HasPrefix(d.Why.In(prompts.Words("en")), "refused: ")
		if d.Comment < order {
			return fmt.Errorf("comment %d was taken after %d", d.Comment, order)
		}
		order = d.Comment
	}
	replies := map[int64]int{}
	for _, c := range w.forge.Comments(w.repo, hubIssue) {
		for _, id := range command.AnswersTo(c.Body) {
			replies[id]++
		}
	}
	for _, s := range w.said {
		n, answers := taken[s.id], replies[s.id]
		signs := w.signs(s.id)
		switch {
		case answers > 1:
			return fmt.Errorf("comment %d (%s) has %d answers", s.id, s.text, answers)
		case s.by == "eve", s.by == "ada" && strings.HasPrefix(s.text, "/skip"):
			if n > 0 || answers > 0 {
				return fmt.Errorf("comment %d by somebody without the right was taken %d times and answered %d times", s.id, n, answers)
			}
		case s.edit: // it does not count from then on
			if n > 1 {
				return fmt.Errorf("comment %d (%s), edited, was taken %d times", s.id, s.text, n)
			}
		case s.text == "/help" || s.text == "/rolback":
			if n != 0 || answers != 1 {
				return fmt.Errorf("comment %d (%s) was taken %d times and answered %d times", s.id, s.text, n, answers)
			}
		case n == 0 && answers == 0 && w.unheard[s.id]: // before there was a run
		case n == 0 && run.CreatedAt.Sub(s.at) > 10*time.Minute: // long before there was one
		case n == 0 && answers == 1 && (strings.Contains(signs, "confused") || strings.Contains(signs, "-1")): // it was told why not
		case n != 1:
			return fmt.Errorf("comment %d (%s) was taken %d times; its answers are %d, its signs %q", s.id, s.text, n, answers, signs)
		case refused[s.id] && answers != 1:
			return fmt.Errorf("comment %d (%s) was refused and has %d answers", s.id, s.text, answers)
		}
	}
	return nil
}

func (w *meeting) signs(id int64) string {
	var out []string
	for _, r := range w.forge.Reactions(w.repo, id) {
		out = append(out, r.Content)
	}
	return strings.Join(out, " ")
}

// shown holds that people see one comment, which tells the newest state, and
// at most one pull request.
func (w *meeting) shown(run metadata.Run) error {
	var live []githubtest.Comment
	for _, c := range w.forge.Comments(w.repo, hubIssue) {
		if strings.HasPrefix(c.Body, "<!-- reprise:progress:") {
			live = append(live, c)
		}
	}
	pulls := w.forge.Pulls(w.repo)
	wroteCode := slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
	switch {
	case len(live) != 1:
		return fmt.Errorf("there are %d live comments", len(live))
	case !w.tells(live[0].Body, run):
		return fmt.Errorf("the live comment does not tell revision %d", run.Revision)
	case len(pulls) > 1:
		return fmt.Errorf("there are %d pull requests", len(pulls))
	case run.Status == metadata.Completed && wroteCode && (len(pulls) != 1 || pulls[0].Draft):
		return fmt.Errorf("the run is completed, the pull requests are %+v", pulls)
	}
	return nil
}

// tells reports whether a live comment tells how the run stands: commands that
// were refused since, and that the run is free, are not told.
func (w *meeting) tells(body string, run metadata.Run) bool {
	for _, r := range w.records {
		same := r.Status == run.Status && len(r.Attempts) == len(run.Attempts) && len(r.RollbackHistory) == len(run.RollbackHistory) && r.PRNumber == run.PRNumber
		if same && strings.Contains(body, fmt.Sprintf(`"revision":%d,`, r.Revision)) {
			return true
		}
	}
	return false
}

// report is all that is known of what happened.
func (w *meeting) report(all []incident) string {
	var b strings.Builder
	for _, h := range all {
		fmt.Fprintf(&b, "%+v\n", h)
	}
	b.WriteString(w.story.String())
	for _, m := range w.machines {
		if text := m.log(); text != "" && !strings.HasPrefix(m.name, "gate") {
			fmt.Fprintf(&b, "--- %s\n%s", m.name, text)
		}
	}
	return cmp.Or(b.String(), "nothing happened")
}
