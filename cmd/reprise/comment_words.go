package main

import (
	"fmt"

	"github.com/reprise-ci/reprise/prompts"
)

// extraWords are words of the comment that only it needs, besides the
// catalogue of package prompts.
type extraWords struct {
	Suggestions string // heading of what passing reviews suggest
	Stderr      string // heading of what an agent's program wrote there
	Check       string // before the name of a check that fails
	Gate        string // before the text of a gate that does not hold
	CutOff      string // at the end of a comment that is too long
	Interrupted string // what became of the run
	Resume      string // what takes a run on that only has to be told so
	Choose      string // before the commands of which a person gives one
	Approves    string // what each of them does
	Rejects     string
	Proposed    string
	exit        string // how a check ended
	asksOne     string // before a question
	asksMany    string // before several
	more        string // in place of what there is no room for
	moreLines   string // in place of lines that are not shown
}

func moreWords(language string) extraWords {
	if prompts.Words(language).Language == "ja" {
		return extraWords{
			Suggestions: "残してある提案", Stderr: "エージェントのプログラムの標準エラー出力", Check: "失敗したチェック", Gate: "満たしていない条件",
			CutOff:      "_コメントの上限を超えるため、ここまでを表示しています。_",
			Interrupted: "実行は途中で中断されました。",
			Resume:      "`/resume` とコメントすると再開します。",
			Choose:      "次のいずれかをコメントしてください:",
			Approves:    "承認して先へ進めます", Rejects: "理由を添えて差し戻し、修正させます", Proposed: "提案どおりに差し戻します",
			exit:    "終了コード %d",
			asksOne: "%s からの質問です。回答を待っています。", asksMany: "%s からの質問が %d 件あります。回答を待っています。",
			more:      "_コメントに収まらないため、ほか %d 件を省きました。すべてはブランチにあります。_",
			moreLines: "ほか %d 行: %s",
		}
	}
	return extraWords{
		Suggestions: "Suggestions kept", Stderr: "What the agent's program wrote to standard error", Check: "check fails", Gate: "gate does not hold",
		CutOff:      "_The rest is left out: a comment has no room for it._",
		Interrupted: "The run was interrupted before it was done.",
		Resume:      "Comment `/resume` to go on.",
		Choose:      "Comment one of these:",
		Approves:    "it is good, go on", Rejects: "have it revised, for this reason", Proposed: "do what is proposed",
		exit:    "exit code %d",
		asksOne: "%s asks a question, and waits for the answer.", asksMany: "%s asks %d questions, and waits for the answers.",
		more:      "_%d more are left out, as a comment has no room for them. All are on the branch._",
		moreLines: "%d more lines: %s",
	}
}

func (w extraWords) left(n int) string { return fmt.Sprintf(w.more, n) }

// asks says who asks how many questions.
func (w extraWords) asks(phase string, n int) string {
	if n == 1 {
		return fmt.Sprintf(w.asksOne, phase)
	}
	return fmt.Sprintf(w.asksMany, phase, n)
}
