package view_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/view"
)

// Of much output the failing lines are shown, with what follows them and how it
// ends; a screen of a phone has room for it.
func TestExcerpt(t *testing.T) {
	var long strings.Builder
	for i := range 100 {
		fmt.Fprintf(&long, "ok  \texample.com/pkg%d\t0.01s\n", i)
		if i == 40 {
			long.WriteString("--- FAIL: TestGreet (0.00s)\n    greet_test.go:12: got \"hello you\", want \"hello Ada\"\n    in German\nFAIL\n")
		}
	}
	long.WriteString("FAIL\nexit status 1\n")
	lines, left := view.Excerpt(long.String(), 15)
	want := []string{
		"…", "--- FAIL: TestGreet (0.00s)", "    greet_test.go:12: got \"hello you\", want \"hello Ada\"", "    in German", "FAIL",
		"ok  \texample.com/pkg41\t0.01s", "ok  \texample.com/pkg42\t0.01s", "…",
	}
	want = append(want, "ok  \texample.com/pkg99\t0.01s", "FAIL", "exit status 1")
	if diff := cmp.Diff(want, lines); diff != "" || left != 106-9 {
		t.Errorf("%d are left (-want +got):\n%s", left, diff)
	}

	few, left := view.Excerpt("a\n\n\nb  \n", 15)
	if diff := cmp.Diff([]string{"a", "b"}, few); diff != "" || left != 0 {
		t.Errorf("%d are left (-want +got):\n%s", left, diff)
	}
	var plain strings.Builder
	for i := range 40 {
		fmt.Fprintln(&plain, "line", i)
	}
	if ends, left := view.Excerpt(plain.String(), 5); left != 35 || strings.Join(ends, "|") != "…|line 35|line 36|line 37|line 38|line 39" {
		t.Errorf("%d are left: %q", left, ends)
	}
	all, left := view.Excerpt(strings.Repeat("error: "+strings.Repeat("語", 500)+"\n", 5000), 15)
	if len(all) > 17 || left != 5000-15 || len(all[0]) > 1000 {
		t.Errorf("%d lines, %d left: %.1000q", len(all), left, all)
	}
	if none, left := view.Excerpt(" \n\n", 15); none != nil || left != 0 {
		t.Errorf("%q", none)
	}
}
