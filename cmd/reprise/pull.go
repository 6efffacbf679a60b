package main

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// maxTitle is the most that GitHub takes for the title of an issue or a pull
// request, in UTF-16 units.
const maxTitle = 256

// pullTitle gives the title of a run's pull request: that of the issue,
// without what GitHub would act on.
func pullTitle(run metadata.Run) string {
	if title := plainTitle(run.IssueTitle); title != "" {
		return title
	}
	return "issue " + flat(run.IssueNumber)
}

// plainTitle makes text from outside fit for a title, which is no Markdown but
// shows inline code, and may become the subject of a commit: what would turn
// into a mention, a reference or a link is code.
func plainTitle(text string) string {
	text, _ = prompts.CleanAll(text)
	parts := strings.Fields(strings.ReplaceAll(text, "`", "'"))
	for i, p := range parts {
		if attracts(p) {
			parts[i] = "`" + p + "`"
		}
	}
	return shortTitle(strings.TrimLeft(strings.Join(parts, " "), "/ "))
}

// shortTitle cuts a title to what GitHub takes.
func shortTitle(title string) string {
	if units(title) <= maxTitle {
		return title
	}
	room := maxTitle - len("...")
	for i, r := range title {
		if room -= units(string(r)); room < 0 {
			return title[:i] + "..."
		}
	}
	return title // unreachable: it has more units than there is room for
}

// pullDraft gives the body of a pull request while the run is under way, as
// Markdown in the language of the run: which issue it closes, the phases, what
// was used, and what passing reviews suggest. It has at most maxComment characters.
func pullDraft(plan *pipelines.Pipeline, run metadata.Run, f pullFacts) string {
	c := newCommenter(plan, run, f.told)
	draft := c.Tell.Draft
	if run.Status != metadata.Running && run.Status != metadata.Completed {
		draft = c.Tell.Halted
	}
	return c.body([]string{
		c.closes(f.Issue), alert(alertNote, draft), c.warnings(), joined(" · ", c.used(), c.pullLinks(f)), c.checklist(), c.suggestions(),
	})
}

// pullDone gives the body of a pull request at the end of a run: the report,
// which is Markdown from an agent and made harmless here, and below it which
// issue it closes, what was used, the phases, and what passing reviews suggest.
// It has at most maxComment characters; what has no room at the end of the report is left out.
func pullDone(plan *pipelines.Pipeline, run metadata.Run, report []byte, f pullFacts) string {
	c := newCommenter(plan, run, f.told)
	below := c.body([]string{
		"---", c.closes(f.Issue), c.warnings(), joined(" · ", c.used(), c.pullLinks(f)), details(c.Progress, c.checklist(), false), c.suggestions(),
	})
	text := tame(string(report), f.Images, maxComment-units(below)-4, c.Tell.BodyCut)
	if text == "" {
		text = "> " + c.Tell.NoReport
	}
	return text + "\n\n" + below
}

// body joins the parts of a body that fit.
func (c commenter) body(blocks []string) string {
	text, whole := fitting(blocks, maxComment-units(c.Tell.BodyCut)-4)
	if !whole {
		text = joined("\n\n", text, c.Tell.BodyCut)
	}
	return text + "\n"
}

// closes names the issue. GitHub closes it with the pull request only if it
// is one of the same repository.
func (c commenter) closes(issue int) string {
	if issue > 0 {
		return fmt.Sprintf("Closes #%d", issue)
	}
	return named("issue", link(inline(c.run.IssueNumber, 60), c.run.IssueURL))
}

func (c commenter) pullLinks(f pullFacts) string {
	return joined(" · ", link(c.Progress, f.Progress), link(c.Job, f.Job))
}
