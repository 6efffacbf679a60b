package main

import (
	"math/rand/v2"
	"net/url"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

const sampleMarker = "<!-- reprise:reply:v1 comment=3 -->"

// sampleTold is what a caller knows, with an attempt to do harm in it.
func sampleTold() told {
	l := sampleLinks
	l.PullRequest = "https://github.com/octo/hello/pull/8"
	return told{
		links:    l,
		Asked:    []asked{{At: nine.Add(time.Hour), By: "eve", Command: "/run --fast\nnow, @hana", Outcome: "refused: permission_denied", URL: "https://github.com/octo/hello/issues/7#issuecomment-9"}},
		Warnings: []string{"open the pull request: @octo/team has not allowed it, see https://evil.example"},
		NoChecks: true, Dispatched: []string{"ci.yml"},
	}
}

func sampleSummary() summaryFacts {
	_, removed := prompts.Clean("a\u200bb<!-- @hana -->")
	return summaryFacts{
		told: sampleTold(), Removed: removed,
		Denials:  []denial{{Code: metadata.PermissionDenied, By: "eve", What: "/run --fast\nnow", Why: "eve has the role read; write is needed"}},
		Sandbox:  "required",
		Box:      boxed{Known: true, Held: &agents.Held{Landlock: 7, Signals: true, Sockets: true, Open: "no groups", Limits: agents.Limits{File: 1e9, Disk: 4e9}}},
		Versions: []versioned{{"reprise", "1.0.0"}, {"claude", "2.1.4 (Claude Code)"}},
	}
}

func samplePull() pullFacts {
	return pullFacts{told: sampleTold(), Issue: 7, Progress: "https://github.com/octo/hello/issues/7#issuecomment-1", Images: ownImages}
}

func sampleConfig() configFacts {
	return configFacts{
		Why: `the issue has the label "reprise:full"`, From: "main at 1234567", Sandbox: "required", Version: "1.0.0",
		Rights: []right{{"/run, /retry", "write"}, {"/status", "triage"}}, Bots: []string{"renovate[bot]"}, Protects: []string{"deploy/**"},
	}
}

// everything renders all there is for people to read, by name.
func everything(plan *pipelines.Pipeline, run metadata.Run, back phases.Rewound, s summaryFacts, e eventFacts, p pullFacts, c configFacts, report string) map[string]string {
	out := map[string]string{
		"live":       liveComment(plan, run, s.told),
		"summary":    runSummary(plan, run, s),
		"event":      eventSummary(run.Language, e),
		"pull-draft": pullDraft(plan, run, p),
		"pull-done":  pullDone(plan, run, []byte(report), p),
		"status":     statusReply(sampleMarker, plan, run, s.told, p.Progress),
		"config":     configReply(sampleMarker, run.Language, plan, c),
		"rewound":    rewoundReply(sampleMarker, plan, back),
		"refusal":    refusalReply(sampleMarker, run.Language, e.denial),
	}
	if f := followUpOf(run, []string{"todo"}, "reprise"); f != nil {
		out["follow-up"] = f.Body
	}
	return out
}

func TestTell(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := plays(t, language)["rolledback"]
		p.run.Decisions = append(p.run.Decisions, metadata.Decision{At: nine.Add(time.Minute), Step: "retry", Phase: "design", Why: "tried again", By: "hana", Comment: 4})
		back, err := phases.Back(p.plan, p.run, phases.Rewind{
			To: "planning", Step: metadata.Execute, Reason: "Ask @octo/team first.\n\n/run nothing.", By: "hana", Trigger: metadata.Manual,
			CommentURL: "https://github.com/octo/hello/issues/7#issuecomment-5", At: nine.Add(time.Hour),
		})
		if err != nil {
			t.Fatal(err)
		}
		event := eventFacts{
			Event: "issue_comment created", Issue: "7", Versions: []versioned{{"reprise", "1.0.0"}},
			denial: denial{Code: metadata.BotDenied, By: "renovate[bot]", What: "/run", Why: "renovate[bot] is not in allowed-bots"},
		}
		back.Paths = []string{"api/list.go"}
		report := "## What changes\n\nLists have pages, thanks @hana. Fixes #12.\n\n```go\n// @Deprecated\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
		for name, got := range everything(p.plan, p.run, back, sampleSummary(), event, samplePull(), sampleConfig(), report) {
			t.Run(language+"/"+name, func(t *testing.T) {
				golden(t, "tell-"+name+"."+language+".md", got)
				checkTold(t, got)
			})
		}
		completed := plays(t, language)["completed"]
		t.Run(language+"/completed", func(t *testing.T) {
			golden(t, "tell-completed."+language+".md", runSummary(completed.plan, completed.run, summaryFacts{}))
		})
	}
}

// TestTellOdd tells of records that no check would pass, with facts that
// nobody would give.
func TestTellOdd(t *testing.T) {
	for seed := range uint64(60) {
		o := odd{rand.New(rand.NewPCG(seed, 2))}
		run, plan := oddOf[metadata.Run](o), samplePlan("en")
		if seed%3 == 0 {
			plan = nil
		}
		back := phases.Rewound{
			Before: run, Run: oddOf[metadata.Run](o), Entry: oddOf[metadata.Rollback](o), Paths: []string{o.word(), o.word()},
			Moves: oddOf[map[string]string](o), Files: map[string][]byte{o.word(): []byte(o.word())},
		}
		all := everything(plan, run, back, oddFacts[summaryFacts](o), oddFacts[eventFacts](o), oddFacts[pullFacts](o), oddOf[configFacts](o), o.word()+"\n"+o.word()+"\n"+o.word())
		for name, got := range all {
			checkTold(t, got)
			if t.Failed() {
				t.Fatalf("seed %d: %s:\n%.3000s", seed, name, got)
			}
		}
	}
}

// oddFacts is oddOf for facts that contain others of our own.
func oddFacts[T any](o odd) T {
	var v T
	fillOpen(o, reflect.ValueOf(&v).Elem())
	return v
}

func fillOpen(o odd, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case v.Type().Field(i).Anonymous:
			fillOpen(o, reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem())
		default:
			o.fill(f)
		}
	}
}

// TestTellMuch tells of a run in which every text is far too long.
func TestTellMuch(t *testing.T) {
	much := strings.Repeat("😀", 70_000)
	for _, long := range []string{much, strings.Repeat("@hana\n", 12_000), strings.Repeat("`", 70_000), strings.Repeat("</details>", 7_000)} {
		p := plays(t, "en")["rolledback"]
		back := p.back("planning", metadata.Execute, long)
		back.Files["x"] = []byte(long)
		p.run.IssueTitle, p.run.BranchName = long, long
		p.run.RollbackHistory[0].Reason = long
		p.run.Phases[0].Report = []byte(`{"remaining": [{"title": "` + strings.ReplaceAll(long, "\n", " ") + `", "body": ""}]}`)
		d := denial{Code: metadata.BotDenied, By: long, What: long, Why: metadata.Said(long)}
		told := told{links: links{Job: long, Branch: long}, Asked: []asked{{By: long, Command: long, Outcome: long}}, Warnings: []string{long, long}, Dispatched: []string{long}, NoChecks: true}
		start := time.Now()
		all := everything(p.plan, p.run, back,
			summaryFacts{told: told, Denials: []denial{d, d}, Sandbox: long, Versions: []versioned{{long, long}}}, eventFacts{long, long, d, []string{long}, nil},
			pullFacts{told: told}, configFacts{Why: long, From: long, Rights: []right{{long, long}}, Bots: []string{long}}, long)
		for name, got := range all {
			checkTold(t, got)
			if n := units(got); n > maxComment {
				t.Errorf("%s has %d units", name, n)
			}
		}
		if n := units(pullTitle(p.run)); n > maxTitle {
			t.Errorf("the title has %d units", n)
		}
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("that took %s", d)
		}
	}
}

// checkClosed looks whether what follows a text is still a paragraph of its own:
// no fence, quote or list has been left open.
func checkClosed(t *testing.T, md string) {
	t.Helper()
	src := []byte(md + "\n\nwhat follows\n")
	last := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src)).LastChild()
	if p, ok := last.(*ast.Paragraph); !ok || strings.TrimSpace(string(p.Lines().Value(src))) != "what follows" {
		t.Errorf("what follows is a part of a %s:\n%s", last.Kind(), md[max(0, len(md)-300):])
	}
}

// leadsToAnyPage reports whether an address is one of a page.
func leadsToAnyPage(to string) bool {
	u, err := url.Parse(to)
	return err == nil && (u.Scheme == "" || u.Scheme == "http" || u.Scheme == "https")
}

// checkTold renders Markdown the way GitHub does and looks for what must not
// be in anything that reprise tells.
func checkTold(t *testing.T, md string) {
	t.Helper()
	if strings.Count(md, "<!--") > 1 || strings.Contains(md, "<!--") && !strings.HasPrefix(md, "<!-- reprise:") {
		t.Errorf("a marker is not the first line, or there are two")
	}
	checkClosed(t, md)
	src := []byte(md)
	ours := regexp.MustCompile(`^(<details>|<details open>|</details>|<summary>[^<>\n]*</summary>|<!-- reprise:[^<>]*-->|\n)+$`)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	var said strings.Builder
	open := 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() != ast.KindText {
			said.WriteString("\x01") // as where a tag is
		}
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.Heading, *ast.List, *ast.ListItem, *ast.Blockquote, *ast.Emphasis,
			*ast.ThematicBreak, *east.TaskCheckBox, *east.Table, *east.TableHeader, *east.TableRow, *east.TableCell, *east.Strikethrough:
		case *ast.Link:
			if to := string(n.Destination); !leadsToAnyPage(to) {
				t.Errorf("a link to %q", to)
			}
		case *ast.LinkReferenceDefinition:
			if to := string(n.Destination); !leadsToAnyPage(to) || threadPath.MatchString(to) {
				t.Errorf("a name for %q", to)
			}
		case *ast.Image:
			if !strings.HasPrefix(string(n.Destination), ownImages[0]) {
				t.Errorf("an image from %q", n.Destination)
			}
		case *ast.CodeSpan, *ast.FencedCodeBlock, *ast.CodeBlock, *ast.AutoLink:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(src))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(src))
			}
			if !ours.MatchString(html) {
				t.Errorf("HTML that is not ours: %q", html)
			}
			open += strings.Count(html, "<details") - strings.Count(html, "</details>")
		case *ast.Text:
			said.Write(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames(n.Segment.Value(src)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				said.WriteString("\n")
			}
		default:
			t.Errorf("a %s", n.Kind())
		}
		return ast.WalkContinue, nil
	})
	if open != 0 {
		t.Errorf("%d details are not closed", open)
	}
	words := regexp.MustCompile(`Closes #[0-9]+`).ReplaceAllString(said.String(), "")
	if m := regexp.MustCompile(`(?im)(^|\W)@[a-z0-9]|(^|\W)#[0-9]|\bgh-[0-9]`).FindString(words); m != "" {
		t.Errorf("it says %q outside code", m)
	}
	if m := regexp.MustCompile(`(?m)^[\s>]*/[a-z].*`).FindString(withoutCode(md)); m != "" || leadingSlash.MatchString(md) {
		t.Errorf("a line is %q", m)
	}
}
