package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// checks are those of the repository; they know what they were told before.
func (d *delivery) checks() *github.Checks {
	if d.ran == nil {
		d.ran = &github.Checks{Repo: d.GitHub, Own: d.Own}
	}
	return d.ran
}

// hasCI reports whether CI has something to say of the work of a run, and why not: no workflow
// would start, and nothing else runs on commits of the repository.
func (d *delivery) hasCI(ctx context.Context, rule pipelines.CI, run metadata.Run) (has bool, why metadata.Reason) {
	switch {
	case !d.In.Pull:
		return false, ""
	case ciOff(rule):
		return false, metadata.Because("ci_unasked")
	case len(rule.Required) > 0, len(d.In.Dispatch) > 0:
		return true, ""
	}
	starts := setup.HasChecks(d.Folder)
	if starts && !pushesQuietly(ctx, d.GitHub) {
		return true, ""
	}
	all, err := d.checks().Of(ctx, run.BaseCommit)
	d.Voice.warnOf(err)
	if slices.ContainsFunc(all, func(c github.Check) bool { return !c.Job && c.Workflow == "" }) {
		return true, ""
	}
	if !starts && err == nil {
		why = metadata.Because("ci_none")
	}
	return false, why
}

// startCI starts the workflows that are named for it, where a push starts none and
// they do not run on the commit already.
func (d *delivery) startCI(ctx context.Context, rule pipelines.CI, run metadata.Run, commit string) {
	files := append(rule.Files(), d.In.Dispatch...)
	if len(files) == 0 || d.started == commit || d.Expired() || !pushesQuietly(ctx, d.GitHub) {
		return
	}
	d.started = commit
	all, err := d.checks().Of(ctx, commit)
	d.Voice.warnOf(err)
	slices.Sort(files)
	for _, file := range slices.Compact(files) {
		if err == nil && !slices.ContainsFunc(all, func(c github.Check) bool { return c.Workflow == file }) {
			d.dispatch(ctx, file, run)
		}
	}
}

// dispatch starts a workflow on the branch of a run.
func (d *delivery) dispatch(ctx context.Context, file string, run metadata.Run) {
	if err := d.checks().Dispatch(ctx, file, run.BranchName); err != nil {
		d.Voice.Warn(err)
		return
	}
	d.Voice.Change(func(n *page.Notices) { n.Dispatched = append(n.Dispatched, file) })
}

// lookAtCI asks what CI says of a commit.
func (d *delivery) lookAtCI(ctx context.Context, rule pipelines.CI, commit string) (ciVerdict, error) {
	all, err := d.checks().Of(ctx, commit)
	return judgeCI(rule, all), err
}

// evidence is what CI says of the checks that failed. What cannot be read is left out, with a warning.
func (d *delivery) evidence(ctx context.Context, failed []github.Check, mask func(string) string) (out []metadata.CheckResult) {
	for i, c := range failed {
		var notes []github.Annotation
		var log []byte
		var noNotes, noLog error
		if c.Run > 0 && i < mostFailed {
			notes, noNotes = d.checks().Annotations(ctx, c)
			if c.Job {
				log, noLog = d.checks().Log(ctx, c, logBytes)
			}
		}
		d.Voice.warnOf(errors.Join(noNotes, noLog))
		out = append(out, checkResult(c, notes, log, mask))
	}
	return out
}

// ready takes the pull request of a run out of the drafts if it is at that commit, and nothing else. One that
// somebody closed stays closed, with a warning. If the commit changes at that very moment, it is a draft again.
func (d *delivery) ready(ctx context.Context, run metadata.Run, commit string) error {
	pull, err := d.open(ctx, run)
	switch {
	case isRefusal(err):
		d.Voice.Warn(err)
		return nil
	case err != nil:
		return err
	case pull.Commit != commit:
		return changed(pull, commit)
	case !pull.Draft:
		return nil
	}
	if err := d.markReady(ctx, pull, run); err != nil {
		return err
	}
	if pull, err = d.GitHub.Pull(ctx, run.PRNumber); err != nil || pull.Commit == commit {
		return err
	}
	return errors.Join(changed(pull, commit), d.redraft(ctx, pull))
}

func changed(pull github.Pull, commit string) error {
	return phases.Refuse(metadata.Because("ci_changed", "head", shortCommit(pull.Commit), "commit", shortCommit(commit)))
}

// open reads the pull request of a run. The error is a refusal where it takes no more work.
func (d *delivery) open(ctx context.Context, run metadata.Run) (github.Pull, error) {
	pull, err := d.GitHub.Pull(ctx, run.PRNumber)
	if err == nil && pull.Merged {
		err = phases.Refuse(metadata.Because("pull_merged", "number", pull.Number))
	} else if err == nil && pull.State == "closed" {
		err = phases.Refuse(metadata.Because("pull_closed", "number", pull.Number))
	}
	d.Voice.Change(func(n *page.Notices) { n.Shut = isRefusal(err) })
	return pull, err
}

func isRefusal(err error) bool { return errors.As(err, new(*phases.Refusal)) }

// look tells people, before anything is spent, that the pull request of a run takes no more work.
func (d *delivery) look(ctx context.Context, run metadata.Run) {
	if run.PRNumber == 0 || d.Expired() {
		return
	}
	_, err := d.open(ctx, run)
	d.Voice.warnOf(unlessKind(err, github.NotFound, github.Gone))
}

// Redraft makes a draft of the pull request of a run that goes on.
func (d *delivery) Redraft(ctx context.Context, run metadata.Run) {
	if run.PRNumber == 0 || d.Expired() {
		return
	}
	pull, err := d.open(ctx, run)
	if err == nil && !pull.Draft {
		err = d.redraft(ctx, pull)
	}
	if !isRefusal(err) {
		d.Voice.warnOf(err)
	}
}

// redraft takes back that a pull request is ready. A forge without drafts leaves it.
func (d *delivery) redraft(ctx context.Context, pull github.Pull) error {
	const mutation = "mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
	err := d.GitHub.Mutate(ctx, fmt.Sprintf("make pull request %d a draft", pull.Number), "pull-requests: write", mutation, map[string]any{"id": pull.NodeID})
	return unlessKind(err, github.NotFound, github.Gone)
}

// markReady says that a pull request is ready, and asks whoever gave the newest command for a review.
func (d *delivery) markReady(ctx context.Context, pull github.Pull, run metadata.Run) error {
	if err := d.GitHub.ReadyPull(ctx, pull); err != nil {
		return err
	}
	who := newestCommander(run)
	if !slices.Contains(d.In.Notify, commander) || !loginForm().MatchString(who) {
		return nil
	}
	ask := func(what, path, field string) {
		err := d.ask(ctx, fmt.Sprintf(what, who, pull.Number), "pull-requests: write", http.MethodPost, fmt.Sprintf(path, pull.Number), map[string]any{field: []string{who}})
		// Nobody reviews what is their own, and some may not be asked.
		d.Voice.warnOf(unlessKind(err, github.Refused, github.NotFound, github.Gone))
	}
	ask("ask %s for a review of pull request %d", "/pulls/%d/requested_reviewers", "reviewers")
	ask("assign %s to pull request %d", "/issues/%d/assignees", "assignees")
	return nil
}

// unlessKind is an error, unless it is one of some kinds.
func unlessKind(err error, kinds ...github.Kind) error {
	if github.IsKind(err, kinds...) {
		return nil
	}
	return err
}

// ownWorkflow is the path of the workflow that a job runs in, from what GitHub says of it: OWNER/NAME/PATH@REF.
func ownWorkflow(ref, repository string) string {
	file, _, _ := strings.Cut(ref, "@")
	file, _ = strings.CutPrefix(file, repository+"/")
	return file
}

// Limits of what is taken of CI, in checks, annotations, lines and characters.
const (
	mostFailed = 5       // checks whose words are taken
	logBytes   = 256_000 // of the end of a log that are read
	mostName   = 80
	mostNotes  = 20
	mostNote   = 500
	logLines   = 80
	mostLog    = 6_000
	mostLine   = 1_000
)

var (
	notInName = text.Pattern(`[^\pL\pN ._/():,+-]`)
	stampForm = text.Pattern(`^\x{FEFF}?\d{4}-\d\d-\d\dT[\d:.]+Z `)
)

// Marks at the beginning of lines in logs of GitHub.
const (
	mark      = "##["
	errorLine = mark + "error]"
)

// checkName is the name of a check without what would have an effect where it is shown.
func checkName(name string) string {
	name = notInName().ReplaceAllString(strings.Join(strings.Fields(strings.ToValidUTF8(name, "")), " "), "_")
	if runes := []rune(name); len(runes) > mostName {
		name = string(runes[:mostName-1]) + "…"
	}
	return cmp.Or(name, "unnamed")
}

// checkNames are those of some checks.
func checkNames(all []github.Check) (out []string) {
	for _, c := range all {
		out = append(out, checkName(c.Name))
	}
	return out
}

// checkResult is a failed check as the record of a run has it, with what CI says of it:
// words of strangers, which mask rids of secrets.
func checkResult(c github.Check, notes []github.Annotation, log []byte, mask func(string) string) metadata.CheckResult {
	var parts []string
	if said := words(c.Said, mask); said != "" {
		parts = append(parts, "It ended with: "+said)
	}
	for i, n := range order(notes) {
		if i == mostNotes {
			parts = append(parts, fmt.Sprintf("… and %d more annotations", len(notes)-i))
			break
		}
		at := text.If(metadata.CheckPath(n.Path) == nil, fmt.Sprintf("%s:%d: ", n.Path, n.Line))
		parts = append(parts, at+words(strings.TrimSpace(n.Title+" "+n.Message), mask))
	}
	if end := endOfLog(log, mask); end != "" {
		parts = append(parts, end)
	}
	run := "CI" + text.If(pipelines.WorkflowFile(c.Workflow), " in "+c.Workflow)
	return metadata.CheckResult{Name: "ci/" + checkName(c.Name), Run: run, ExitCode: 1, Output: strings.Join(parts, "\n")}
}

// order puts what says of failures before the rest, and leaves out mere notices.
func order(notes []github.Annotation) (out []github.Annotation) {
	for _, level := range []string{"failure", "warning"} {
		for _, n := range notes {
			if n.Level == level {
				out = append(out, n)
			}
		}
	}
	return out
}

// words are those of strangers on one line.
func words(s string, mask func(string) string) string {
	s, _ = clean.Text(mask(ansi.Strip(strings.ToValidUTF8(s, "\uFFFD"))))
	s = strings.Join(strings.Fields(s), " ")
	if runes := []rune(s); len(runes) > mostNote {
		s = string(runes[:mostNote-1]) + "…"
	}
	return s
}

// endOfLog is the failing end of a log: the lines before the last error, after which a job only tidies up.
func endOfLog(log []byte, mask func(string) string) string {
	if len(log) == 0 {
		return ""
	}
	lines := strings.Split(strings.TrimRight(mask(ansi.Strip(strings.ToValidUTF8(string(log), "\uFFFD"))), "\n"), "\n")
	last := len(lines) - 1
	for i, line := range lines {
		line = strings.TrimRight(stampForm().ReplaceAllString(line, ""), "\r")
		lines[i] = strings.Map(shownCheck, line)
		if strings.HasPrefix(line, errorLine) {
			last = i
		}
	}
	if len(log) == logBytes && last > 0 {
		lines, last = lines[1:], last-1 // the first one is cut off
	}
	var kept []string
	room := mostLog
	for i := last; i >= 0 && len(kept) < logLines; i-- {
		line := lines[i]
		if strings.HasPrefix(line, mark) && !strings.HasPrefix(line, errorLine) {
			continue
		}
		if runes := []rune(line); len(runes) > mostLine { // or it would be the only one, or none
			line = string(runes[:mostLine-1]) + "…"
		}
		if room -= utf8.RuneCountInString(line) + 1; room < 0 {
			break
		}
		kept = append(kept, strings.Replace(line, errorLine, "error: ", 1))
	}
	slices.Reverse(kept)
	return strings.TrimSpace(strings.Join(kept, "\n"))
}

// shownCheck takes control characters away, but for tabs.
func shownCheck(r rune) rune {
	if r < ' ' && r != '\t' || r == 0x7f {
		return -1
	}
	return r
}
