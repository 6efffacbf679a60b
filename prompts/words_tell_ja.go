package prompts

func japaneseTelling() Telling {
	return Telling{
		Holding: japaneseHolding(),
		Sandbox: "サンドボックス", Versions: "プログラム", Timeline: "時系列", Flow: "流れ", Took: "時間", Verdict: "判定",
		Decision: "判断", Refused: "拒否したもの", NotStarted: "何も開始していません",

		HandedOn:   "作業があります",
		HandedTo:   "このワークフローのジョブ `run` が行います。",
		Answered:   "返信しました",
		NoChecks:   "チェックは開始されていません。ブランチは `GITHUB_TOKEN` でプッシュされ、そのプッシュでは GitHub がワークフローを開始しないためです。GitHub App のトークンを使うか、開始するワークフローを入力 `dispatch` に指定してください。",
		SummaryCut: "_要約の上限を超えるため、ここまでを表示しています。_",
		BodyCut:    "_本文の上限を超えるため、ここまでを表示しています。すべてはブランチにあります。_",
		ReplyCut:   "_コメントの上限を超えるため、ここまでを表示しています。_",
		RefusedDo:  "`/status` で実行の状態が、`/help` でコマンドの説明が見られます。",
		Colon:      ": ",
		Halted:     "実行は途中で止まっています。理由と続け方は、Issue にある reprise のコメントにあります。",
		Draft:      "reprise が作業中です。実行が完了すると、この文は報告に置き換わります。",
		NoReport:   "報告は書かれていません。",
		Settings:   "設定",
		Preview:    "差し戻しのプレビュー",
		Unchanged:  "何も変更していません。",
		AnswerWith: "次で始まるコメントで回答してください:",
		Tasks:      "タスク",
		Children:   "依頼された Issue",
		ChildWaits: "フェーズの完了と承認のあとに開きます",
		ChildNext:  "まだ開いていません。次の `/run` で開きます",
		CarryOut:   "実行するには、`--dry-run` を付けずにもう一度コマンドを書いてください。",

		Chosen: "選ばれた理由", ReadFrom: "読み込み元", Budget: "予算", Words: "言語", Version: "バージョン", Role: "役割", Command: "コマンド",
		Bots: "許可されたボット", Protected: "保護されたパス",
		Before: "前", After: "後", NextAgent: "次のエージェントに最初に伝えること", Trigger: "きっかけ", Comment: "コメント",
		SetAside: "退避するファイル", Restored: "フェーズ終了時の内容に戻すもの", Triggered: "起動元",
		Time: "時刻", Revises: "修正回数", Review: "レビュー", From: "元", To: "先", Tests: "テスト",
		Nobody: "なし", Unlimited: "上限なし", Code: "コード", Meaning: "意味",
		Triggers: map[string]string{"manual": "人", "automatic": "パイプライン"},

		dispatched: "代わりに手動で開始したもの: {workflows}。", entry: "履歴の {n} 番目の項目", writes: "書き込むファイル {file}",
		followUp: "残作業: {title}", followUpBody: "{issue} のフェーズ {phase} が残した作業です。",
		childBody: "{issue} のフェーズ {phase} が依頼した作業です。", childLeft: "開きません。1 回の実行で開くのは {n} 件までです",
		leftOut: "_ほか {n} 件を省きました。フェーズの報告にあります。_", onlyLast: "_最後の {n} 回の試行だけを示しています。_",
		edited:       "{file} はレビューの後にブランチ上で変更されたため、ほかの作業の前にもう一度レビューします。完了したフェーズはそのままです。変更に合わせる必要があるフェーズは `/rollback PHASE REASON` で差し戻してください。",
		allowMore:    "続けるには、追加する量を付けて `{command}` とコメントしてください。",
		attemptLimit: "呼び出し {n} 回", tokenLimit: "{n} トークン",
	}
}
