package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
)

func TestShowStatus(t *testing.T) {
	for name, p := range plays(t, "en") {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			showStatus(&b, p.plan, p.run, viewOptions{})
			golden(t, "status-"+name+".txt", b.String())
		})
	}
}

func TestShowStatusFitsTheTerminal(t *testing.T) {
	p := plays(t, "en")["middle"]
	p.run.IssueTitle = strings.Repeat("とても長い題名", 20)
	var b bytes.Buffer
	showStatus(&b, p.plan, p.run, viewOptions{Width: 60, Color: true})
	if !strings.Contains(b.String(), "\x1b[") {
		t.Error("no colour where it was asked for")
	}
	for line := range strings.Lines(b.String()) {
		phase := strings.Contains(line, "·  ") || strings.Contains(line, "✓  ") || strings.Contains(line, "▸  ")
		if w := ansi.StringWidth(strings.TrimSpace(line)); w > 60 && (phase || strings.HasPrefix(line, "#7")) {
			t.Errorf("%d cells: %s", w, line)
		}
	}
}

func TestShowHistory(t *testing.T) {
	for _, name := range []string{"begun", "middle", "rolledback", "flaky"} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			showHistory(&b, plays(t, "en")[name].run, viewOptions{})
			golden(t, "history-"+name+".txt", b.String())
		})
	}
}

func TestShowLongHistory(t *testing.T) {
	run := plays(t, "en")["rolledback"].run
	entry := run.RollbackHistory[0]
	for i := range 10_000 {
		entry.Timestamp = nine.Add(time.Duration(i) * time.Second)
		entry.Reason = fmt.Sprintf("reason %d", i)
		run.RollbackHistory = append(run.RollbackHistory, entry)
	}
	start := time.Now()
	var b bytes.Buffer
	showHistory(&b, run, viewOptions{})
	plan := samplePlan("en")
	showStatus(&b, plan, run, viewOptions{})
	b.WriteString(comment(plan, run, links{}))
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("10,000 rollbacks took %s to show", d)
	}
	if n := strings.Count(b.String(), "reason "); n < 10_000 {
		t.Errorf("only %d of 10,000 rollbacks are shown", n)
	}
}

func TestShowPlan(t *testing.T) {
	var b bytes.Buffer
	showPlan(&b, samplePlan("en"), viewOptions{})
	golden(t, "plan.txt", b.String())
}

func TestShowRewound(t *testing.T) {
	for _, step := range []metadata.Step{metadata.Revise, metadata.Execute} {
		t.Run(string(step), func(t *testing.T) {
			p := newPlay(t, "en")
			p.passing("report")
			r := p.back("design", step, "The API must stay REST.\nSay why in the design.")
			r.Paths = []string{"api/list.go"}
			var b bytes.Buffer
			showRewound(&b, p.plan, r)
			golden(t, "rewound-"+string(step)+".txt", b.String())
		})
	}
}

func TestMermaid(t *testing.T) {
	p := plays(t, "en")["rolledback"]
	golden(t, "graph-plan.mmd", mermaid(p.plan, nil))
	golden(t, "graph-run.mmd", mermaid(p.plan, &p.run))
	p.plan.Phases = p.plan.Phases[:3]
	for i := range p.plan.Phases {
		p.plan.Phases[i].Needs = nil
	}
	if got := mermaid(p.plan, nil); !strings.Contains(got, "p1 --> p2\n  p2 --> p3\n") {
		t.Errorf("phases without needs do not follow each other:\n%s", got)
	}
	p.plan.Phases[0].Name = "\"];click p1 \"javascript:x\" \n<b>%%{init}%%"
	if got := mermaid(p.plan, nil); !strings.Contains(got, "  p1[\"1 ---click p1 -javascript-x- -b----init---\"]\n") {
		t.Errorf("a hostile name got through:\n%s", got)
	}
}

func TestReasons(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"one":                           "one",
		"a.md is unchanged\nno tool":    "a.md is unchanged; no tool",
		"\n- a\n\n  b\x1b[1m\n":         "- a; b␛[1m",
		"Keep it.\nSay why: \nit's ok;": "Keep it. Say why: it's ok;",
		"そのまま。\nなぜ":                     "そのまま。 なぜ",
	} {
		if got := reasons(in); got != want {
			t.Errorf("reasons(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	got := map[string]string{
		"usd 0": usd(0), "usd 0.001": usd(0.001), "usd 0.123": usd(0.123), "usd 12": usd(12),
		"tokens 0": tokenCount(0), "tokens 999": tokenCount(999), "tokens 1000": tokenCount(1000), "tokens 1249": tokenCount(1249),
		"tokens 999949": tokenCount(999_949), "tokens 999950": tokenCount(999_950), "tokens 5M": tokenCount(5_000_000),
		"took -1s": took(-time.Second), "took 0.4s": took(400 * time.Millisecond), "took 9s": took(9 * time.Second), "took 12s": took(12300 * time.Millisecond),
		"took 3m12s": took(192 * time.Second), "took 2h5m": took(125 * time.Minute), "took 3d4h": took(76 * time.Hour),
		"cut": cut("日本語です", 6), "cut none": cut("abc", 0), "cut exact": cut("abc", 3), "padded": padded("日本", 6) + "|",
		"flat": flat(" a\n\tb\x1b[31mc \u200bd ##[x]\u202e\u009b\x7f"),
	}
	want := map[string]string{
		"usd 0": "$0.00", "usd 0.001": "<$0.01", "usd 0.123": "$0.12", "usd 12": "$12.00",
		"tokens 0": "0", "tokens 999": "999", "tokens 1000": "1k", "tokens 1249": "1.2k",
		"tokens 999949": "999.9k", "tokens 999950": "1M", "tokens 5M": "5M",
		"took -1s": "0s", "took 0.4s": "0.4s", "took 9s": "9s", "took 12s": "12s", "took 3m12s": "3m12s", "took 2h5m": "2h05m", "took 3d4h": "3d04h",
		"cut": "日本…", "cut none": "abc", "cut exact": "abc", "padded": "日本  |", "flat": "a b␛[31mc <U+200B>d ## [x]<U+202E><U+009B>␡",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
