package page

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

const sampleMarker = "<!-- reprise:reply:v1 comment=3 -->"

// sampleTold is what a caller knows, with an attempt to do harm in it.
func sampleTold() Notices {
	l := sampleLinks
	l.PullRequest = "https://github.com/octo/hello/pull/8"
	return Notices{
		Links:    l,
		Requests: []Requested{{At: progresstest.Nine.Add(time.Hour), By: "eve", Command: "/run --fast\nnow, @hana", Outcome: "refused: permission_denied", URL: "https://github.com/octo/hello/issues/7#issuecomment-9"}},
		Warnings: []string{"open the pull request: @octo/team has not allowed it, see https://evil.example"},
		NoChecks: true, Dispatched: []string{"ci.yml"},
		Near: metadata.Because("same_files", "issue", "9", "files", []string{"a_b.go", "/approve @octo/team <b>"}),
	}
}

func sampleRed() metadata.Reason {
	return metadata.Because("ci_red", "commit", "c0ffee0", "names", []string{"test <b>", "@octo/team"})
}

func sampleSummary() SummaryFacts {
	_, removed := clean.Text("a\u200bb<!-- @hana -->")
	return SummaryFacts{
		Notices: sampleTold(), Removed: removed,
		Denials:  []command.Denial{{Code: metadata.PermissionDenied, By: "eve", What: "/run --fast\nnow", Why: "eve has the role read; write is needed"}},
		Sandbox:  "required",
		Box:      sandbox.Confinement{Known: true, Held: &sandbox.Held{Landlock: 7, Signals: true, Sockets: true, Open: "no groups", Together: sandbox.Namespaces, Limits: sandbox.Limits{File: 1e9, Disk: 4e9}}},
		Versions: []Versioned{{"reprise", "1.0.0"}, {"claude", "2.1.4 (Claude Code)"}},
	}
}

func samplePull() PullFacts {
	return PullFacts{Notices: sampleTold(), Issue: 7, Progress: "https://github.com/octo/hello/issues/7#issuecomment-1", Images: progresstest.OwnImages}
}

func sampleConfig() ConfigFacts {
	return ConfigFacts{
		Why: `the issue has the label "reprise:full"`, From: "main at 1234567", Sandbox: "required", Version: "1.0.0",
		Rights: []Right{{"/run, /retry", "write"}, {"/status", "triage"}}, Bots: []string{"renovate[bot]"},
	}
}

// everything renders all there is for people to read, by name.
func everything(plan *pipelines.Pipeline, run metadata.Run, back phases.RollbackPlan, s SummaryFacts, e EventFacts, p PullFacts, c ConfigFacts, report string) map[string]string {
	out := map[string]string{
		"live":       LiveComment(phases.On(plan, run), s.Notices),
		"summary":    RunSummary(phases.On(plan, run), s),
		"event":      EventSummary(run.Language, e),
		"pull-draft": DraftBody(phases.On(plan, run), p),
		"pull-done":  DoneBody(phases.On(plan, run), []byte(report), p),
		"notice":     Notice(sampleMarker, nil, phases.On(plan, run), s.Notices),
		"late":       LateCI(sampleMarker, nil, phases.On(plan, run), sampleRed(), s.Notices),
		"unstarted":  Unstarted(sampleMarker, run.Language, nil, e.Denial.What, s.Job),
		"config":     ConfigReply(sampleMarker, run.Language, plan, c),
		"rollback":   RollbackReply(sampleMarker, plan, back),
		"refusal":    RefusalReply(sampleMarker, run.Language, e.Denial),
	}
	if f := NewFollowUp(run, []string{"todo"}, "reprise"); f != nil {
		out["follow-up"] = f.Body
	}
	for _, c := range run.Children {
		out["child-"+c.ID] = NewChildIssue(run, c, "reprise").Body
	}
	return out
}

func TestTell(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		p := progresstest.Plays(t, language)["rolledback"]
		p.Run.Unchecked = sampleRed()
		p.Run.Decisions = append(p.Run.Decisions, metadata.Decision{At: progresstest.Nine.Add(time.Minute), Step: "retry", Phase: "design", Why: "tried again", By: "hana", Comment: 4})
		back, err := phases.PlanRollback(p.Course, phases.Rollback{
			To: "planning", Step: metadata.Execute, Reason: "Ask @octo/team first.\n\n/run nothing.", By: "hana", Trigger: metadata.Manual,
			CommentURL: "https://github.com/octo/hello/issues/7#issuecomment-5", At: progresstest.Nine.Add(time.Hour),
		})
		testenv.Must(t, err)
		event := EventFacts{
			Event: "issue_comment created", Issue: "7", Versions: []Versioned{{"reprise", "1.0.0"}},
			Denial: command.Denial{Code: metadata.PermissionDenied, By: "renovate[bot]", What: "/run", Why: "renovate[bot] is not in allowed-bots"},
		}
		back.Paths = []string{"api/list.go"}
		report := "## What changes\n\nLists have pages, thanks @hana. Fixes #12.\n\n```go\n// @Deprecated\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
		for name, got := range everything(p.Plan, p.Run, back, sampleSummary(), event, samplePull(), sampleConfig(), report) {
			t.Run(language+"/"+name, func(t *testing.T) {
				progresstest.Golden(t, "tell-"+name+"."+language+".md", got)
				progresstest.CheckTold(t, got)
			})
		}
		completed := progresstest.Plays(t, language)["completed"]
		t.Run(language+"/completed", func(t *testing.T) {
			progresstest.Golden(t, "tell-completed."+language+".md", RunSummary(phases.On(completed.Plan, completed.Run), SummaryFacts{}))
		})
	}
}

// TestTellOdd tells of records that no check would pass, with facts that
// nobody would give.
func TestTellOdd(t *testing.T) {
	for seed := range uint64(60) {
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 2))}
		run, plan := progresstest.OddOf[metadata.Run](o), progresstest.SamplePlan("en")
		if seed%3 == 0 {
			plan = nil
		}
		back := phases.RollbackPlan{
			Before: run, Run: progresstest.OddOf[metadata.Run](o), Entry: progresstest.OddOf[metadata.Rollback](o), Paths: []string{o.Word(), o.Word()},
			Moves: progresstest.OddOf[map[string]string](o), ReasonFile: o.Word(),
		}
		all := everything(plan, run, back, oddFacts[SummaryFacts](o), oddFacts[EventFacts](o), oddFacts[PullFacts](o), progresstest.OddOf[ConfigFacts](o), o.Word()+"\n"+o.Word()+"\n"+o.Word())
		for name, got := range all {
			progresstest.CheckTold(t, got)
			if t.Failed() {
				t.Fatalf("seed %d: %s:\n%.3000s", seed, name, got)
			}
		}
	}
}

// oddFacts is progresstest.OddOf for facts that contain others of our own.
func oddFacts[T any](o progresstest.Odd) T {
	var v T
	fillOpen(o, reflect.ValueOf(&v).Elem())
	return v
}

func fillOpen(o progresstest.Odd, v reflect.Value) {
	for i := range v.NumField() {
		switch f := v.Field(i); {
		case v.Type().Field(i).Anonymous:
			fillOpen(o, reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem())
		default:
			o.Fill(f)
		}
	}
}

// TestTellMuch tells of a run in which every text is far too long.
func TestTellMuch(t *testing.T) {
	much := strings.Repeat("😀", 70_000)
	for _, long := range []string{much, strings.Repeat("@hana\n", 12_000), strings.Repeat("`", 70_000), strings.Repeat("</details>", 7_000)} {
		p := progresstest.Plays(t, "en")["rolledback"]
		back := p.Back("planning", metadata.Execute, long)
		p.Run.IssueTitle, p.Run.BranchName = long, long
		p.Run.RollbackHistory[0].Reason = long
		p.Run.Phases[0].Report = []byte(`{"remaining": [{"title": "` + strings.ReplaceAll(long, "\n", " ") + `", "body": ""}]}`)
		d := command.Denial{Code: metadata.PermissionDenied, By: long, What: long, Why: metadata.Said(long)}
		told := Notices{Links: Links{Job: long, Branch: long}, Requests: []Requested{{By: long, Command: long, Outcome: long}}, Warnings: []string{long, long}, Dispatched: []string{long}, Elsewhere: []string{long, long}, NoChecks: true}
		took := testenv.Busy(func() {
			all := everything(p.Plan, p.Run, back,
				SummaryFacts{Notices: told, Denials: []command.Denial{d, d}, Sandbox: long, Versions: []Versioned{{long, long}}}, EventFacts{Event: long, Issue: long, Denial: d, Warnings: []string{long}},
				PullFacts{Notices: told}, ConfigFacts{Why: long, From: long, Rights: []Right{{long, long}}, Bots: []string{long}}, long)
			for name, got := range all {
				progresstest.CheckTold(t, got)
				if n := clean.Units(got); n > clean.MaxComment {
					t.Errorf("%s has %d units", name, n)
				}
			}
			if n := clean.Units(PullTitle(p.Run)); n > maxTitle {
				t.Errorf("the title has %d units", n)
			}
		})
		if took > 20*time.Second {
			t.Errorf("that took %s", took)
		}
	}
}
