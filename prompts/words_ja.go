package prompts

func japanese() Catalogue {
	return Catalogue{
		Language: "ja",
		Pipeline: "パイプライン", Phase: "フェーズ", Step: "ステップ", Status: "状態", Attempts: "試行", Cost: "費用", Elapsed: "経過時間", Agent: "エージェント", Model: "モデル",
		Job: "ジョブ", Branch: "ブランチ", PullRequest: "プルリクエスト", Artifact: "成果物", Result: "結果", Report: "報告",
		Findings: "未解決の指摘", Questions: "質問", Rollbacks: "差し戻し", Commands: "コマンド", Progress: "進捗",
		Removed:     "issue から取り除いたもの",
		RemovedNote: "issue を読む人には見えない文なので、エージェントにも渡していません。",
		Stopped:     "停止", WhatNow: "対処", None: "なし", DryRun: "予行: プッシュも投稿もしていません。",

		Steps: map[string]string{"execute": "実行", "review": "レビュー", "revise": "修正", "check": "チェック"},
		Statuses: map[string]string{
			"pending": "未着手", "in_progress": "進行中", "completed": "完了", "failed": "失敗", "skipped": "省略",
			"running": "実行中", "interrupted": "中断", "waiting": "待機中", "cancelled": "取り消し",
			"started": "開始", "succeeded": "成功", "blocked": "保留", "error": "エラー",
		},
		Verdicts:   map[string]string{"pass": "合格", "pass_with_suggestions": "提案付き合格", "fail": "不合格"},
		Severities: map[string]string{"blocker": "要修正", "suggestion": "提案"},
		Changes:    map[string]string{"new": "新規", "still_open": "未解決", "fixed": "解決済み"},
		Kinds: map[string]string{
			"html_comment": "HTML コメント", "zero_width": "幅のない文字", "bidi": "文字の並びを変える制御文字", "tag": "Unicode タグ文字",
			"variation_selector": "異体字セレクタ", "soft_hyphen": "ソフトハイフン", "ansi": "端末のエスケープ", "control": "制御文字",
			"hidden_text": "隠れた題名、説明、属性", "dangerous_url": "スクリプトやデータの URL",
		},
		headline: "フェーズ {n}/{m}: {phase}、{step}", round: "{n} 回目",
		spent: "{usd}", spentOf: "{usd}(予算 {budget})", about: "約 {usd}", tokens: "入力 {in} トークン、出力 {out} トークン",
		open:       "未解決: 要修正 {blockers} 件、提案 {suggestions} 件",
		rolledBack: "{from} から {to}({step})へ差し戻し", rolledBackBy: "{by} が {from} から {to}({step})へ差し戻し", automatic: "パイプラインが {from} から {to}({step})へ差し戻し",
		removal: "{kind}: {count} 件、最初のもの: {sample}", waitingFor: "{phase} は人の対応を待っています", waitingForRole: "{phase} は役割 {role} を持つ人の承認を待っています",
		seconds: "{s}秒", minutes: "{m}分{s}秒", hours: "{h}時間{m}分",
		Codes:       japaneseCodes(),
		Tell:        japaneseTelling(),
		unknownCode: Advice{"コード {code} で停止しました。", "ジョブのログを見てください。"},
	}
}

func japaneseCodes() map[string]Advice {
	return map[string]Advice{
		"no_trigger":          {"実行を始めるイベントではありません。", "issue に `/run` とコメントするか、ラベルを付けてください。"},
		"not_a_command":       {"実行できるコマンドではありません。", "コマンドはコメントの先頭に書いてください。一覧は `/help` で見られます。"},
		"permission_denied":   {"このコマンドを出す権限が作成者にありません。", "権限のある人に頼むか、役割を変更してもらってください。"},
		"bot_denied":          {"一覧にないボットからのコマンドです。", "従わせる場合は、正確な名前を `allowed-bots` に加えてください。"},
		"fork_denied":         {"フォークからのイベントです。", "リポジトリ自身のブランチで実行してください。"},
		"confused_deputy":     {"コマンドの作成者とイベントの送信者が一致しません。", "作成者が新しいコメントでコマンドを出してください。"},
		"api_error":           {"GitHub またはモデルのサービスから、必要な応答が得られませんでした。", "両方の稼働状況を確かめ、もう一度コマンドを出すか、`/retry` とコメントしてください。"},
		"config_invalid":      {"パイプライン、プロンプト、設定のいずれかに誤りがあります。", "`reprise vet` を実行し、示された箇所を直してから再開してください。"},
		"credentials_missing": {"必要な鍵またはトークンがありません。", "ここかジョブのログに示されたものを設定し、`/retry` とコメントしてください。"},
		"disk_failed":         {"ディスクに空きがないか書き込めない、またはステップが許可された量を超えて書き込みました。", "空きを作って `/retry` とコメントしてください。上限を上げる場合は、パイプラインの `sandbox: disk` を変更して `/run --refresh` とコメントしてください。"},
		"agent_failed":        {"エージェントが起動できない、異常終了した、または失敗が続きました。", "ログで最後の出力を読み、`/retry` とコメントしてください。"},
		"already_running":     {"別のジョブがこの issue を処理しています。", "終わるまで待ってください。その後にコマンドが処理されます。"},
		"stale_event":         {"すでに行われた処理より古いイベントです。", "まだ必要なら、もう一度コマンドを出してください。"},
		"no_run":              {"この Issue の実行はまだありません。", "`/run` とコメントすると始まります。"},
		"edited_comment":      {"コメントが投稿後に編集されています。", "新しいコメントにコマンドを書いてください。編集されたものは使われません。"},
		"ref_changed":         {"ほかの誰かが実行のブランチにプッシュしました。", "ブランチの変更を確かめ、`/resume` とコメントしてください。"},
		"budget_exceeded":     {"予算を使い切りました。ここまでの作業はブランチにあります。", "続けるには、使い切ったものを追加する `--budget-usd N`、`--tokens N`、`--time TIME`、`--attempts N` のいずれかを付けて `/resume` とコメントしてください。"},
		"timed_out":           {"ステップまたは実行が制限時間を超えました。", "`/retry` とコメントするか、パイプラインの制限時間を延ばしてください。"},
		"no_progress":         {"エージェントが結果を出さずに終わりました。何も書かれず、変更もありません。", "`/retry` とコメントしてください。または、何が必要かを Issue に詳しく書き、`/run --refresh-issue` とコメントしてください。"},
		"stuck":               {"二回続けて同じ結果になりました。", "未解決の指摘を読み、`/retry` とするか、理由を付けて `/rollback` とコメントしてください。"},
		"output_invalid":      {"再度求めても、エージェントの回答がスキーマに合いませんでした。", "`/retry` とコメントするか、このステップに別のモデルを使ってください。"},
		"review_failed":       {"レビューで要修正の指摘があり、修正の回数が残っていません。", "未解決の指摘を読み、`/retry` とするか、理由を付けて `/rollback` とコメントしてください。"},
		"check_failed":        {"フェーズのチェックが失敗し、修正の回数が残っていません。", "チェックの出力を読み、`/retry` とするか、理由を付けて `/rollback` とコメントしてください。"},
		"protected_path":      {"エージェントが同じフェーズで二度、変更してはならないものを変更したため、元に戻しました。", "その変更が正しければ手で行ってから `/retry` とコメントしてください。そうでなければ、変更せずに済む方法を理由に書いて `/rollback` とコメントしてください。"},
		"patch_too_large":     {"同じフェーズで二度、変更のファイル数または大きさが上限を超えたため、元に戻しました。", "何を省くかを理由に書いて `/rollback` とするか、`/retry` とコメントしてください。パイプラインの `limits` を上げて `/run --refresh` とすることもできます。"},
		"secret_found":        {"エージェントの変更に秘密情報、またはそう見えるものがあったため、変更を取り消し、何もコミットしていません。", "本物であれば無効にしてください。必要なものであれば、パイプラインの `secrets` でそのパスを許可し、`/run --refresh` とコメントしてください。そうでなければ `/retry`、または含めずに済む方法を理由に書いて `/rollback` とコメントしてください。"},
		"push_failed":         {"ブランチをプッシュできませんでした。", "ブランチの規則とトークンの権限を確かめ、`/resume` とコメントしてください。"},
		"state_corrupt":       {"実行の記録を読めません。", "ブランチの以前のコミットから `metadata.json` を戻し、`/resume` とコメントしてください。"},
		"cancelled":           {"実行は取り消されました。", "続けるには `/resume` とコメントしてください。"},
		"waiting":             {"人の対応を待っています。", "承認を求めているときは `/approve` か `/reject`、質問には `/answer`、それ以外は `/resume` で続けられます。差し戻すには理由を付けて `/rollback` とコメントしてください。"},
		"completed":           {"すべてのフェーズが終わりました。", "プルリクエストをレビューしてください。"},
	}
}
