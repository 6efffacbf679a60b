package prompts

func english() Catalogue {
	return Catalogue{
		Language: "en",
		Pipeline: "Pipeline", Phase: "Phase", Step: "Step", Status: "Status", Attempts: "Attempts", Cost: "Cost", Elapsed: "Elapsed", Agent: "Agent", Model: "Model",
		Job: "Job", Branch: "Branch", PullRequest: "Pull request", Artifact: "Artifact", Result: "Result", Report: "Report",
		Findings: "Open findings", Questions: "Questions", Rollbacks: "Rollbacks", Commands: "Commands", Progress: "Progress",
		Removed:     "Removed from the issue",
		RemovedNote: "People do not see this text when they read the issue, so the agents did not get it either.",
		Stopped:     "Stopped", WhatNow: "What to do", None: "none", DryRun: "Dry run: nothing was pushed and nothing was posted.",

		Steps: map[string]string{"execute": "execute", "review": "review", "revise": "revise", "check": "checks"},
		Statuses: map[string]string{
			"pending": "pending", "in_progress": "in progress", "completed": "completed", "failed": "failed", "skipped": "skipped",
			"running": "running", "interrupted": "interrupted", "waiting": "waiting", "cancelled": "cancelled",
			"started": "started", "succeeded": "succeeded", "blocked": "blocked", "error": "error",
		},
		Verdicts:   map[string]string{"pass": "pass", "pass_with_suggestions": "pass with suggestions", "fail": "fail"},
		Severities: map[string]string{"blocker": "blocker", "suggestion": "suggestion"},
		Changes:    map[string]string{"new": "new", "still_open": "still open", "fixed": "fixed"},
		Kinds: map[string]string{
			"html_comment": "HTML comments", "zero_width": "zero-width characters", "bidi": "characters that reorder text", "tag": "Unicode tag characters",
			"variation_selector": "variation selectors", "soft_hyphen": "soft hyphens", "ansi": "terminal escapes", "control": "control characters",
			"hidden_text": "hidden titles, descriptions and attributes", "dangerous_url": "script and data URLs",
		},
		headline: "Phase {n} of {m}: {phase}, {step}", round: "round {n}",
		spent: "{usd}", spentOf: "{usd} of {budget}", about: "about {usd}", tokens: "{in} tokens in, {out} out",
		open:       "Open: blockers {blockers}, suggestions {suggestions}",
		rolledBack: "Taken back from {from} to {to} ({step})", rolledBackBy: "Taken back from {from} to {to} ({step}) by {by}", automatic: "Taken back from {from} to {to} ({step}) by the pipeline",
		removal: "{kind}: {count}, the first: {sample}", waitingFor: "{phase} waits for a person", waitingForRole: "{phase} waits for the approval of somebody with the role {role}",
		seconds: "{s} s", minutes: "{m} min {s} s", hours: "{h} h {m} min",
		Codes:       englishCodes(),
		Tell:        englishTelling(),
		unknownCode: Advice{"The run stopped with the code {code}.", "See the log of the job."},
	}
}

func englishCodes() map[string]Advice {
	return map[string]Advice{
		"no_trigger":          {"The event is none that starts a run.", "Comment `/run` on the issue, or put the label on it."},
		"not_a_command":       {"This is no command that can be carried out.", "Put the command at the very beginning of a comment; `/help` lists them."},
		"permission_denied":   {"The author has no right to give this command.", "Ask somebody with the right to give it, or have the role changed."},
		"bot_denied":          {"The command came from a bot that is not on the list.", "Add its exact name to `allowed-bots` if it is to be obeyed."},
		"fork_denied":         {"The event came from a fork.", "Run on a branch of the repository itself."},
		"confused_deputy":     {"The author of the command and the sender of the event are not the same.", "Have the author give the command in a new comment."},
		"api_error":           {"GitHub, or the service of the model, did not answer as needed.", "See whether both work, then give the command again, or comment `/retry`."},
		"config_invalid":      {"The pipeline, its prompts or the settings have mistakes.", "Run `reprise vet`, correct what it names, and start again."},
		"credentials_missing": {"A key or token that is needed is not there.", "Set what is named here or in the log of the job, then comment `/retry`."},
		"disk_failed":         {"The disk is full or cannot be written to, or a step wrote more to it than it may.", "Make room and comment `/retry`; or allow more with `sandbox: disk` in the pipeline and comment `/run --refresh`."},
		"agent_failed":        {"The agent could not be started, crashed, or went on failing.", "Read its last words in the log, then comment `/retry`."},
		"already_running":     {"Another job works on this issue.", "Wait until it ends; your command is taken then."},
		"stale_event":         {"The event is older than what was already done.", "Give the command again if it is still wanted."},
		"no_run":              {"There is no run of this issue yet.", "Comment `/run` to begin one."},
		"edited_comment":      {"The comment was edited after it was written.", "Write the command in a new comment; edited ones never count."},
		"ref_changed":         {"Somebody else pushed to the branch of the run.", "See what changed on the branch, then comment `/resume`."},
		"budget_exceeded":     {"The budget is used up; all work so far is on the branch.", "Comment `/resume` with more of what is used up to go on: `--budget-usd N`, `--tokens N`, `--time TIME` or `--attempts N`."},
		"timed_out":           {"A step or the run took longer than it may.", "Comment `/retry`, or allow more time in the pipeline."},
		"no_progress":         {"The agent ended without a result: nothing was written or changed.", "Comment `/retry`; or say more clearly in the issue what is wanted, and comment `/run --refresh-issue`."},
		"stuck":               {"Two rounds in a row had the same outcome.", "Read the open findings, then comment `/retry`, or `/rollback` with a reason."},
		"output_invalid":      {"The agent's answer did not fit its schema, even when asked once more.", "Comment `/retry`, or use another model for this step."},
		"review_failed":       {"The review found blockers, and no revisions are left.", "Read the open findings, then comment `/retry` or `/rollback` with a reason."},
		"check_failed":        {"A check of the phase fails, and no revisions are left.", "Read the output of the check, then comment `/retry` or `/rollback` with a reason."},
		"protected_path":      {"The agent changed what it may not for the second time in a phase; the changes were taken back.", "Make the change by hand if it is right, then comment `/retry`; or comment `/rollback` with a reason that says how to do without it."},
		"patch_too_large":     {"A step changed more files or bytes than allowed for the second time in a phase; the changes were taken back.", "Comment `/rollback` with a reason that says what to leave out, or `/retry`; or raise `limits` in the pipeline and comment `/run --refresh`."},
		"secret_found":        {"What the agent wrote has a secret in it, or what looks like one; the changes were taken back and nothing was committed.", "If it is real, revoke it. If it has to be there, allow the path under `secrets` in the pipeline and comment `/run --refresh`. Else comment `/retry`, or `/rollback` with a reason that says how to do without it."},
		"push_failed":         {"The branch could not be pushed.", "Check branch rules and the permissions of the token, then comment `/resume`."},
		"state_corrupt":       {"The record of the run cannot be read.", "Restore `metadata.json` from an earlier commit of the branch, then comment `/resume`."},
		"cancelled":           {"The run was cancelled.", "Comment `/resume` to go on."},
		"waiting":             {"The run waits for a person.", "Comment `/approve` or `/reject` where it asks for approval, `/answer` where it asks a question, and else `/resume`; or `/rollback` with a reason."},
		"completed":           {"All phases are done.", "Review the pull request."},
	}
}
