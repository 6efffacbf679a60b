package prompts

func englishTelling() Telling {
	return Telling{
		Holding: englishHolding(),
		Sandbox: "Sandbox", Versions: "Programs", Timeline: "Timeline", Flow: "Flow", Took: "Time", Verdict: "Verdict",
		Decision: "Decision", Refused: "Refused", NotStarted: "Nothing was started",

		HandedOn:   "There is work to do",
		HandedTo:   "The job `run` of this workflow does it.",
		Answered:   "Answered",
		NoChecks:   "Checks did not start: the branch was pushed with `GITHUB_TOKEN`, and GitHub starts no workflow for such a push. Use the token of a GitHub App, or name the workflows to start in the input `dispatch`.",
		SummaryCut: "_The rest is left out: a summary has no room for it._",
		BodyCut:    "_The rest is left out, as there is no room for it. All of it is on the branch._",
		ReplyCut:   "_The rest is left out: a comment has no room for it._",
		RefusedDo:  "`/status` says where the run is, and `/help` explains the commands.",
		Colon:      ": ",
		Halted:     "The run has stopped before its end. The comment of reprise on the issue says why, and how to go on.",
		Draft:      "reprise is at work on this. The report takes the place of this text once the run is completed.",
		NoReport:   "The run has written no report.",
		Settings:   "Settings",
		Preview:    "Preview of a rollback",
		Unchanged:  "Nothing was changed.",
		AnswerWith: "Answer in a comment that begins with",
		Tasks:      "Tasks",
		Children:   "Issues asked for",
		ChildWaits: "opened once the phase is completed and approved",
		ChildNext:  "not open yet: the next `/run` opens it",
		CarryOut:   "To carry it out, give the command again without `--dry-run`.",

		Chosen: "Chosen because", ReadFrom: "Read from", Budget: "Budget", Words: "Language", Version: "Version", Role: "Role", Command: "Command",
		Bots: "Bots that are obeyed", Protected: "Protected paths",
		Before: "Before", After: "After", NextAgent: "What the next agent is told first", Trigger: "Trigger", Comment: "Comment",
		SetAside: "Files set aside", Restored: "Taken back to what they were when the phase ended", Triggered: "Triggered",
		Time: "Time", Revises: "revises", Review: "review", From: "From", To: "To", Tests: "Tests",
		Nobody: "none", Unlimited: "no limit", Code: "Code", Meaning: "Meaning",
		Triggers: map[string]string{"manual": "by a person", "automatic": "by the pipeline"},

		dispatched: "Started by hand instead: {workflows}.", entry: "Entry {n} of the history", writes: "Writes {file}",
		followUp: "Follow-up: {title}", followUpBody: "The phase {phase} of {issue} left this to do:",
		childBody: "The phase {phase} of {issue} asks for this:", childLeft: "not opened: a run opens at most {n}",
		leftOut: "_{n} more are left out; they are in the report of the phase._", onlyLast: "_Only the last {n} attempts are shown._",
		edited:       "{file} was changed on the branch since it was reviewed, so it is reviewed again before anything else is done. Phases that are completed stay as they are: `/rollback PHASE REASON` takes one back that has to follow the change.",
		allowMore:    "Comment `{command}` to go on with as much more.",
		attemptLimit: "{n} calls", tokenLimit: "{n} tokens",
	}
}
