package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// TestGantt reads a chart as Mermaid does: a few settings, then sections of
// bars, each with a name, a colour, a start and a length.
func TestGantt(t *testing.T) {
	p := plays(t, "en")["middle"]
	p.run.Attempts[0].Phase, p.run.Attempts[0].Step = "\"];click a:b\n  section x #y %%z", "se:ct;ion"
	p.run.Phases = append(p.run.Phases, metadata.Phase{Name: p.run.Attempts[0].Phase})
	p.run.Attempts[1].DurationMS = 1 << 62
	p.run.Attempts[2].DurationMS = -1
	p.run.Attempts[3].StartedAt = time.Time{}
	p.run.Attempts[4].StartedAt = time.Unix(1<<40, 0)
	open := &p.run.Attempts[len(p.run.Attempts)-1]
	open.Status, p.run.UpdatedAt = metadata.Started, open.StartedAt.Add(90*time.Second)
	got := gantt(rowsOf(p.plan, p.run), p.run, nil)
	head := "gantt\n  dateFormat YYYY-MM-DD HH:mm:ss\n  axisFormat %H:%M\n  todayMarker off\n"
	if !strings.HasPrefix(got, head) {
		t.Fatalf("it begins with %.100q", got)
	}
	line := regexp.MustCompile(`^  (section [0-9]+ [^:;#%"\[\]]+|[0-9]+ [^:;#%"\[\]]+ :(done|active|crit), [0-9]{4}-[0-9]{2}-[0-9]{2} [0-9:]{8}, [1-9][0-9]{0,5}s)$`)
	bars := 0
	for l := range strings.SplitSeq(strings.TrimSuffix(strings.TrimPrefix(got, head), "\n"), "\n") {
		if !line.MatchString(l) {
			t.Errorf("this is no section and no bar: %q", l)
		}
		if strings.Contains(l, " :") {
			bars++
		}
	}
	if want := len(p.run.Attempts) - 2; bars != want {
		t.Errorf("%d bars, want %d:\n%s", bars, want, got)
	}
	if !strings.Contains(got, ":active, ") || !strings.Contains(got, ", 90s\n") {
		t.Errorf("the open attempt is not shown as long as it lasts:\n%s", got)
	}
}

func TestTimelineOfManyAttempts(t *testing.T) {
	p := plays(t, "en")["completed"]
	for len(p.run.Attempts) <= maxBars {
		p.run.Attempts = append(p.run.Attempts, p.run.Attempts[0])
	}
	got := runSummary(p.plan, p.run, summaryFacts{})
	if n := strings.Count(got, " :done, "); n != maxBars || !strings.Contains(got, "_Only the last 120 attempts are shown._") {
		t.Errorf("%d bars:\n%s", n, got)
	}
}

// GitHub takes 1 MiB; what does not fit is named.
func TestSummaryIsCut(t *testing.T) {
	c := newCommenter(nil, metadata.Run{}, told{})
	got := c.summed([]string{"head", strings.Repeat("語", maxSummary), "tail", strings.Repeat("語", maxSummary/2)})
	if len(got) > 1<<20 || !strings.HasPrefix(got, "head\n\ntail\n\n語") || !strings.HasSuffix(got, c.Tell.SummaryCut+"\n") {
		t.Errorf("%d bytes, %.20q ... %q", len(got), got, got[len(got)-80:])
	}
}

func TestEventSummary(t *testing.T) {
	for _, code := range strings.Fields(closedCodes) {
		for _, language := range []string{"en", "ja", "xx"} {
			got := eventSummary(language, eventFacts{Event: "issues labeled", denial: denial{Code: metadata.Code(code), By: "eve"}})
			c := newCommenter(nil, metadata.Run{Language: language}, told{})
			for _, want := range []string{"`" + code + "`", "`eve`", c.Codes[code].Meaning, c.Codes[code].Do} {
				if !strings.Contains(got, want) {
					t.Errorf("%s %s: %q is not in\n%s", language, code, want, got)
				}
			}
		}
	}
	if got := eventSummary("en", eventFacts{denial: denial{Code: "brand_new"}}); !strings.Contains(got, "the code brand\\_new.") {
		t.Errorf("a code that is not known:\n%s", got)
	}
}
