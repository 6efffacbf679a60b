package terminal

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

func TestPlainView(t *testing.T) {
	for _, name := range []string{"middle", "stuck", "agent", "budget", "flaky"} {
		t.Run(name, func(t *testing.T) {
			p := progresstest.Plays(t, "en")[name]
			progresstest.Golden(t, "plain-"+name+".txt", shown(p, Options{Plan: p.Plan}))
		})
	}
}

// shown gives what a view prints of a run.
func shown(p *progresstest.Play, o Options) string {
	var b bytes.Buffer
	v := NewView(&b, o)
	for _, e := range p.Events {
		v.Report(e)
	}
	v.Close()
	v.Close()
	return b.String()
}

func TestPlainViewAfterARollback(t *testing.T) {
	p := progresstest.Plays(t, "en")["rolledback"]
	p.Events = nil
	p.Next(p.Work(2))
	p.Next(p.Judgement(""))
	progresstest.Golden(t, "plain-rolledback.txt", shown(p, Options{Plan: p.Plan}))
}

func TestPlainViewTellsActivityWhenVerbose(t *testing.T) {
	p := progresstest.Plays(t, "en")["stuck"]
	if got := shown(p, Options{Plan: p.Plan}); strings.Contains(got, "Read design.go") {
		t.Errorf("the plain view tells activity:\n%s", got)
	}
	if got := shown(p, Options{Plan: p.Plan, Verbose: true}); !strings.Contains(got, "… Read design.go") {
		t.Errorf("the verbose view does not tell activity:\n%s", got)
	}
}

// What was odd about a call and did not stop it is a line below its result.
func TestWarningsOfACall(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	o := p.Work(0)
	o.Warnings = []string{"codex was refused\nevil.example:443"}
	p.Next(o)
	if got := shown(p, Options{Plan: p.Plan}); !strings.Contains(got, "          - ! codex was refused evil.example:443\n") {
		t.Errorf("the plain view tells no warning:\n%s", got)
	}
	if got := shown(p, Options{Plan: p.Plan, JSON: true}); !strings.Contains(got, `"warnings":["codex was refused\nevil.example:443"]`) {
		t.Errorf("the JSON view tells no warning:\n%s", got)
	}
}

// That the base was merged between two steps is a line of every view.
func TestViewsTellThatTheBaseWasMerged(t *testing.T) {
	for language, want := range map[string]string{"en": "2 commits of main are merged", "ja": "main の 2 コミットを取り込みました"} {
		p := progresstest.NewPlay(t, language)
		p.Next(p.Work(0))
		at := p.Run.UpdatedAt
		p.Run.Merges = append(p.Run.Merges, metadata.Merge{At: at})
		p.Run.Decisions = append(p.Run.Decisions, metadata.Decision{At: at, Step: "merge", Phase: p.Run.CurrentPhase, Why: metadata.Because("base_merged", "branch", "main", "n", 2)})
		p.Events = append(p.Events, engine.Event{At: at, Run: p.Run.Clone()})
		if got := shown(p, Options{Plan: p.Plan}); strings.Count(got, "= "+want+"\n") != 1 {
			t.Errorf("the plain view does not say %q once:\n%s", want, got)
		}
		if got := shown(p, Options{Plan: p.Plan, JSON: true}); !strings.Contains(got, `"event":"merge"`) || !strings.Contains(got, `"why":"2 commits of main are merged"`) {
			t.Errorf("the JSON view does not say it:\n%s", got)
		}
		var live []string
		for s := (&screen{Options: Options{Plan: p.Plan, Width: 80}, Height: 24}); len(p.Events) > 0; p.Events = p.Events[1:] {
			live = append(live, s.take(p.Events[0])...)
		}
		if got := strings.Join(live, "\n"); !strings.Contains(got, "= "+want) {
			t.Errorf("the live view does not leave %q above:\n%s", want, got)
		}
	}
}

// That a phase was left out before it began is a line of every view, with its name and why.
func TestViewsTellThatAPhaseWasLeftOut(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	p.Next(p.Work(0))
	at, phase := p.Run.UpdatedAt, p.Run.Phases[1].Name
	p.Run = phases.LeaveOut(p.Run, phase, metadata.Because("skip_if_holds", "facts", "cost.usd is 1"), at)
	p.Events = append(p.Events, engine.Event{At: at, Run: p.Run.Clone()})
	const want = "left out, as skip_if holds: cost.usd is 1"
	if got := shown(p, Options{Plan: p.Plan}); strings.Count(got, want) != 1 || !regexp.MustCompile(phase+" +[a-z]* += "+want).MatchString(got) {
		t.Errorf("the plain view does not say %q of %s once:\n%s", want, phase, got)
	}
	if got := shown(p, Options{Plan: p.Plan, JSON: true}); !strings.Contains(got, `"event":"skip_if","issue":"7","phase":"`+phase+`"`) || !strings.Contains(got, `"why":"`+want+`"`) {
		t.Errorf("the JSON view does not say it:\n%s", got)
	}
	var live []string
	for s := (&screen{Options: Options{Plan: p.Plan, Width: 80}, Height: 24}); len(p.Events) > 0; p.Events = p.Events[1:] {
		live = append(live, s.take(p.Events[0])...)
	}
	if got := strings.Join(live, "\n"); !strings.Contains(got, phase+" = "+want) {
		t.Errorf("the live view does not leave %q above:\n%s", want, got)
	}
}

func TestPlainViewColour(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	if got := shown(p, Options{Plan: p.Plan}); strings.Contains(got, "\x1b") {
		t.Errorf("colour where none was asked for:\n%q", got)
	}
	if got := shown(p, Options{Plan: p.Plan, Color: true}); !strings.Contains(got, "\x1b[32m✓\x1b[0m") {
		t.Errorf("no colour where it was asked for:\n%q", got)
	}
}

func TestJSONView(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	got := shown(p, Options{Plan: p.Plan, JSON: true})
	progresstest.Golden(t, "log-middle.jsonl", got)
	var events []string
	for line := range strings.Lines(got) {
		var n news
		if err := json.Unmarshal([]byte(line), &n); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		events = append(events, n.Event)
	}
	if slices.Contains(events, "activity") {
		t.Error("the log tells activity though it is not verbose")
	}
	if n := strings.Count(shown(p, Options{Plan: p.Plan, JSON: true, Verbose: true}), `"event":"activity"`); n == 0 {
		t.Error("the verbose log tells no activity")
	}
}

// TestHostileTextStaysOnItsLine sends text that a terminal or a log of GitHub
// Actions would act on.
func TestHostileTextStaysOnItsLine(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	p.Next(p.Work(0))
	f := progresstest.WarningInOutput()
	f.Title = "x\x1b[2J\x1b]0;owned\x07y\n::set-output name=a::b ##[add-mask]e\u202e"
	p.Next(p.Judgement("", f))
	for _, o := range []Options{{Plan: p.Plan}, {Plan: p.Plan, JSON: true}} {
		got := shown(p, o)
		for _, bad := range []string{"\x1b", "\x07", "\n::", "##[add-mask]"} {
			if strings.Contains(got, bad) && (!o.JSON || bad != "##[add-mask]") {
				t.Errorf("JSON %t: %q got through:\n%s", o.JSON, bad, got)
			}
		}
	}
}

func TestWantsColor(t *testing.T) {
	for _, tt := range []struct {
		env      map[string]string
		terminal bool
		want     bool
	}{
		{nil, true, true},
		{nil, false, false},
		{map[string]string{"NO_COLOR": "1"}, true, false},
		{map[string]string{"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, true, false},
		{map[string]string{"CLICOLOR_FORCE": "1"}, false, true},
		{map[string]string{"CLICOLOR_FORCE": "0"}, false, false},
		{map[string]string{"TERM": "dumb"}, true, false},
	} {
		if got := text.WantsColor(func(k string) string { return tt.env[k] }, tt.terminal); got != tt.want {
			t.Errorf("wantsColor(%v, %v) = %v", tt.env, tt.terminal, got)
		}
	}
}

func TestNewsOfNothing(t *testing.T) {
	if got := newsOf(progresstest.SamplePlan("en"), engine.Event{}); got != nil {
		t.Errorf("news of nothing: %v", got)
	}
}
