package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/markdown"
	"github.com/reprise-ci/reprise/internal/progresstest"
)

func TestSlashHelp(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		all := Help(language, "", nil)
		progresstest.Golden(t, "slash-help."+language+".md", all+"\n---\n\n"+Help(language, "rollback", nil))
		for _, s := range Table() {
			if !strings.Contains(all, "`/"+s.Name+"`") {
				t.Errorf("%s: /%s is not offered", language, s.Name)
			}
			one := Help(language, s.Name, nil)
			if !strings.Contains(one, "\n"+markdown.EscapeCommands(s.usage())+"\n") {
				t.Errorf("%s: help on /%s does not show how it is written:\n%s", language, s.Name, one)
			}
			checkSlashReply(t, one)
		}
		checkSlashReply(t, all)
	}
}

func TestSlashHelpWithOtherRights(t *testing.T) {
	roles := map[string]github.Role{"run": github.RoleAdmin}
	for topic, want := range map[string]string{"": "| `/run` | Starts a run, or goes on with the one there is. | admin |", "run": "Least right: admin."} {
		if got := Help("en", topic, roles); !strings.Contains(got, want) {
			t.Errorf("help %q lacks %q:\n%s", topic, want, got)
		}
	}
}

// TestSlashPage holds the page for users against the table of commands.
func TestSlashPage(t *testing.T) {
	file, page := filepath.Join("..", "..", "docs", "commands.md"), slashPage()
	if *progresstest.UpdateViews {
		if err := os.WriteFile(file, []byte(page), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (go test -run %s -update writes it)", err, t.Name())
	}
	if diff := cmp.Diff(string(have), page); diff != "" {
		t.Errorf("the page is not as the program is; go test ./cmd/reprise -run %s -update writes it (-page +program):\n%s", t.Name(), diff)
	}
}

// slashPage is the page about commands for users.
func slashPage() string {
	w := wordsOf("en")
	var b strings.Builder
	b.WriteString(slashPageHead)
	b.WriteString(w.HelpHead + "\n|---|---|---|\n")
	for _, s := range Table() {
		fmt.Fprintf(&b, "| [`/%s`](#%s) | %s | %s |\n", s.Name, s.Name, w.Summaries[s.Name], s.Role)
	}
	for _, s := range Table() {
		// A page is no comment: its blocks of code may begin with a slash.
		fmt.Fprintf(&b, "\n## %s\n\n%s", s.Name, strings.ReplaceAll(w.explain(s, nil), "\n ", "\n"))
	}
	return b.String()
}

const slashPageHead = "" +
	"# Commands in comments\n\n" +
	"A comment on an issue, or on the pull request of its run, is a command if its first\n" +
	"line begins with one of these names, such as `/run`. `/reprise run` is the same, for where another program\n" +
	"listens to the short name. Small and capital letters are one.\n\n" +
	"```text\n" +
	"/rollback design --dry-run the API has no paging\n" +
	"It has to work for lists of any length.\n" +
	"```\n\n" +
	"- The line may stand in one pair of backticks. Text that is quoted, in a block\n" +
	"  of code or in an HTML comment is no command, and neither is a later line.\n" +
	"- Lines below the first are the text of a command that takes one. Others ignore\n" +
	"  them.\n" +
	"- A flag is followed by its value, after a space or `=`. Flags come before the\n" +
	"  text.\n" +
	"- A character that nobody can see, in the line of a command, refuses it.\n" +
	"- A comment that was edited does not count. Write a new one.\n" +
	"- A mistake is explained in a reply, to people with the right to the command.\n" +
	"  What is near to none of these names is not answered at all, and neither are\n" +
	"  `/pause`, `/approve`, `/reject`, `/answer` and `/skip` on an issue without a\n" +
	"  run: other programs listen to these names, too.\n\n" +
	"The input `command` of the action takes the same, with or without the slash.\n\n" +
	"The least right is a role in the repository. Greater ones include it.\n\n"
