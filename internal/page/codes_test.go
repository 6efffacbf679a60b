package page

import (
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
