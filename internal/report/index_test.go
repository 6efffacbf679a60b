package report

import (
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

func indexOf(t testing.TB, x Index) string {
	t.Helper()
	page, err := IndexPage(x)
	testenv.Must(t, err)
	return string(page)
}

// The page of all runs adds up what they came to, in both languages.
func TestIndex(t *testing.T) {
	for _, language := range metadata.Languages() {
		plays := progresstest.Plays(t, language)
		var x Index
		for _, name := range []string{"completed", "middle", "stuck"} {
			x.Runs = append(x.Runs, Indexed{Run: plays[name].Run, Page: "issue-7.html"})
		}
		x.Runs = append(x.Runs, Indexed{Run: plays["completed"].Run})
		failed := plays["stuck"].Run
		failed.Status = metadata.Failed
		x.Runs = append(x.Runs, Indexed{Run: failed})
		page := indexOf(t, x)
		checkPage(t, page)
		if n := strings.Count(page, `<a href="issue-7.html">`); n != 3 {
			t.Errorf("%s: %d runs are linked", language, n)
		}
		shown := textsOf(t, page)
		want := "2 of 3 that ended (67 %)"
		if language == "ja" {
			want = "終了した 3 件のうち 2 件 (67 %)"
		}
		if !strings.Contains(shown, want) {
			t.Errorf("%s: the page does not say %q", language, want)
		}
		for _, p := range x.Runs[0].Run.Phases {
			if strings.Count(shown, p.Name) == 0 {
				t.Errorf("%s: there is no phase %s", language, p.Name)
			}
		}
		if missing := regexp.MustCompile(`\{[a-z]+[|}]`).FindString(shown); missing != "" {
			t.Errorf("%s: the page has %q instead of a value", language, missing)
		}
	}
	checkPage(t, indexOf(t, Index{})) // of a repository without runs
}
