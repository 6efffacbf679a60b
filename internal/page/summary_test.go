package page

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// A timeline has two lines for each phase that was at work: its name and time, and a
// bar where it stands among all work, with a sign for what became of it.
func TestTimeline(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	at := p.Run.UpdatedAt.Add(-time.Hour)
	p.Run.Attempts = []metadata.Attempt{ // with a pause after the second
		{Phase: "planning", Step: metadata.Execute, DurationMS: 90_000, StartedAt: at},
		{Phase: "planning", Step: metadata.Review, DurationMS: 90_000, StartedAt: at.Add(90 * time.Second)},
		{Phase: "design", Step: metadata.Execute, DurationMS: 1, StartedAt: at.Add(20 * time.Minute)},
		{Phase: "design", Step: metadata.Review, DurationMS: 179_999, StartedAt: at.Add(20*time.Minute + time.Millisecond)},
		{Phase: "testing", Step: metadata.Check, Status: metadata.Started, StartedAt: p.Run.UpdatedAt.Add(-3 * time.Minute)},
	}
	p.Run.Phase("design").Status, p.Run.Phase("testing").Status = metadata.PhaseFailed, metadata.PhaseInProgress
	want := "```text\n" + strings.Join([]string{
		"🟩 Planning                   3 min 0 s", "   ██████▒▒▒▒▒▒",
		"🟥 Design                     3 min 0 s", "               █▒▒▒▒▒▒▒▒▒▒▒",
		"🟨 Testing                    3 min 0 s", "                           ▒▒▒▒▒▒▒▒▒▒▒▒",
	}, "\n") + "\n```"
	if got := RunSummary(p.Course, SummaryFacts{}); !strings.Contains(got, want) {
		t.Errorf("the timeline is not\n%s\nin\n%s", want, got)
	}
}

// Attempts that were at work at the same time stand above each other.
func TestTimelineOfWorkAtTheSameTime(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	at := p.Run.UpdatedAt.Add(-time.Hour)
	p.Run.Attempts = []metadata.Attempt{
		{Phase: "planning", Step: metadata.Execute, DurationMS: 120_000, StartedAt: at},
		{Phase: "testing", Step: metadata.Execute, DurationMS: 60_000, StartedAt: at.Add(180 * time.Second)}, // it began later and is noted first
		{Phase: "design", Step: metadata.Execute, DurationMS: 120_000, StartedAt: at.Add(60 * time.Second)},
	}
	want := strings.Join([]string{
		"🟩 Planning                   2 min 0 s", "   ██████████████████",
		"🟩 Design                     2 min 0 s", "            ██████████████████",
		"🟩 Testing                    1 min 0 s", "                              █████████",
	}, "\n")
	if got := newWriter(p.Course, Notices{}).timeline(); !strings.Contains(got, want) {
		t.Errorf("the timeline is not\n%s\nbut\n%s", want, got)
	}
}

// Whatever a record says, each line of a timeline is a name or a bar that has room.
func TestTimelineOfOddAttempts(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	odd := "\"];```\n+ x @hana <b> 長長長長長長長長長長長長長長長長長長長長長長長長"
	p.Run.Attempts[0].Phase, p.Run.Attempts[1].DurationMS, p.Run.Attempts[2].DurationMS = odd, 1<<62, -1
	p.Run.Phases = append(p.Run.Phases, metadata.Phase{Name: odd, Status: metadata.PhaseCompleted})
	for range 400 {
		p.Run.Attempts = append(p.Run.Attempts, p.Run.Attempts[3])
	}
	c := newWriter(p.Course, Notices{})
	drawn, _, _ := strings.Cut(strings.TrimPrefix(c.timeline(), "```text\n"), "\n```")
	lines := strings.Split(drawn, "\n")
	if len(lines) != 2*6 {
		t.Fatalf("%d lines:\n%s", len(lines), drawn)
	}
	for i, l := range lines {
		form := `^[🟩🟥🟦🟨⬜] [^\x60<>@"]+ +[0-9]+ (s|min [0-9]+ s|h [0-9]+ min)$`
		if i%2 == 1 {
			form = `^   [ █▒]*[█▒]$`
		}
		if !regexp.MustCompile(form).MatchString(l) || ansi.StringWidth(l) > columns+3 {
			t.Errorf("line %d, %d wide: %q", i, ansi.StringWidth(l), l)
		}
	}
	if got := newWriter(phases.On(p.Plan, metadata.Run{}), Notices{}).timeline(); got != "" {
		t.Errorf("a run without attempts has\n%s", got)
	}
}

// GitHub takes 1 MiB; what does not fit is named.
func TestSummaryTellsThatTheBaseWasMerged(t *testing.T) {
	for language, want := range map[string]string{"en": "<summary>Base merged · 1</summary>\n\n- 2026-03-01 09:00 UTC · 2 commits of main are merged", "ja": "<summary>ベースの取り込み · 1</summary>\n\n- 2026-03-01 09:00 UTC · main の 2 コミットを取り込みました"} {
		p := progresstest.Plays(t, language)["completed"]
		p.Run.Decisions = append(p.Run.Decisions, metadata.Decision{
			At: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC), Step: "merge", Phase: "build", Why: metadata.Because("base_merged", "branch", "main", "n", 2),
		})
		if got := RunSummary(p.Course, SummaryFacts{}); !strings.Contains(got, want) {
			t.Errorf("the summary does not say %q:\n%s", want, got)
		}
	}
}

func TestSummaryIsCut(t *testing.T) {
	c := newWriter(phases.On(nil, metadata.Run{}), Notices{})
	got := c.summary("head", strings.Repeat("語", maxSummary), "tail", strings.Repeat("語", maxSummary/2))
	if len(got) > 1<<20 || !strings.HasPrefix(got, "head\n\ntail\n\n語") || !strings.HasSuffix(got, c.Say("tell.summaryCut")+"\n") {
		t.Errorf("%d bytes, %.20q ... %q", len(got), got, got[len(got)-80:])
	}
}

func TestEventSummary(t *testing.T) {
	for _, code := range strings.Fields(closedCodes) {
		for _, language := range []string{"en", "ja", "xx"} {
			got := EventSummary(language, EventFacts{Event: "issues labeled", Denial: command.Denial{Code: metadata.Code(code), By: "eve"}})
			c := newWriter(phases.On(nil, metadata.Run{Language: language}), Notices{})
			for _, want := range []string{"`" + code + "`", "`eve`", c.Explain(code).Meaning, c.Explain(code).Do} {
				if !strings.Contains(got, want) {
					t.Errorf("%s %s: %q is not in\n%s", language, code, want, got)
				}
			}
		}
	}
	if got := EventSummary("en", EventFacts{Denial: command.Denial{Code: "brand_new"}}); !strings.Contains(got, "the code brand\\_new.") {
		t.Errorf("a code that is not known:\n%s", got)
	}
}

// The summary names programs that hold their login themselves.
func TestHeldLogins(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const want = "**Programs with a login of their own, for which the limits of turns and cost do not hold** `claude` (`.credentials.json`) · `codex` (`auth.json`)\n"
	got := RunSummary(p.Course, SummaryFacts{Held: []Versioned{{"claude", ".credentials.json"}, {"codex", "auth.json"}}})
	if !strings.Contains(got+"\n", want) {
		t.Errorf("it lacks\n%s\nin\n%s", want, got)
	}
	if got := RunSummary(p.Course, SummaryFacts{}); strings.Contains(got, "login") {
		t.Errorf("without any:\n%s", got)
	}
}

// A host that was refused stands with the line of CUE that would allow it; what an
// agent wrote as one breaks neither that nor the page.
func TestRefusedHosts(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	p.Run.Attempts = []metadata.Attempt{
		{Phase: "planning", Step: metadata.Execute, Refused: "registry.npmjs.org:443 (2), example.com:8443 (1)"},
		{Phase: "planning", Step: metadata.Review},
		{Phase: "design", Step: metadata.Revise, Refused: "`](x)\"\\:443 (1)"},
	}
	want := "### Hosts that the pipeline does not allow, and what would allow them\n\n" +
		"- planning · execute · `registry.npmjs.org:443 (2), example.com:8443 (1)`\n  `network: allow: [\"registry.npmjs.org:443\", \"example.com:8443\"]`\n" +
		"- design · revise · `'](x)\"\\:443 (1)`\n  `network: allow: [\"'](x)\\\"\\\\:443\"]`\n"
	if got := RunSummary(p.Course, SummaryFacts{}); !strings.Contains(got, want) {
		t.Errorf("it lacks\n%s\nin\n%s", want, got)
	}
}

// What was answered, or is left to the next job, does not read as if nothing
// had come of it, and what somebody typed does nothing there.
func TestHandledSummary(t *testing.T) {
	for _, language := range []string{"en", "ja", "xx"} {
		c := newWriter(phases.On(nil, metadata.Run{Language: language}), Notices{})
		for goesOn, want := range map[bool][]string{true: {c.Say("tell.handedOn"), c.Say("tell.handedTo")}, false: {c.Say("tell.answered")}} {
			f := EventFacts{
				Event: "issue_comment created", Issue: "7", Denial: command.Denial{By: "ada", What: "/run <!-- x --> `a` @octo\nmore"},
				Warnings: []string{"the label is still there"}, Versions: []Versioned{{"reprise", "1.0.0"}},
			}
			f.Handled, f.GoesOn = true, goesOn
			got := EventSummary(language, f)
			for _, w := range append(want, "`/run", "`ada`", "`7`", "`issue_comment created`", "the label is still there", "reprise 1.0.0") {
				if !strings.Contains(got, w) {
					t.Errorf("%s %v lacks %q:\n%s", language, goesOn, w, got)
				}
			}
			if strings.Contains(got, c.Say("tell.notStarted")) || strings.Contains(got, "<!--") || strings.Contains(got, "more") {
				t.Errorf("%s %v:\n%s", language, goesOn, got)
			}
			progresstest.CheckTold(t, got)
		}
	}
}

// What keeps the network closed is said, and so is what does not.
func TestSummaryOfTheNetwork(t *testing.T) {
	catalogue := prompts.Words("en")
	for _, tt := range []struct {
		held  sandbox.Held
		holds bool
		want  string
	}{
		{sandbox.Held{Network: sandbox.OwnNetwork}, false, catalogue.Say("sandbox.network")},
		{sandbox.Held{Closed: true, Network: sandbox.OwnNetwork}, true, catalogue.Say("sandbox.networkOwn")},
		{sandbox.Held{Closed: true, Network: sandbox.GateAlone}, true, catalogue.Say("sandbox.networkGate")},
		{sandbox.Held{Closed: true}, false, catalogue.Say("sandbox.networkNone")},
	} {
		holds, not, _ := strings.Cut(speaker("en").put("sandbox", SummaryFacts{Sandbox: "required", Box: sandbox.Confinement{Known: true, Held: &tt.held}}), "- "+catalogue.Say("sandbox.not"))
		if strings.Contains(holds, tt.want) != tt.holds || strings.Contains(not, tt.want) == tt.holds {
			t.Errorf("%q: it holds %s\nand does not %s", tt.want, holds, not)
		}
	}
}

// What ends the processes of a call is said, and so is what does not.
func TestSummaryOfWhatEndsACall(t *testing.T) {
	catalogue := prompts.Words("en")
	for bond, want := range map[sandbox.Bond]string{
		sandbox.Namespaces: "holds: " + catalogue.Say("sandbox.namespaces"), sandbox.ControlGroup: "holds: " + catalogue.Say("sandbox.group"), sandbox.Marks: "not: " + catalogue.Say("sandbox.marks"),
	} {
		text := speaker("en").put("sandbox", SummaryFacts{Sandbox: "required", Box: sandbox.Confinement{Known: true, Held: &sandbox.Held{Together: bond}}})
		holds, not, cut := strings.Cut(text, "- "+catalogue.Say("sandbox.not"))
		list, rest := holds, not
		if strings.HasPrefix(want, "not: ") {
			list, rest = not, holds
		}
		_, phrase, _ := strings.Cut(want, ": ")
		if !cut || !strings.Contains(list, phrase) || strings.Contains(rest, phrase) {
			t.Errorf("%s: want %s\n%s", bond, want, text)
		}
	}
}
