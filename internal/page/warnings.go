package page

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// The alerts of GitHub that are used: what a person is asked, what went wrong,
// what is good to know, and what is done. Other forges show them as quotes.
const (
	alertTip       = "TIP"
	alertImportant = "IMPORTANT"
	alertWarning   = "WARNING"
	alertNote      = "NOTE"
)

// alert is Markdown in a box of a kind; nothing without a body.
func alert(kind, body string) string {
	if body == "" {
		return ""
	}
	return "> [!" + kind + "]\n" + clean.Indent(body, "> ")
}

// doubts says what there is little evidence for: that no check was run, where one
// would tell something, that a model reviews its own work, and that a writer was cut off.
func (w writer) doubts() string {
	var all []string
	if phases.ChecksNothing(w.Plan) {
		all = append(all, "⚠️ "+w.Say("tell.ranNothing"))
	}
	if names := w.Plan.OfOneMind(); len(names) > 0 {
		all = append(all, "⚠️ "+w.Say("tell.ofOneMind", "phases", w.List(codes(names))))
	}
	if names := view.CutOff(w.Run); len(names) > 0 {
		all = append(all, "⚠️ "+w.Say("tell.turnsUsedUp", "phases", w.List(codes(names))))
	}
	return strings.Join(append(all, w.unseen()...), "\n\n")
}

// unseen says which images of the issue agents are not given, and why.
func (w writer) unseen() (all []string) {
	const most = 5
	left := 0
	for i, image := range w.Run.Issue.Images {
		switch {
		case image.Digest != "":
		case len(all) == most:
			left++
		default:
			all = append(all, "⚠️ "+text.Capitalize(clean.Inline(w.Shown("image not given", "n", i+1, "why", image.Why.In(w.Catalogue)), 300)))
		}
	}
	if left > 0 {
		all = append(all, w.Say("comment.more", "n", left))
	}
	return all
}

// mostTests is how many tests of a check are named.
const mostTests = 20

// oddChecks names the checks that failed before anything was changed, and fail in the
// same way now, and those that are flaky; each with the tests that failed.
func (w writer) oddChecks() string {
	var all []string
	before, flaky := view.OddChecks(w.Rows)
	if len(before) > 0 {
		all = append(all, "⚠️ "+w.Say("tell.failedBefore", "checks", w.allWithTests(before)))
	}
	if len(flaky) > 0 {
		all = append(all, "⚠️ "+w.Say("tell.flaky", "checks", w.allWithTests(flaky)))
	}
	return strings.Join(all, "\n\n")
}

func (w writer) allWithTests(checks []metadata.CheckResult) string {
	var names []string
	for _, c := range checks {
		names = append(names, w.withTests(c))
	}
	return w.List(names)
}

// withTests is a check with the tests that failed in it.
func (w writer) withTests(c metadata.CheckResult) string {
	names := codes(c.FailedTests[:min(len(c.FailedTests), mostTests)])
	if more := len(c.FailedTests) - mostTests; more > 0 {
		names = append(names, w.Say("comment.more", "n", more))
	}
	name := strings.Join(codes([]string{c.Name}), "")
	if len(names) == 0 {
		return name
	}
	return name + " (" + strings.Join(names, ", ") + ")"
}

// warnings say what went wrong beside the run, and why no check runs on its
// branch.
func (w writer) warnings() string {
	const most = 10 // more would push the run itself out of sight
	var all []string
	if w.notices.NoChecks {
		why := w.Say("tell.noChecks")
		if names := codes(w.notices.Dispatched); len(names) > 0 {
			why += " " + w.Say("tell.dispatched", "workflows", strings.Join(names, ", "))
		}
		all = append(all, why)
	}
	if w.notices.CI != "" {
		all = append(all, text.Capitalize(clean.Inline(w.notices.CI.In(w.Catalogue), 500)))
	}
	if w.notices.Base != "" {
		all = append(all, text.Capitalize(clean.Inline(w.notices.Base.In(w.Catalogue), 500)))
	}
	for i, said := range w.notices.Warnings {
		if i == most {
			all = append(all, w.Say("comment.more", "n", len(w.notices.Warnings)-i))
			break
		}
		if said = clean.Inline(said, 500); said != "" {
			all = append(all, said)
		}
	}
	if len(all) > 1 {
		return alert(alertWarning, "- "+strings.Join(all, "\n- "))
	}
	return alert(alertWarning, strings.Join(all, ""))
}
