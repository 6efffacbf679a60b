package terminal

import "testing"

func TestParagraphsOfGoals(t *testing.T) {
	const goal = "Write it\nin two lines.\n\n- one\n- two\n  of them\n1. first\nand so on\n\n\nthe end"
	want := "Write it in two lines.\n\n- one\n- two\n  of them\n1. first and so on\n\n\nthe end"
	if got := (planReport{Report: Report{width: 40}}).paragraphs(goal); got != want {
		t.Errorf("on a terminal it is\n%q\nand has to be\n%q", got, want)
	}
	if got := (planReport{Report: Report{width: 40}}).paragraphs("```\none\ntwo\n```"); got != "```\none\ntwo\n```" {
		t.Errorf("lines of code are %q", got)
	}
	if got := (planReport{}).paragraphs(goal); got != goal {
		t.Errorf("elsewhere it is %q, and has to stay as it is", got)
	}
}
