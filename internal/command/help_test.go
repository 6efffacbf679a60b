package command

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/prompts/clean"
)

func TestSlashHelp(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		all := Help(language, "")
		progresstest.Golden(t, "slash-help."+language+".md", all+"\n---\n\n"+Help(language, "rollback"))
		for _, s := range Table() {
			if !strings.Contains(all, "`/"+s.Name+"`") {
				t.Errorf("%s: /%s is not offered", language, s.Name)
			}
			one := Help(language, s.Name)
			if !strings.Contains(one, "\n"+clean.EscapeCommands(s.usage())+"\n") {
				t.Errorf("%s: help on /%s does not show how it is written:\n%s", language, s.Name, one)
			}
			checkSlashReply(t, one)
		}
		checkSlashReply(t, all)
	}
}

// TestSlashPage holds the pages for users against the table of commands.
func TestSlashPage(t *testing.T) {
	for name, page := range map[string]string{"commands.md": slashPage("en", slashPageHead), "commands.ja.md": slashPage("ja", slashPageHeadInJapanese)} {
		file := filepath.Join("..", "..", "docs", name)
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
			t.Errorf("%s is not as the program is; go test ./internal/command -run %s -update writes it (-page +program):\n%s", name, t.Name(), diff)
		}
	}
}

// slashPage is the page about commands for users.
func slashPage(language, head string) string {
	w := wordsOf(language)
	var b strings.Builder
	b.WriteString(head)
	b.WriteString(w.Say("command.helpHead") + "\n|---|---|---|\n")
	for _, s := range Table() {
		fmt.Fprintf(&b, "| [`/%s`](#%s) | %s | %s |\n", s.Name, s.Name, w.Say("command.summaries."+s.Name), s.Role)
	}
	for _, s := range Table() {
		// A page is no comment: its blocks of code may begin with a slash.
		fmt.Fprintf(&b, "\n## %s\n\n%s", s.Name, strings.ReplaceAll(w.explain(s), "\n ", "\n"))
	}
	return b.String()
}

const slashPageHead = "" +
	"# Commands in comments\n\n" +
	"[日本語](commands.ja.md)\n\n" +
	"A comment on an issue, or on the pull request of its run, is a command if its first\n" +
	"line begins with one of these names, such as `/run`. `/reprise run` means the same; use it if another program\n" +
	"listens to the short name. Case does not matter.\n\n" +
	"```text\n" +
	"/rollback design --dry-run the API has no paging\n" +
	"It has to work for lists of any length.\n" +
	"```\n\n" +
	"- The line may be in one pair of backticks. Text that is quoted, in a block\n" +
	"  of code or in an HTML comment is not a command, and neither is a later line.\n" +
	"- If a command takes a text, the lines below the first belong to it. Other commands\n" +
	"  ignore them.\n" +
	"- A flag is followed by its value, after a space or `=`. Flags come before the\n" +
	"  text. USD is an amount in US dollars, such as `5` or `2.50`; N a whole number above 0, such as `20`;\n" +
	"  TIME a time such as `90m` or `2h`.\n" +
	"- A command line with an invisible character is refused.\n" +
	"- A comment that was edited does not count. Write a new one.\n" +
	"- Mistakes are explained in a reply, but only to people who have the role that the command needs.\n" +
	"  A first word that resembles none of these names gets no answer. Neither do\n" +
	"  `/pause`, `/approve`, `/rollback`, `/answer` and `/skip` on an issue without a\n" +
	"  run, because other programs use those names too.\n\n" +
	"The input `command` of the action takes the same commands, with or without the slash.\n\n" +
	"\"Role needed\" is the lowest repository role that may give the command.\n\n"

const slashPageHeadInJapanese = "" +
	"# コメントのコマンド\n\n" +
	"[English](commands.md)\n\n" +
	"Issue またはその実行のプルリクエストへのコメントは、最初の行が `/run` のような次の名前のどれかで始まるとき、コマンドに\n" +
	"なります。`/reprise run` も同じ意味です。短い名前を別のプログラムが使っているときのためのものです。大文字と小文字は区別しません。\n\n" +
	"```text\n" +
	"/rollback design --dry-run the API has no paging\n" +
	"It has to work for lists of any length.\n" +
	"```\n\n" +
	"- 行全体を一組のバッククォートで囲んでもかまいません。引用、コードブロック、HTML コメントの中の文字はコマンドではなく、\n" +
	"  二行目より後ろもコマンドではありません。\n" +
	"- 二行目からは、本文を取るコマンドの本文になります。ほかのコマンドでは無視されます。\n" +
	"- フラグの値は、空白か `=` の後に書きます。フラグは本文より前に書きます。USD は米ドルの金額 (`5`、`2.50` など)、N は 1 以上の整数 (`20` など)、\n" +
	"  TIME は時間 (`90m`、`2h` など) です。\n" +
	"- コマンドの行に目に見えない文字があると、コマンドは拒否されます。\n" +
	"- 編集されたコメントは対象になりません。新しく書いてください。\n" +
	"- 間違いは、そのコマンドに必要な役割を持つ人にだけ、返信で説明されます。どの名前にも似ていないものには何も返信しません。実行のない\n" +
	"  Issue での `/pause`、`/approve`、`/rollback`、`/answer`、`/skip` も同じです。ほかのプログラムもこれらの名前を使うからです。\n\n" +
	"アクションの入力 `command` にも同じコマンドを書けます。スラッシュはなくてもかまいません。\n\n" +
	"「必要な役割」は、そのコマンドを使えるリポジトリの役割のうち最も低いものです。\n\n"
