package refs

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParse(t *testing.T) {
	a, b := strings.Repeat("a", 40), strings.Repeat("b", 64)
	all := Parse([]byte(a + "\trefs/heads/reprise/issue-7\n" + b + "\trefs/reprise/records/issue-8\nwarning: none\n" + a + "\trefs/heads/cut of"))
	if diff := cmp.Diff([]Ref{{"refs/heads/reprise/issue-7", a}, {"refs/reprise/records/issue-8", b}}, all); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	want := []string{"+refs/heads/reprise/issue-7:refs/remotes/origin/reprise/issue-7", "+refs/reprise/records/issue-8:refs/reprise/records/issue-8"}
	if diff := cmp.Diff(want, Fetched(all)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
