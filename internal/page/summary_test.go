package page

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/progress"
	"github.com/reprise-ci/reprise/internal/progresstest"
	"github.com/reprise-ci/reprise/metadata"
)

// TestGantt reads a chart as Mermaid does: a few settings, then sections of
// bars, each with a name, a colour, a start and a length.
func TestGantt(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	p.Run.Attempts[0].Phase, p.Run.Attempts[0].Step = "\"];click a:b\n  section x #y %%z", "se:ct;ion"
	p.Run.Phases = append(p.Run.Phases, metadata.Phase{Name: p.Run.Attempts[0].Phase})
	p.Run.Attempts[1].DurationMS = 1 << 62
	p.Run.Attempts[2].DurationMS = -1
	p.Run.Attempts[3].StartedAt = time.Time{}
	p.Run.Attempts[4].StartedAt = time.Unix(1<<40, 0)
	open := &p.Run.Attempts[len(p.Run.Attempts)-1]
	open.Status, p.Run.UpdatedAt = metadata.Started, open.StartedAt.Add(90*time.Second)
	got := gantt(progress.RowsOf(p.Plan, p.Run), p.Run, nil)
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
	if want := len(p.Run.Attempts) - 2; bars != want {
		t.Errorf("%d bars, want %d:\n%s", bars, want, got)
	}
	if !strings.Contains(got, ":active, ") || !strings.Contains(got, ", 90s\n") {
		t.Errorf("the open attempt is not shown as long as it lasts:\n%s", got)
	}
}

func TestTimelineOfManyAttempts(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	for len(p.Run.Attempts) <= maxBars {
		p.Run.Attempts = append(p.Run.Attempts, p.Run.Attempts[0])
	}
	got := RunSummary(p.Plan, p.Run, SummaryFacts{})
	if n := strings.Count(got, " :done, "); n != maxBars || !strings.Contains(got, "_Only the last 120 attempts are shown._") {
		t.Errorf("%d bars:\n%s", n, got)
	}
}

// GitHub takes 1 MiB; what does not fit is named.
func TestSummaryIsCut(t *testing.T) {
	c := summary{newWriter(nil, metadata.Run{}, Notices{})}
	got := c.fit([]string{"head", strings.Repeat("語", maxSummary), "tail", strings.Repeat("語", maxSummary/2)})
	if len(got) > 1<<20 || !strings.HasPrefix(got, "head\n\ntail\n\n語") || !strings.HasSuffix(got, c.Tell.SummaryCut+"\n") {
		t.Errorf("%d bytes, %.20q ... %q", len(got), got, got[len(got)-80:])
	}
}

func TestEventSummary(t *testing.T) {
	for _, code := range strings.Fields(closedCodes) {
		for _, language := range []string{"en", "ja", "xx"} {
			got := EventSummary(language, EventFacts{Event: "issues labeled", Denial: Denial{Code: metadata.Code(code), By: "eve"}})
			c := newWriter(nil, metadata.Run{Language: language}, Notices{})
			for _, want := range []string{"`" + code + "`", "`eve`", c.Codes[code].Meaning, c.Codes[code].Do} {
				if !strings.Contains(got, want) {
					t.Errorf("%s %s: %q is not in\n%s", language, code, want, got)
				}
			}
		}
	}
	if got := EventSummary("en", EventFacts{Denial: Denial{Code: "brand_new"}}); !strings.Contains(got, "the code brand\\_new.") {
		t.Errorf("a code that is not known:\n%s", got)
	}
}
