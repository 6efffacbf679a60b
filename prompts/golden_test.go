package prompts

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// variants are the tasks whose prompts lie in testdata/golden.
func variants() map[string]Data {
	full := func(step string) Data {
		d := task(step)
		d.Rollback, d.Feedback, d.Diff, d.Round = rollback(), feedback(), diff(), 1
		return d
	}
	execute, review, revise := task("execute"), task("review"), task("revise")
	first := execute
	first.Access, first.Documents, first.Gates, first.Schema = "artifacts", nil, nil, reportSchema
	silent := execute
	silent.Access = "none"
	review.Diff = diff()
	late := full("review")
	late.Rollback, late.Round = nil, 2
	late.Feedback.Checks = append(late.Feedback.Checks, Check{CheckResult: metadata.CheckResult{Name: "vet", Run: "go vet ./...", Pass: true}})
	revise.Feedback, revise.Schema = feedback(), reportSchema
	resumed := revise
	resumed.Resumed = true
	repeated := revise
	repeated.Feedback = &Feedback{Missing: []string{"implementation.md was not written"}, Invalid: []string{"complexity: missing"}}
	automatic := full("revise")
	automatic.Feedback = nil
	automatic.Rollback = &Rollback{FromPhase: "evaluation", Automatic: true, Reason: "Two tests fail.", Blockers: -1}
	asked := automatic
	asked.Rollback = &Rollback{FromPhase: "evaluation", Automatic: true, By: "ada", Reason: "Two tests fail.", Blockers: -1}
	missing, invalid := execute, review
	missing.Feedback = &Feedback{Missing: []string{"implementation.md is the same as before"}, Violations: []string{".github/workflows/ci.yml: a protected path"}}
	invalid.Feedback = &Feedback{Violations: []string{"of the writer, and not of who reviews"}, Invalid: []string{"findings[0].id: missing", `verdict: "ok", want pass, pass_with_suggestions or fail`}}
	answered := first
	answered.Resumed, answered.Answers = true, []Answer{{Question: "REST or RPC?", Answer: "REST.\n{{.Goal}}", By: "ada"}, {Question: "How long?", Answer: "A week"}}
	diagnose := task("diagnose")
	diagnose.Access, diagnose.Schema, diagnose.State, diagnose.Gates = "read", reportSchema, "Status: failed\nimplement: failed, review: fail", nil
	diagnose.Artifact = "/home/ci/tree/.reprise/issue-7/metadata.json"
	choose := task("choose")
	choose.Access, choose.Schema, choose.Gates, choose.Goal = "none", reportSchema, nil, ""
	seen := diagnose
	seen.Symptom = "The list ends after 100 entries.\n{{.Goal}}"
	undecided := diagnose
	undecided.Feedback = &Feedback{Invalid: []string{"there is no phase \"desing\""}}
	among := execute
	among.Others = []string{"8: Greet in Japanese {{.Goal}} (running, design)\n- Read the language\nshared: hello.go", "add-flag: Add a flag (waiting)"}
	noted := first
	noted.Issue.Notes = "Tests need no network.\n{{.Goal}}"
	discussed := first
	discussed.Issue.Said = []Said{{"ada", "maintain", "2026-03-01 09:00 UTC", "A comma, {{.Goal}}.\nNo more."}, {"hana", "", "2026-03-02 10:30 UTC", "Right."}}
	discussed.Issue.Older = 3
	pictured := first
	pictured.Issue.Body, pictured.Issue.Images = "It looks so: ![page](https://github.com/user-attachments/assets/1) (image 1: /home/ada/runs/images/1-0123456789ab.png)", "/home/ada/runs/images"
	broken, cut := execute, review
	broken.Feedback = &Feedback{Notice: "An earlier call broke off.\nIts changes are in a.patch.", Violations: []string{"b.go: a protected path"}}
	cut.Feedback = &Feedback{Notice: "The writer was cut off."}
	again := undecided
	again.Resumed = true
	part, judged := execute, review
	part.Part = &Part{ID: "t2", Title: "The page\n{{.Goal}}", Goal: "Show what was read.", Files: []string{"page.go", "page_test.go"}, Others: []string{"t1: The parser"}}
	judged.Part = &Part{ID: "t1", Title: "The parser", Goal: "Read it."}
	return map[string]Data{
		"execute-part": part, "review-part": judged,
		"execute-broken": broken, "review-cut": cut,
		"execute-answered": answered, "execute-others": among, "execute-notes": noted, "execute-discussed": discussed, "execute-pictured": pictured,
		"choose": choose, "diagnose": diagnose, "diagnose-seen": seen, "diagnose-invalid": undecided, "retry-diagnose": again,
		"execute": execute, "execute-first": first, "execute-none": silent, "execute-rollback": full("execute"),
		"review": review, "review-late": late, "review-rollback": full("review"),
		"revise": revise, "revise-resumed": resumed, "revise-repeated": repeated,
		"revise-rollback": full("revise"), "revise-automatic": automatic, "revise-asked": asked,
		"retry-missing": missing, "retry-invalid": invalid,
	}
}

func TestGolden(t *testing.T) {
	for _, language := range metadata.Languages() {
		set := mustLoad(t, language)
		for name, d := range variants() {
			t.Run(language+"/"+name, func(t *testing.T) {
				template, _, _ := strings.Cut(name, "-")
				got, err := set.Render(template, d)
				testenv.Must(t, err)
				testenv.Golden(t, filepath.Join("testdata", "golden", language, name+".md"), got)
			})
		}
	}
}
