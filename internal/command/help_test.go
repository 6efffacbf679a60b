package command

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/prompts"
)

func TestSlashHelp(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		all := Help(language, "")
		progresstest.Golden(t, "slash-help."+language+".md", all+"\n---\n\n"+Help(language, "rollback"))
		for _, s := range Table() {
			checkSlashReply(t, Help(language, s.Name))
		}
		checkSlashReply(t, all)
	}
}

// TestSlashPage makes the pages of the reference, and holds the guides to the table of commands.
func TestSlashPage(t *testing.T) {
	for language, head := range map[string]string{
		"en": "# Commands, one by one\n\n[日本語](commands.ja.md) · [How to give them](../commands.md)\n",
		"ja": "# コマンドの一つひとつ\n\n[English](commands.md) · [使い方](../commands.ja.md)\n",
	} {
		w, name := words{prompts.Words(language)}, strings.TrimSuffix("commands."+language, ".en")+".md"
		guide := []byte(testenv.Read(t, "../../docs/"+name))
		for _, m := range regexp.MustCompile("(?s)```text\n(.*?)```").FindAllSubmatch(guide, -1) {
			if asked := Parse(string(m[1]), false); asked.Outcome != Understood {
				t.Errorf("docs/%s shows what is no command:\n%s", name, m[1])
			}
		}
		page := head
		for _, s := range Table() {
			// A page is no comment: its blocks of code may begin with a slash.
			page += fmt.Sprintf("\n## %s\n\n%s", s.Name, strings.ReplaceAll(w.explain(s), "\n ", "\n"))
			row := regexp.MustCompile(fmt.Sprintf(`(?m)^\| \[`+"`/%s`"+`\]\(reference/%s#%[1]s\) \|.*\| %[3]s \|$`, s.Name, name, s.Role))
			if !row.Match(guide) {
				t.Errorf("docs/%s has no row of /%s with the role %s", name, s.Name, s.Role)
			}
		}
		progresstest.Golden(t, "../../../docs/reference/"+name, page)
	}
}
