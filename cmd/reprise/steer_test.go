package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// steered is what a command line asks for, and why it is refused if it is.
func steered(line ...string) (asked command.Command, err error) {
	root := &cobra.Command{SilenceErrors: true, SilenceUsage: true}
	root.SetOut(io.Discard)
	root.SetErr(io.Discard)
	root.AddCommand(steersWith(func(_ *cobra.Command, s steerRequest) error {
		asked = s.Command
		return s.Check()
	})...)
	root.SetArgs(append(line, "--issue", "7"))
	err = root.Execute()
	return asked, err
}

// A terminal and a comment ask for the very same, so that it is carried out in
// the same way: see order.
func TestSteerIsTheComment(t *testing.T) {
	for comment, line := range map[string][]string{
		"/approve":                   {"approve"},
		"/approve plan":              {"approve", "--phase", "plan"},
		"/approve plan 0123456789ab": {"approve", "--phase", "plan", "--commit", "0123456789ab"},
		"/answer yes":                {"answer", "--text", "yes"},
		"/answer q2 yes":             {"answer", "--question", "q2", "--text", "yes"},
		"/skip plan no need":         {"skip", "--phase", "plan", "--reason", "no need"},
		"/pause":                     {"pause"},
		"/pause lunch":               {"pause", "--reason", "lunch"},
		"/cancel":                    {"cancel"},
		"/cancel the wrong issue":    {"cancel", "--reason", "the wrong issue"},
		"/finish":                    {"finish"},
		"/finish --squash":           {"finish", "--squash"},
	} {
		t.Run(comment, func(t *testing.T) {
			want := command.Parse(comment, false)
			got, err := steered(line...)
			if err != nil || want.Outcome != command.Understood {
				t.Fatalf("the line: %v, the comment: %+v", err, want)
			}
			testenv.Same(t, "of the comment and the line", want.Command, got)
		})
	}
}

// A terminal takes the same commands as a comment, and refuses the same mistakes.
func TestSteerIsRefused(t *testing.T) {
	long := strings.Repeat("ö", command.MaxReason+1)
	for _, tt := range []struct {
		comment string
		line    []string
		why     string
	}{
		{"/skip plan", []string{"skip", "--phase", "plan"}, "why? Give --reason TEXT"},
		{"/answer", []string{"answer"}, "the answer is empty: give --text TEXT"},
		{"/answer q1", []string{"answer", "--question", "q1"}, "the answer is empty"},
		{"/pause " + long, []string{"pause", "--reason", long}, "10001 characters"},
		{"/approve plan 0123456789ab twice", []string{"approve", "--phase", "plan", "--commit", "0123"}, "not the hash of a commit, of at least 7 digits"},
	} {
		t.Run(tt.comment[:min(len(tt.comment), 40)], func(t *testing.T) {
			if got := command.Parse(tt.comment, false); got.Outcome != command.Mistaken {
				t.Errorf("the comment is %+v", got)
			}
			if _, err := steered(tt.line...); err == nil || !strings.Contains(err.Error(), tt.why) {
				t.Errorf("the line is refused with %v, want %q", err, tt.why)
			}
		})
	}
}

func TestSentence(t *testing.T) {
	for _, tt := range []struct{ phase, why, want string }{
		{"plan", "plan is approved", "Phase plan is approved."},
		{"", "answered q1", "Answered q1."},
		{"plan", "paused by ada: lunch", "Paused by ada: lunch."},
		{"plan", "cancelled by ada: why not?", "Cancelled by ada: why not?"},
	} {
		testenv.Is(t, "got", (command.Effect{Phase: tt.phase, Why: metadata.Said(tt.why)}).Sentence(prompts.Words("en")), tt.want)
	}
}
