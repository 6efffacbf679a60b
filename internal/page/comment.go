package page

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// LiveComment gives the one live comment of a run as Markdown, in the language of the run. It has at most clean.MaxComment
// characters: what has no room is left out, but for the head and the state for programs.
func LiveComment(c phases.Course, t Notices) string {
	w := newWriter(c, t)
	state := w.stateBlock()
	read, later := w.findings(), ""
	if c.Run.Stop == nil {
		read, later = "", read // the run goes on to revise it: nobody has to read it now
	}
	blocks := []string{
		w.put("head", w), w.put("elsewhere", w), w.put("near", w), w.advice(), w.put("stderr", w), w.put("opened", w), w.put("setup", w), w.warnings(),
		alert(alertNote, w.put("edited", w)), w.put("takenBack", w), read, w.proven(), w.phases(), w.doubts(), later, w.suggestions(),
		w.folded(w.Say("questions"), 6_000, "answered", w), w.folded(w.Say("tell.tasks"), 4_000, "tasks", w), w.folded(w.Say("tell.children"), 4_000, "children", w),
		w.rollbacks(), w.history(), w.put("flow", w),
	}
	cut := w.Say("tell.replyCut")
	body, whole := clean.Fit(blocks, clean.MaxComment-clean.Units(state)-clean.Units(cut)-10)
	return text.Join("\n\n", body, text.If(!whole, cut), state) + "\n"
}

// WithoutState leaves out of a live comment what only programs read.
func WithoutState(comment string) string {
	seen, _, _ := strings.Cut(comment, "\n"+stateBegins)
	return seen
}

// stateBegins is how the line with the state begins.
const stateBegins = "<!-- reprise:state:v1 "

// stateBlock is the state for programs that read the comment: JSON that people do
// not see.
func (w *writer) stateBlock() string {
	standing := map[string]metadata.PhaseStatus{} // of phases by name, of which more would take too much room
	for _, r := range w.Rows[:min(len(w.Rows), 60)] {
		standing[clean.Truncate(r.Rec.Name, 100)] = r.Rec.Status
	}
	spent := phases.SpentOf(w.Run)
	data, err := json.Marshal(map[string]any{
		"schema": 1, "issue": clean.Truncate(w.Run.IssueNumber, 100), "revision": w.Run.Revision, "status": w.Run.Status, "reason_code": w.Code(),
		"pipeline": clean.Truncate(w.Run.Pipeline.Name, 100), "phase": clean.Truncate(w.Now.Phase, 100), "step": w.Now.Step(), "agent": clean.Truncate(w.Now.Agent, 100),
		"branch": clean.Truncate(w.Run.BranchName, 200), "pull_request": w.Run.PRNumber, "phases": standing,
		"cost_usd": math.Round(w.Run.Cost.USD*1e4) / 1e4, "budget_usd": w.Run.Budget.USD, "tokens": spent.Tokens, "attempts": spent.Attempts,
		"rollbacks": len(w.Run.RollbackHistory), "updated_at": w.Run.UpdatedAt.UTC().Truncate(time.Second),
	})
	if err != nil {
		return "" // a time or an amount that JSON cannot hold
	}
	// Names of others may be in it: they neither end the comment nor mention anybody.
	return stateBegins + strings.NewReplacer("--", `-\u002d`, "@", `\u0040`, "#", `\u0023`).Replace(string(data)) + " -->"
}

// phases has a line for each phase, and below it one for each of its parts.
func (w *writer) phases() string { return w.list(12_000, "phases", w) }

// proven is what people decide by: a line for each phase.
func (w *writer) proven() string {
	return clean.PrefixedText(clean.Bold(w.Shown("proven"))+"\n\n", w.list(12_000, "proven", w))
}

// findings are what stands against the work of phases that are not done. They are open to
// view where a person has to read them.
func (w *writer) findings() string {
	return w.details(w.Say("findings"), 20_000, w.items("findings", w), w.Run.Stop != nil)
}

// suggestions are what passing reviews had to say.
func (w *writer) suggestions() string {
	return w.folded(w.Say("comment.suggestions"), 6_000, "suggestions", w)
}

func (w *writer) rollbacks() string { return w.folded(w.Say("rollbacks"), 10_000, "rollbacks", w) }

func (w *writer) history() string { return w.folded(w.Say("commands"), 6_000, "commands", w) }

// doubts says what there is little evidence for.
func (w *writer) doubts() string { return w.within(6_000, "\n\n", w.items("doubts", w)) }

// warnings say what went wrong beside the run, and why no check runs on its
// branch.
func (w *writer) warnings() string {
	items := w.items("warnings", w)
	if len(items) == 1 {
		return alert(alertWarning, items[0])
	}
	for i, one := range items {
		items[i] = "- " + one
	}
	return alert(alertWarning, w.within(6_000, "\n", items))
}

// becomes says what becomes of an issue that a phase has asked for.
func (w *writer) becomes(x metadata.Child) string {
	opened, soon := 0, phases.ToOpen(w.Course)
	for _, c := range w.Run.Children {
		opened += text.Count(c.Opened())
	}
	switch {
	case x.Opened():
		return cmp.Or(clean.Link(strconv.Itoa(x.Number), x.URL), strconv.Itoa(x.Number))
	case slices.ContainsFunc(soon, func(n metadata.Child) bool { return n.ID == x.ID }):
		return w.Say("tell.childNext")
	case opened+len(soon) >= phases.MostChildren:
		return w.Say("tell.childLeft", "n", phases.MostChildren)
	}
	return w.Say("tell.childWaits")
}

// State is what a live comment tells programs of a run.
type State struct {
	Status   metadata.Status `json:"status"`
	Revision int             `json:"revision"`
	USD      float64         `json:"cost_usd"`
	Updated  time.Time       `json:"updated_at"`
}

// StateOf reads what a live comment tells programs; zero if that is not there.
func StateOf(comment string) (s State) {
	_, line, _ := strings.Cut(comment, "\n"+stateBegins)
	if json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(line), " -->")), &s) != nil {
		return State{}
	}
	return s
}

// Links are addresses that a comment points at. Those that are empty are left
// out.
type Links struct {
	Job         string // of the job that works on the run
	Branch      string
	PullRequest string // if empty, the one that the record names
	Report      string // the page of the run, or where it can be downloaded
	Files       string // what a path from the top of the repository is appended to
}

// Notices is what is known of a run beside its record, for those who read about
// it. The zero value says nothing.
type Notices struct {
	Links
	// Requests are commands that the record does not have, such as refused ones,
	// in any order. Those that it has are found there.
	Requests []Requested
	// Warnings are what went wrong beside the run, such as why there is no
	// pull request, each a sentence of a program.
	Warnings []string
	// NoChecks says that the newest push was made with GITHUB_TOKEN, for which
	// GitHub starts no workflow.
	NoChecks bool
	// Base is how the run stands to its base, if it lacks some of that.
	Base metadata.Reason
	// Near says which open runs of other issues change the same files.
	Near metadata.Reason
	// Elsewhere are the parts that jobs of the same run of the workflow work on.
	Elsewhere []string
	// Shut says that the pull request takes no more work, which a warning explains.
	Shut bool
	// Dispatched are the workflow files that were started because of that.
	Dispatched []string
}

// Requested is a command that somebody gave, and what became of it.
type Requested struct {
	At      time.Time
	By      string // login; empty if unknown
	Command string // as it was typed; its first line is shown
	Outcome string // a sentence, or empty
	URL     string // of the comment; may be empty
}

// Repository is where what belongs to a run is found.
type Repository struct {
	Server  string // of the forge; empty: GitHub's
	Name    string // owner/name
	Job     int64  // the run of the workflow; 0: none
	Tip     string // the newest commit that has the run's record; empty: it is not open
	Uploads bool   // the job keeps the page of the run when it ends
}

// Links are the addresses of what belongs to a run.
func (r Repository) Links(run metadata.Run) Links {
	server := cmp.Or(strings.TrimRight(r.Server, "/"), "https://github.com")
	home := server + "/" + (&url.URL{Path: r.Name}).EscapedPath()
	l := Links{PullRequest: run.PRURL}
	if r.Job != 0 {
		l.Job = fmt.Sprintf("%s/actions/runs/%d", home, r.Job)
		if r.Uploads && run.Status != metadata.Running {
			l.Report = l.Job + "#artifacts"
		}
	}
	if r.Tip != "" {
		l.Branch = home + "/tree/" + (&url.URL{Path: run.BranchName}).EscapedPath()
		l.Files = home + "/blob/" + r.Tip + "/"
	}
	return l
}

// columns is how wide a timeline is: more has no room on a phone.
const columns = 36

// timeline draws which phase was at work when, as bars of text, without the time that the run waited. What became of a
// phase is a sign before it: GitHub gives such a text no colours.
func (w *writer) timeline() string {
	spans, all := spansOf(w.Run)
	if all == 0 {
		return ""
	}
	var lines []string
	for _, r := range w.Rows {
		bar := barOf(spans[r.Rec.Name], all)
		if bar == "" {
			continue
		}
		worked := time.Duration(0)
		for _, s := range spans[r.Rec.Name] {
			worked += s.to - s.from
		}
		name, took := text.Cut(view.Label(r.Title), columns-12), w.Duration(worked)
		gap := max(1, columns-ansi.StringWidth(name)-ansi.StringWidth(took))
		lines = append(lines, w.square(r)+" "+name+strings.Repeat(" ", gap)+took, "   "+bar)
	}
	if len(lines) == 0 {
		return ""
	}
	return "```text\n" + strings.Join(lines, "\n") + "\n```\n\n" + w.Say("tell.bars")
}

// span is an attempt among all the time that was worked.
type span struct {
	from, to time.Duration
	judges   bool // it checks or reviews
}

// spansOf gives the attempts of a run by phase, and how long the run was at work. One that
// is open lasts until now.
func spansOf(run metadata.Run) (of map[string][]span, all time.Duration) {
	const longest = 24 * time.Hour // of one attempt: a clock may have jumped
	at := view.AxisOf(run.Attempts, func(a metadata.Attempt) time.Duration {
		if a.Status == metadata.Started {
			return min(max(run.UpdatedAt.Sub(a.StartedAt), 0), longest)
		}
		return time.Duration(min(max(a.DurationMS, 0), longest.Milliseconds())) * time.Millisecond
	}, 0, 0)
	of = map[string][]span{}
	for i, a := range at.Attempts {
		of[a.Phase] = append(of[a.Phase], span{at.Starts[i], at.Starts[i] + at.Widths[i], a.Step == metadata.Review || a.Step == metadata.Check})
	}
	return of, at.All
}

// barOf draws the attempts of a phase; each is seen, however short it was.
func barOf(spans []span, all time.Duration) string {
	bar := []rune(strings.Repeat(" ", columns))
	for _, judges := range []bool{true, false} { // work covers what judged it in the same column
		for _, s := range spans {
			if s.judges != judges {
				continue
			}
			from := min(int(float64(s.from)/float64(all)*columns), columns-1)
			to := max(from+1, int(float64(s.to)/float64(all)*columns))
			for i := from; i < min(to, columns); i++ {
				bar[i] = map[bool]rune{true: '▒', false: '█'}[judges]
			}
		}
	}
	return strings.TrimRight(string(bar), " ")
}
