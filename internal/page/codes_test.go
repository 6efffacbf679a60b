package page

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// closedCodes is the promise to programs: codes come to it and never go.
const closedCodes = `agent_failed already_running api_error awaiting_ci budget_exceeded cancelled change_refused check_failed ci_failed completed config_invalid
	conflict credentials_missing disk_failed git_failed no_progress no_run nothing_done output_invalid permission_denied push_failed ref_changed
	review_failed secret_found setup_failed stale_event state_corrupt stuck timed_out waiting`

func TestCodesAreClosed(t *testing.T) {
	for _, language := range metadata.Languages() {
		var explained []string
		for key := range progresstest.Texts(t, language) {
			if code, is := strings.CutSuffix(key, ".meaning"); is && strings.HasPrefix(code, "codes.") {
				explained = append(explained, strings.TrimPrefix(code, "codes."))
			}
		}
		slices.Sort(explained)
		if diff := cmp.Diff(strings.Fields(closedCodes), explained); diff != "" {
			t.Errorf("%s (-promised +explained):\n%s", language, diff)
		}
	}
}

// What people are told to comment must be a command that is carried out.
func TestAdviceIsCarriedOut(t *testing.T) {
	ready := map[string]bool{}
	for _, s := range command.Table() {
		ready[s.Name] = true
	}
	told := 0
	for _, language := range metadata.Languages() {
		c := prompts.Words(language)
		var texts []string
		for _, code := range strings.Fields(closedCodes) {
			a := c.Explain(code)
			texts = append(texts, a.Meaning, a.Do)
		}
		for _, m := range regexp.MustCompile("`/([a-z]+)").FindAllStringSubmatch(strings.Join(texts, "\n"), -1) {
			if told++; !ready[m[1]] {
				t.Errorf("%s: /%s is advised, but not carried out", language, m[1])
			}
		}
	}
	if told == 0 {
		t.Error("no command is advised at all")
	}
}

// Each code and each reason is in the reference, in the words that people read when it happens.
func TestCodesPage(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Reason codes\n\nWhy something was refused or a run ended. Codes come to this list and never go.\n")
	for _, page := range []struct{ language, heading, columns string }{
		{"en", "In English", "Code | Meaning | What to do"}, {"ja", "In Japanese", "コード | 意味 | 対処"},
	} {
		fmt.Fprintf(&b, "\n## %s\n\n| %s |\n| --- | --- | --- |\n", page.heading, page.columns)
		for _, name := range strings.Fields(closedCodes) {
			a := prompts.Words(page.language).Explain(name)
			fmt.Fprintf(&b, "| %s | %s | %s |\n", clean.Code(name), a.Meaning, a.Do)
		}
	}
	b.WriteString("\n## Why, in the record\n\n`{n|one|many}` is a word that depends on a number.\n\n| Code | In English | In Japanese |\n| --- | --- | --- |\n")
	en, ja := progresstest.Texts(t, "en"), progresstest.Texts(t, "ja")
	for _, key := range slices.Sorted(maps.Keys(en)) {
		if name, is := strings.CutPrefix(key, "reasons."); is {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", clean.Code(name), inCell.Replace(en[key]), inCell.Replace(ja[key]))
		}
	}
	progresstest.Golden(t, "../../../docs/reference/reason-codes.md", b.String())
}

// inCell keeps a message of several lines in one cell of a table.
var inCell = strings.NewReplacer("|", `\|`, "\n", "<br>")
