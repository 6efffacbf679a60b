package prompts

import "fmt"

// Logged gives a line, or a part of one, of the log of a run. The values follow
// in pairs of a name and a value. What has no words is its own.
func (c Catalogue) Logged(what string, pairs ...any) string {
	text, known := c.Log[what]
	if !known {
		return what
	}
	values := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	return counting(text, values)
}

func englishLog() map[string]string {
	return map[string]string{
		"starts": "starts", "resumes": "goes on in its session", "waits": "waits {time}", "taken back": "taken back because: {reason}",

		"passes": "{check} passes", "fails": "{check} fails (exit {code})",
		"phase completed": "phase completed", "phase failed": "phase failed", "back": "the run goes back to {phase} {step}",
		"interrupted": "interrupted", "blockers": "{n} open {n|blocker|blockers}", "gates": "{n} failed {n|gate|gates}", "suggestions": "{n} {n|suggestion|suggestions}",
		"wrote": "wrote {file}", "more": "{n} more", "changed": "{n} {n|file|files} changed +{added} -{deleted}",
		"tokens": "{n} tokens",

		"gate": "gate does not hold: {gate}", "reverted": "change reverted: {path}: {why}", "still open": "{finding}, still open",
		"lines": "({n} more {n|line|lines} in {file})",

		"completed": "completed", "at": "at {where}",
		"total": "{done} of {phases} {phases|phase|phases}, {attempts} {attempts|attempt|attempts}, {tokens} tokens, {usd}, {time} of work",
	}
}

func japaneseLog() map[string]string {
	return map[string]string{
		"starts": "開始", "resumes": "前回のセッションの続き", "waits": "{time} 待機", "taken back": "差し戻しの理由: {reason}",

		"passes": "{check}: 合格", "fails": "{check}: 失敗 (終了コード {code})",
		"phase completed": "フェーズ完了", "phase failed": "フェーズ失敗", "back": "{phase} の{step}に差し戻します",
		"interrupted": "中断", "blockers": "要修正 {n} 件", "gates": "満たしていない条件 {n} 件", "suggestions": "提案 {n} 件",
		"wrote": "{file} を作成", "more": "ほか {n} 件", "changed": "{n} 個のファイルを変更 +{added} -{deleted}",
		"tokens": "{n} トークン",

		"gate": "満たしていない条件: {gate}", "reverted": "元に戻した変更: {path}: {why}", "still open": "{finding} (未解決)",
		"lines": "(ほか {n} 行: {file})",

		"completed": "完了", "at": "({where})",
		"total": "フェーズ {done}/{phases}、試行 {attempts} 回、{tokens} トークン、{usd}、作業時間 {time}",
	}
}
