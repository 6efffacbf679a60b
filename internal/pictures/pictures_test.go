// Package pictures holds the pictures of the documents against what they show. They
// are made by make.mjs with a browser and a terminal; what they were made from is
// here, and its digests are beside them.
package pictures

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/report"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// The flags are for make.mjs: first it has the test write what the pictures are made from,
// and at its end, when all are made, the digests.
var (
	inputsTo = flag.String("inputs", "", "folder to write to what the pictures are made from")
	sign     = flag.Bool("sign", false, "write the digests of what the pictures are made from, and of the pictures")
)

//go:embed github.css
var style string

const images = "../../docs/images"

// Every picture is of what the program writes today, and as it was made from that.
func TestPicturesAreOfToday(t *testing.T) {
	inputs := inputsOf(t)
	for name, data := range inputs {
		if *inputsTo != "" {
			put(t, filepath.Join(*inputsTo, name), data)
		}
	}
	if *inputsTo != "" {
		return // the pictures are still to be made
	}
	for _, form := range []string{"*.png", "*.svg"} {
		made, err := filepath.Glob(filepath.Join(images, form))
		testenv.Must(t, err)
		for _, name := range made {
			data := []byte(testenv.Read(t, name))
			inputs[filepath.Base(name)] = data
		}
	}
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(inputs)) {
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(inputs[name]), name)
	}
	file := filepath.Join(images, "inputs.sum")
	if *sign {
		put(t, file, []byte(sums.String()))
	}
	was := []byte(testenv.Read(t, file))
	if string(was) != sums.String() {
		t.Errorf("the pictures in docs/images are not of what reprise shows today: make them anew with internal/pictures/make.mjs (node, chromium, tmux, pngquant), and look at them\nwas:\n%s\nis:\n%s", was, sums.String())
	}
}

// A document loads no more than it has to.
func TestPicturesAreSmall(t *testing.T) {
	entries, err := os.ReadDir(images)
	testenv.Must(t, err)
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Size() > 150_000 {
			t.Errorf("%s: more than 150 kB, or %v", e.Name(), err)
		}
	}
	names := []string{"rehearsal.svg", "rehearsal-narrow.svg"}
	for _, of := range []string{"thread", "comment", "asking", "failed", "completed", "pull", "summary", "report", "attempt", "readme"} {
		names = append(names, of+"-light.png", of+"-dark.png", of+"-narrow-light.png", of+"-narrow-dark.png")
	}
	for _, name := range names {
		if !slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() == name }) {
			t.Errorf("there is no %s", name)
		}
	}
}

// inputsOf is what the pictures are made from: pages for the browser, and what a
// rehearsal in a terminal shows, as far as it is the same each time.
func inputsOf(t *testing.T) map[string][]byte {
	plays := progresstest.Plays(t, "en")
	for name, p := range plays { // that of the goldens tests what is done to names of people
		p.Run.IssueTitle = "Add a --json flag to `status`"
		plays[name] = p
	}
	running, over := plays["middle"], plays["rolledback"]
	links := page.Links{
		Job: "https://github.com/octo/hello/actions/runs/5", Branch: "https://github.com/octo/hello/tree/reprise/issue-7",
		Files: "https://github.com/octo/hello/blob/reprise/issue-7/",
	}
	sheet, err := report.Page(report.Facts{
		Plan: over.Plan, Run: over.Run, At: over.At, Transcripts: map[int][]agents.Entry{1: said},
		Changes: []report.Change{{Attempt: 1, Commit: "3f786850e387550fdab836ed7e6dc881de23001b", Patch: changed}},
	})
	testenv.Must(t, err)
	inputs := map[string][]byte{
		"comment.html":   commentPage(t, page.LiveComment(running.Course, page.Notices{Links: links})),
		"thread.html":    threadPage(t, links),
		"completed.html": commentPage(t, page.LiveComment(plays["completed"].Course, page.Notices{Links: links})),
		"asking.html":    commentPage(t, page.LiveComment(plays["approval"].Course, page.Notices{Links: links})),
		"failed.html":    commentPage(t, page.LiveComment(plays["failed"].Course, page.Notices{Links: links})),
		"pull.html":      commentPage(t, page.DoneBody(plays["completed"].Course, []byte(pullReport), page.PullFacts{Notices: page.Notices{Links: links}, Issue: 7, Progress: "https://github.com/octo/hello/issues/7#issuecomment-1"})),
		"readme.html":    readmePage(t),
		"summary.html":   commentPage(t, page.RunSummary(phases.On(over.Plan, over.Run), page.SummaryFacts{Notices: page.Notices{Links: links}, Sandbox: "required"})),
		"report.html":    sheet,
	}
	for _, file := range []string{"examples/issue.md", "pipelines/builtin/feature.cue", "internal/terminal/testdata/live-80.txt"} {
		data := []byte(testenv.Read(t, "../../"+file))
		inputs[filepath.Base(file)] = data
	}
	return inputs
}

// changed is what the first attempt changes in the picture of it.
const changed = `diff --git a/cmd/shelf/status.go b/cmd/shelf/status.go
--- a/cmd/shelf/status.go
+++ b/cmd/shelf/status.go
@@ -12,5 +12,8 @@ func status(w io.Writer, s Shelf, asJSON bool) error {
 	total := len(s.Books)
-	fmt.Fprintf(w, "%d books\n", total)
+	if asJSON { // for programs
+		return json.NewEncoder(w).Encode(map[string]int{"books": total})
+	}
+	_, err := fmt.Fprintf(w, "%d books\n", total)
-	return nil
+	return err
 }
`

// said is what is said in it.
var said = []agents.Entry{
	{Kind: agents.Said, Text: "I will look at how the state is printed today."},
	{Kind: agents.Used, Tool: "Read", Text: "cmd/shelf/status.go"},
	{Kind: agents.Back, Text: "package main (+41 lines)"},
	{Kind: agents.Used, Tool: "Bash", Text: "go test ./cmd/shelf"},
	{Kind: agents.Back, Text: "ok  example.com/shelf/cmd/shelf  0.21s"},
	{Kind: agents.Said, Text: "The flag is there, and an error of the writer is no longer lost."},
	{Kind: agents.Ends, Text: "done"},
}

// pullReport is what an agent says in the pull request, in about the words of a real one.
const pullReport = `## Summary

` + "`status --json`" + ` prints the state of the shelf as one JSON object.

## What changed

- ` + "`cmd/shelf/status.go`" + `: the new flag, and the object that it prints.
- ` + "`cmd/shelf/status_test.go`" + `: what it prints for an empty shelf and for one with loans.

## How to try it

` + "```sh\ngo run ./cmd/shelf status --json\n```" + `
`

// threadPage is an issue whose run a person has taken back, as in the README.
func threadPage(t *testing.T, links page.Links) []byte {
	const reason = "because the API must stay REST"
	p := progresstest.NewPlay(t, "en")
	p.Plan.Phases = slices.DeleteFunc(p.Plan.Phases, func(ph pipelines.Phase) bool {
		return !slices.Contains([]string{"design", "implementation", "evaluation"}, ph.Name)
	})
	for i, name := range []string{"design", "implement", "evaluate"} {
		p.Plan.Phases[i].Name, p.Plan.Phases[i].Needs = name, nil
	}
	p.Run = phases.Fresh(p.Course, p.At)
	p.Passing("evaluate")
	p.Next(p.Work(0))
	p.Back("design", metadata.Revise, reason)
	said := func(who, markdown string) string {
		shown := markdownPage(t, markdown, html.WithHardWraps())
		_, body, _ := bytes.Cut(shown, []byte("</style>\n"))
		return "<section><header><b>" + who + "</b> commented</header>\n" + string(body) + "</section>\n"
	}
	before, _, _ := bytes.Cut(markdownPage(t, ""), []byte("</style>\n"))
	live := page.LiveComment(p.Course, page.Notices{Links: links})
	return []byte(string(before) + "</style>\n" + said("reprise", live) + said("hana", "`/rollback design "+reason+"`"))
}

// readmePage is how the README begins, about as GitHub shows it: its later parts may change
// without a new picture.
func readmePage(t *testing.T) []byte {
	data := testenv.Read(t, "../../README.md")
	begins, _, _ := strings.Cut(data, "\n## ")
	return markdownPage(t, begins)
}

// commentPage is a comment about as GitHub shows it, where an end of a line is one.
func commentPage(t *testing.T, markdown string) []byte {
	return markdownPage(t, markdown, html.WithHardWraps())
}

// markdownPage is a Markdown text about as GitHub shows it.
func markdownPage(t *testing.T, markdown string, options ...renderer.Option) []byte {
	var body bytes.Buffer
	gfm := goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithRendererOptions(append(options, html.WithUnsafe())...))
	testenv.Must(t, gfm.Convert([]byte(markdown), &body))
	shown := regexp.MustCompile(`<blockquote>\n<p>\[!([A-Z])([A-Z]+)\]<br>\n`).ReplaceAllStringFunc(body.String(), func(begins string) string {
		_, kind, _ := strings.Cut(begins, "[!")
		kind, _, _ = strings.Cut(kind, "]")
		return "<blockquote class=\"" + strings.ToLower(kind) + "\">\n<p><b>" + kind[:1] + strings.ToLower(kind[1:]) + "</b></p><p>"
	})
	return []byte("<!doctype html>\n<meta charset=\"utf-8\">\n<style>\n" + style + "</style>\n" + shown)
}

func put(t *testing.T, file string, data []byte) {
	t.Helper()
	testenv.Put(t, file, string(data))
}
