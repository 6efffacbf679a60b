package prompts

import (
	"strconv"
)

// Filing is what reprise says in the files that it writes beside the artifacts.
type Filing struct {
	Gates, Findings, Where, Problem, Impact, Solution string // of a review
	Printed                                           string // before what a check has printed
	From, To, When, By, Open, Review, Reason          string // of a rollback

	reviewed, checked, exited, returned, wasOpen string
}

// Reviewed heads what a review says, by its round, counted from 1.
func (f Filing) Reviewed(phase string, round int, verdict string) string {
	return fill(f.reviewed, "phase", phase, "round", strconv.Itoa(round), "verdict", verdict)
}

// Checked heads what checks came to.
func (f Filing) Checked(phase, verdict string) string {
	return fill(f.checked, "phase", phase, "verdict", verdict)
}

// Exited heads what one check came to.
func (f Filing) Exited(check string, code int) string {
	return fill(f.exited, "check", check, "code", strconv.Itoa(code))
}

// Returned heads why a phase was taken back.
func (f Filing) Returned(phase string) string { return fill(f.returned, "phase", phase) }

// WasOpen counts what the review had found that led to a rollback.
func (f Filing) WasOpen(blockers, suggestions int) string {
	return counting(f.wasOpen, map[string]string{"blockers": strconv.Itoa(blockers), "suggestions": strconv.Itoa(suggestions)})
}

func englishFiling() Filing {
	return Filing{
		Gates: "Gates", Findings: "Findings", Where: "Where", Problem: "Problem", Impact: "Impact", Solution: "Solution",
		Printed: "It printed:",
		From:    "From", To: "To", When: "When", By: "By", Open: "Open then", Review: "Review", Reason: "Reason",

		reviewed: "Review of {phase}, round {round}: {verdict}", checked: "Checks of {phase}: {verdict}",
		exited: "{check}: exit code {code}", returned: "Why {phase} was taken back",
		wasOpen: "{blockers} {blockers|blocker|blockers}, {suggestions} {suggestions|suggestion|suggestions}",
	}
}

func japaneseFiling() Filing {
	return Filing{
		Gates: "条件", Findings: "指摘", Where: "場所", Problem: "問題", Impact: "影響", Solution: "解決策",
		Printed: "出力:",
		From:    "差し戻し元", To: "差し戻し先", When: "日時", By: "差し戻した人", Open: "当時の未解決の指摘", Review: "レビュー", Reason: "理由",

		reviewed: "{phase} のレビュー ({round} 回目): {verdict}", checked: "{phase} のチェック: {verdict}",
		exited: "{check}: 終了コード {code}", returned: "{phase} を差し戻した理由",
		wasOpen: "要修正 {blockers} 件、提案 {suggestions} 件",
	}
}
