package page

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// closedCodes is the promise to programs: codes come to it and never go.
const closedCodes = `agent_failed already_running api_error awaiting_ci budget_exceeded cancelled change_refused check_failed ci_failed completed config_invalid
	conflict credentials_missing disk_failed git_failed no_progress no_run not_a_command output_invalid permission_denied push_failed ref_changed
	review_failed secret_found setup_failed stale_event state_corrupt stuck timed_out waiting`

func TestCodesAreClosed(t *testing.T) {
	for _, language := range prompts.Languages() {
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
	for _, language := range prompts.Languages() {
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

func TestCodesPage(t *testing.T) {
	file := filepath.Join("..", "..", "docs", "reason-codes.md")
	if *progresstest.UpdateViews {
		if err := os.WriteFile(file, []byte(codesPage(t)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -run TestCodesPage -update writes it)", err)
	}
	if diff := cmp.Diff(codesPage(t), string(got)); diff != "" {
		t.Errorf("the page is old; go test -run TestCodesPage -update writes it (-want +got):\n%s", diff)
	}
}

// inCell keeps a message of several lines in one cell of a table.
var inCell = strings.NewReplacer("|", `\|`, "\n", "<br>")

// codesPage gives the page of the documents that lists every reason code, from
// the words that people read when it happens.
func codesPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Reason codes

Whenever reprise refuses something or a run ends, it gives a reason code. The
list is closed, so programs can rely on it. The code stands in the output
` + "`reason-code`" + ` of the action, in the comment on the issue, in the summary of the
job, and in the record of the run. This page is generated from the messages of
the program.
`)
	for _, language := range prompts.Languages() {
		c := prompts.Words(language)
		fmt.Fprintf(&b, "\n## %s\n\n", map[string]string{"en": "In English", "ja": "In Japanese"}[language])
		var rows [][]string
		for _, name := range strings.Fields(closedCodes) {
			a := c.Explain(name)
			rows = append(rows, []string{clean.Code(name), a.Meaning, a.Do})
		}
		b.WriteString(grid(map[string][]string{"en": {"Code", "Meaning", "What to do"}, "ja": {"コード", "意味", "対処"}}[language], rows) + "\n")
	}
	b.WriteString(`
## Why, in the record

Besides the code the record says why, in ` + "`why`, `ask` and `rule`" + `. A message of
reprise is kept as ` + "`{\"code\": ..., \"args\": {...}}`" + `, several as ` + "`{\"all\": [...]}`" + `; what
people, agents or programs said is kept as text. A message is put into words where
it is shown, in the language of the run; output for programs has the English words
as well. Records of earlier versions have text only. In the table, ` + "`{n|one|many}`" + `
is a word that depends on a number. Later versions may add codes: show those that
you do not know as they are.

`)
	en, ja := progresstest.Texts(t, "en"), progresstest.Texts(t, "ja")
	var rows [][]string
	for _, key := range slices.Sorted(maps.Keys(en)) {
		if name, is := strings.CutPrefix(key, "reasons."); is {
			rows = append(rows, []string{clean.Code(name), inCell.Replace(en[key]), inCell.Replace(ja[key])})
		}
	}
	b.WriteString(grid([]string{"Code", "In English", "In Japanese"}, rows) + "\n")
	return b.String()
}

// grid is a table in Markdown.
func grid(head []string, rows [][]string) string {
	var lines []string
	for _, r := range slices.Concat([][]string{head, slices.Repeat([]string{"---"}, len(head))}, rows) {
		lines = append(lines, "| "+strings.Join(r, " | ")+" |")
	}
	return strings.Join(lines, "\n")
}
