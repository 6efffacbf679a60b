package page

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

func TestPullTitle(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"words", "Add a `--json` flag", "Add a '--json' flag"},
		{"lines", " a\n b\t", "a b"},
		{"mention", "thanks @octo/team", "thanks `@octo/team`"},
		{"closing", "Fixes #12: crash", "Fixes `#12:` crash"},
		{"command", "/run now", "run now"},
		{"hidden", "a\u200b\u202e<!-- x -->b", "ab"},
		{"workflows", "Crash [Skip\u00a0CI] [ci skip], skip-checks: true", "Crash (Skip CI) (ci skip), skip checks: true"},
		{"none", " ", "issue 7"},
		{"as long as may be", strings.Repeat("x", 256), strings.Repeat("x", 256)},
		{"too long", strings.Repeat("x", 257), strings.Repeat("x", 253) + "..."},
		{"emoji", strings.Repeat("😀", 200), strings.Repeat("😀", 126) + "..."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := PullTitle(metadata.Run{IssueNumber: "7", IssueTitle: tt.in}); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// What a repository makes the message of a commit keeps no workflow from starting.
func TestPullBodyIsAMessage(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	if got := DoneBody(p.Course, []byte("Done. [skip ci]\n\nskip-checks: true\n"), samplePull()); !strings.Contains(got, "\n\nDone. (skip ci)\n\nskip checks: true\n") {
		t.Errorf("the body is %q", got)
	}
}

func TestPullBodies(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	f := samplePull()
	for _, tt := range []struct {
		name, got  string
		want, none []string
	}{
		{"draft", DraftBody(p.Course, f), []string{"Closes #7\n", "reprise is at work", "1. ✅ [Planning](https:", "**Cost** $1.50 of $10.00", "[Progress](", "<summary>Suggestions kept · 1</summary>\n\n- **suggestion F2** A shorter name (Evaluation)"}, []string{"**Agent**"}},
		{"other repository", DraftBody(p.Course, PullFacts{}), []string{"**issue** [7](https://github.com/octo/hello/issues/7)"}, []string{"Closes"}},
		{"done", DoneBody(p.Course, []byte("## Good\n\nCloses #1"), f), []string{"## Good\n\nCloses `#1`\n\n---\n\nCloses #7\n", "1. ✅ [Planning](https:", "**Cost**", "<summary>Suggestions kept · 1</summary>", "→ Call it `asJSON`."}, []string{"at work"}},
		{"no report", DoneBody(p.Course, []byte(" <!-- x -->\n"), f), []string{"> The run has written no report.", "Closes #7"}, nil},
		{"not text", DoneBody(p.Course, []byte("a\xff\x00b"), f), []string{"a\ufffdb", "Closes #7"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, want := range tt.want {
				if !strings.Contains(tt.got, want) {
					t.Errorf("%q is not in\n%s", want, tt.got)
				}
			}
			for _, bad := range tt.none {
				if strings.Contains(tt.got, bad) {
					t.Errorf("%q is in\n%s", bad, tt.got)
				}
			}
			progresstest.CheckTold(t, tt.got)
		})
	}
}

// The report has what room there is; what stands below it is never lost.
func TestPullIsCut(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	theirs := "I have tried it.\n\n- [x] works"
	first := Described("", "one")
	for body, want := range map[string]string{
		theirs: theirs + "\n\n" + Described("", "two"), first: Described("", "two"), "A\n" + first + "\nB": "A\n" + Described("", "two") + "\nB",
		theirs + first[:len(first)-5]: theirs + "\none\n<!-- reprise:pull:en\n\n" + Described("", "two"), strings.Repeat("x", 65_530): strings.Repeat("x", 65_530),
	} {
		if got := Described(body, "two"); got != want {
			t.Errorf("of %.100q it makes %.200q", body, got)
		}
	}
	got := DoneBody(p.Course, []byte(strings.Repeat("A line. 😀\n\n", 12_000)), samplePull())
	if n := clean.Units(got); n > clean.MaxComment || n < clean.MaxComment-100 {
		t.Errorf("the body has %d units", n)
	}
	for _, want := range []string{"_The rest is left out", "\nCloses #7\n", "</details>"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in the end: %q", want, got[len(got)-3000:])
		}
	}
}

func TestFollowUp(t *testing.T) {
	report := func(tasks ...string) json.RawMessage {
		list := []map[string]string{}
		for _, title := range tasks {
			list = append(list, map[string]string{"title": title, "body": "Do it, @hana.\n\n/run it. Fixes #3"})
		}
		data, err := json.Marshal(map[string]any{"decision": "pass_with_issues", "remaining": list})
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	for _, tt := range []struct {
		name    string
		reports map[string]json.RawMessage
		status  metadata.PhaseStatus
		want    []string // of the tasks; nil: no issue at all
		left    int
	}{
		{"none", map[string]json.RawMessage{"evaluation": report()}, metadata.PhaseCompleted, nil, 0},
		{"two", map[string]json.RawMessage{"evaluation": report("One", "Two")}, metadata.PhaseCompleted, []string{"One", "Two"}, 0},
		{"seven", map[string]json.RawMessage{"evaluation": report("1", "2", "3", "4", "5", "6", "7")}, metadata.PhaseCompleted, []string{"1", "2", "3", "4", "5"}, 2},
		{"twice, and without words", map[string]json.RawMessage{"evaluation": report("One", " one ")}, metadata.PhaseCompleted, []string{"One"}, 0},
		{"any phase, the last first", map[string]json.RawMessage{"design": report("Early"), "report": report("Late"), "evaluation": report()}, metadata.PhaseCompleted, []string{"Late"}, 0},
		{"not completed", map[string]json.RawMessage{"evaluation": report("One")}, metadata.PhaseFailed, nil, 0},
		{"another shape", map[string]json.RawMessage{"evaluation": json.RawMessage(`{"remaining": ["One"]}`), "report": json.RawMessage(`[1]`)}, metadata.PhaseCompleted, nil, 0},
		{"not JSON", map[string]json.RawMessage{"evaluation": json.RawMessage(`{"remaining": [`)}, metadata.PhaseCompleted, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			run := progresstest.Plays(t, "en")["completed"].Run
			for name, r := range tt.reports {
				run.Phase(name).Report, run.Phase(name).Status = r, tt.status
			}
			f := NewFollowUp(run, []string{"todo", "Reprise"}, "reprise")
			if tt.want == nil {
				if f != nil {
					t.Fatalf("there is nothing to do, but an issue:\n%s", f.Body)
				}
				return
			}
			if f == nil {
				t.Fatal("no issue")
			}
			if diff := cmp.Diff([]string{"todo"}, f.Labels); diff != "" {
				t.Errorf("labels (-want +got):\n%s", diff)
			}
			if first := text.FirstLine(f.Body); first != "<!-- reprise:followup:v1 issue=7 -->" || first != f.Marker {
				t.Errorf("the first line is %q, the marker %q", first, f.Marker)
			}
			if n := strings.Count(f.Body, "\n- [ ] "); n != len(tt.want) || strings.Contains(f.Body, fmt.Sprintf("\n_%d more are left out", tt.left)) != (tt.left > 0) {
				t.Errorf("%d tasks, want %d and %d left:\n%s", n, len(tt.want), tt.left, f.Body)
			}
			for _, want := range tt.want {
				if !strings.Contains(f.Body, fmt.Sprintf("- [ ] **%s**\n\n  Do it, `@hana`.\n\n  \\/run it. Fixes `#3`", want)) {
					t.Errorf("the task %q is not in\n%s", want, f.Body)
				}
			}
			progresstest.CheckTold(t, f.Body)
		})
	}
}
