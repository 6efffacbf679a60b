package main

import "testing"

// A hook that fails is told where people look: in the comment of the run and in the summary
// of the job.
func TestAHookThatFailsIsTold(t *testing.T) {
	h := newStage(t, twoSteps+"hooks: [{on: [\"start\"], run: \"exit 5\"}]\n")
	h.write("home/build-execute", changesCode)
	job := h.comment("ada", "/run").end(anyCode)
	const said = "hook 1 of the pipeline was not told of"
	has(t, "the summary", job.summary, said)
	has(t, "the log", job.said.String(), "::warning::", said)
	has(t, "the comment of the run", h.ours("progress")[0].Body, said)
}
