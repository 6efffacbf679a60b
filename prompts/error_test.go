package prompts_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// In English a reason is the error as it stands; in Japanese nothing of it is
// English but what is quoted.
func TestCausesInBothLanguages(t *testing.T) {
	lost := &git.Error{Args: []string{"push", "x"}, Stderr: "fatal: unable to access 'https://x/': Could not resolve host: x\n", Err: errors.New("exit status 128")}
	forbidden := &github.Error{
		Kind: github.Forbidden, What: "comment on issue 7 of acme/widget", Host: "api.github.com", Status: 403, Said: "Resource not accessible by integration", Tries: 3,
		Does: metadata.Because("github_forbids"), Do: metadata.Because("do_rights", "rights", "issues: write"),
	}
	nested := &github.Error{
		What: "read issue 7 of acme/widget", Host: "api.github.com", Tries: 1,
		Does: metadata.Because("github_unusable", "how", metadata.Because("github_page")),
		Do:   metadata.Because("do_check_api"),
	}
	for _, tt := range []struct {
		err error
		ja  string
	}{
		{forbidden, `api.github.com が許可しませんでした。トークンに権限「issues: write」が必要です`},
		{nested, `JSON ではなく Web ページが返されました`},
		{lost, `git push が失敗しました: 「unable to access`},
		{&git.Error{Args: []string{"lfs", "push"}, Stderr: "batch response: This repository exceeded its LFS budget.\nerror: failed to push some refs to 'https://x/'\n", Err: errors.New("exit status 2")}, `This repository exceeded its LFS budget`},
		{&git.Error{Args: []string{"push"}, Stderr: "remote: error: GH013: no\nremote: \nerror: failed to push some refs to 'https://x/'\n", Err: errors.New("exit status 1")}, `failed to push some refs`},
		{&git.PushError{Branch: "b", Remote: "origin", Err: lost}, `b を origin にプッシュできませんでした: git push が失敗しました`},
		{&git.PushError{Branch: "b", Remote: "origin", Rule: "GH006: Protected branch update failed", Err: lost}, `リモートの応答: 「GH006: Protected branch update failed」`},
		{&git.Moved{Branch: "b", Local: strings.Repeat("a", 40), Other: strings.Repeat("b", 40), Where: "origin", Cause: metadata.Because("moved_files")}, `双方が同じファイルを変更しました`},
		{&git.Moved{Branch: "b", Local: "1", Other: "2", Where: "this repository", Cause: metadata.Because("moved_apart")}, `このリポジトリでは 2`},
		{fmt.Errorf("commit 123456789012 was made, but: %w", &git.PushError{Branch: "b", Remote: "origin", Err: lost}), `プッシュできませんでした`},
		{&prompts.Error{Reason: metadata.Because("git_no_answer", "remote", "origin", "time", "15m0s")}, `origin から 15m0s 以内に応答がありませんでした`},
		{&engine.AgentError{Class: metadata.Missing, Agent: "claude", Err: errors.New("there is no program claude")}, `claude: 「there is no program claude」`},
		{fmt.Errorf("%w (and what else was wrong)", lost), `エラー: 「git push`},
		{errors.New("the disk is a toaster"), `エラー: 「the disk is a toaster」`},
	} {
		why := prompts.Why(tt.err)
		if got := why.In(prompts.Words("en")); got != tt.err.Error() {
			t.Errorf("in English it is %q, want %q", got, tt.err)
		}
		ja := why.In(prompts.Words("ja"))
		if !strings.Contains(ja, tt.ja) {
			t.Errorf("in Japanese it is %q, want %q in it", ja, tt.ja)
		}
		if found := testenv.English(testenv.QuotedWords.ReplaceAllString(ja, "、")); found != "" {
			t.Errorf("%q is English: %s", found, ja)
		}
	}
}
