package metadata

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestParseRefuses(t *testing.T) {
	formatted := formatted(t, sample())
	file := string(formatted)
	with := func(old, repl string) string {
		if !strings.Contains(file, old) {
			t.Fatalf("the sample has no %s", old)
		}
		return strings.Replace(file, old, repl, 1)
	}
	const unknown = "unknown field: there is none of that name here"
	for name, test := range map[string]struct {
		text string
		at   string // the place in the text that the error must point to
		want string // empty: the text is accepted
	}{
		"empty":          {"", "", "m.json:1:1: it is empty"},
		"only spaces":    {" \n ", "", "it is empty"},
		"not an object":  {"[1]", "[", "a list does not fit here; an object is expected"},
		"no JSON":        {"hello", "h", "invalid character 'h' at start of value"},
		"merge conflict": {with(`  "cursor"`, "<<<<<<< HEAD\n  \"cursor\""), "<<<<<<<", "invalid character '<' at start of value"},
		"cut off":        {file[:len(file)/2], "", "it ends in the middle: it was cut off"},
		"trailing data":  {file + "{}", "{}", "invalid character '{' after top-level value"},

		"unknown field":            {with(`"cursor"`, `"curser"`), `"curser"`, "curser: " + unknown},
		"other case":               {with(`"cursor"`, `"Cursor"`), `"Cursor"`, "Cursor: " + unknown},
		"unknown field of a phase": {with(`"rollback_context"`, `"rollback"`), `"rollback"`, "phases.planning.rollback: " + unknown},
		"unknown field in a list":  {with(`"turns": 3`, `"turn": 3`), `"turn"`, "attempts[0].usage.turn: " + unknown},
		"a name twice":             {with(`"cursor": `, `"cursor": "a", "cursor": `), `"cursor": "IC_1"`, "cursor: the name occurs twice"},
		"a phase twice":            {with(`"testing": {`, `"design": {`), "", "phases.design: the name occurs twice"},
		"twice, deep":              {with(`"complexity": "high"`, `"x": 1, "x": 2`), `"x": 2`, "phases.planning.report.x: the name occurs twice"},

		"text, not int":    {with(`"round": 1`, `"round": "one"`), `"one"`, "phases.planning.round: text does not fit here; a whole number is expected"},
		"not whole":        {with(`"round": 1`, `"round": 1.5`), `1.5`, "phases.planning.round: a number does not fit here; a whole number is expected"},
		"list of phases":   {with(`"phases": {`, `"phases": [9], "x": {`), "[9]", "phases: a list does not fit here; an object is expected"},
		"no time":          {with(`"2026-01-31T12:09:00Z"`, `"yesterday"`), `"yesterday"`, "stop.at: text does not fit here; a time such as 2026-01-31T12:00:00Z is expected"},
		"bool, not text":   {with(`"IC_1"`, `true`), "true,\n  \"pull_cursor", "cursor: true or false does not fit here; text is expected"},
		"number, not bool": {with(`"resumed": true`, `"resumed": 1`), "", "attempts[3].resumed: a number does not fit here; true or false is expected"},
		"object, not list": {with(`"attempts": [`, `"attempts": {}, "x": [`), "{}, ", "attempts: an object does not fit here; a list is expected"},
		"text, not amount": {with(`"usd": 10`, `"usd": "10"`), `"10"`, "budget.usd: text does not fit here; a number is expected"},
		"list, not object": {with(`"budget": {`, `"budget": [], "x": {`), "[], ", "budget: a list does not fit here; an object is expected"},
		"too large":        {with(`"revision": 9`, `"revision": 9e99`), "9e99", "revision: a number does not fit here; a whole number is expected"},
		"not UTF-8":        {with(`"IC_1"`, "\"\xff\""), "\xff", "cursor: invalid UTF-8"},

		"no schema":          {with(`  "schema": 4,`, ``), "{", "schema: is missing: this is not a record that reprise wrote"},
		"no schema, cut off": {`{"x":`, "", "it ends in the middle: it was cut off"},
		"newer":              {with(`"schema": 4`, `"schema": 5`), `"schema": 5`, "schema: the record has version 5 of the format and this reprise knows 4: use a newer reprise"},
		"before the oldest":  {with(`"schema": 4`, `"schema": 2`), `"schema": 2`, "schema: the record has version 2 of the format, and this reprise reads none before 3: begin the run of the issue anew"},
		"newer, and alien":   {`{"x":[{}],"schema":12,"y":3}`, `"schema"`, "schema: the record has version 12 of the format and this reprise knows 4: use a newer reprise"},
		"schema 0":           {with(`"schema": 4`, `"schema": 0`), `"schema": 0`, "schema: 0 is not the number of a version of the format"},
		"schema 1.0":         {with(`"schema": 4`, `"schema": 1.0`), `"schema": 1.0`, "schema: 1.0 is not the number of a version of the format"},
		"schema is text":     {with(`"schema": 4`, `"schema": "1"`), `"schema": "1"`, `schema: "1" is not the number of a version of the format`},

		"invalid":             {with(`"status": "completed"`, `"status": "done"`), `"status": "done"`, `phases.planning.status: "done" is not one of pending, in_progress, completed, failed, skipped`},
		"invalid in a list":   {with(`"turns": 3`, `"turns": -3`), `"turns": -3`, "attempts[0].usage.turns: -3 is less than 0"},
		"left out":            {with(`  "cursor": "IC_1",`, ``), "", ""},
		"left out but needed": {with(`  "language": "en",`, ``), "{", `language: "" is not one of en, ja`},
		"null is empty":       {with(`"completed_steps": []`, `"completed_steps": null`), "", ""},
		"other zone":          {with(`"at": "2026-01-31T12:09:00Z"`, `"at": "2026-01-31T12:09:00+00:00"`), `"at": "2026-01-31T12:09:00+`, "stop.at: "},
		"two mistakes": {
			strings.NewReplacer(`"turns": 3`, `"turns": -3`, `"reprise/issue-7"`, `"-x"`).Replace(file), `"branch_name"`,
			"branch_name: \"-x\" is not a name of a branch that git takes, in UTF-8 and at most 200 bytes\nm.json:",
		},
		"deep report": {
			with(`"complexity": "high"`, `"x": `+strings.Repeat("[", 200)+strings.Repeat("]", 200)), `"report"`,
			"phases.planning.report: is nested deeper than 100",
		},
		"very deep":   {with(`"complexity": "high"`, `"x": `+strings.Repeat("[", 1e6)), "", "exceeded max depth"},
		"deep at top": {strings.Repeat("[", 1e6), "", "a list does not fit here; an object is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Parse([]byte(test.text), "m.json")
			want := test.want
			if test.at != "" {
				line, column := positionIn([]byte(test.text), int64(strings.Index(test.text, test.at)))
				want = fmt.Sprintf("m.json:%d:%d: %s", line, column, want)
			}
			switch {
			case want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case want != "" && err == nil:
				t.Errorf("accepted, want %s", want)
			case err != nil && !strings.Contains(err.Error(), want):
				t.Errorf("got  %v\nwant %s", err, want)
			case err != nil && r.Schema != 0:
				t.Error("half a record came with the error")
			}
		})
	}
}

// A report that is as deep and as wide as it can be costs no more to refuse
// than its size: looking for the place of the mistake does not go into it.
func TestParseRefusesDepthQuickly(t *testing.T) {
	golden := formatted(t, sample())
	const depth = 5000
	deep := strings.Repeat("[", depth) + strings.Repeat("1,", 200000) + "1" + strings.Repeat("]", depth)
	var err error
	took := testenv.Busy(func() { _, err = Parse([]byte(strings.Replace(string(golden), `"high"`, deep, 1)), "m.json") })
	if err == nil || !strings.Contains(err.Error(), "is nested deeper than 100") {
		t.Errorf("got %v", err)
	}
	if took > 2*time.Second {
		t.Errorf("took %v", took)
	}
}

func TestPosition(t *testing.T) {
	for offset, want := range map[int64]string{-1: "1:1", 0: "1:1", 1: "1:2", 2: "1:3", 3: "2:1", 4: "3:1", 5: "3:2", 99: "3:3"} {
		if line, column := positionIn([]byte("ab\n\ncd"), offset); fmt.Sprintf("%d:%d", line, column) != want {
			t.Errorf("byte %d is at %d:%d, want %s", offset, line, column, want)
		}
	}
}

func TestParseRefusesTooMuch(t *testing.T) {
	_, err := Parse(make([]byte, MaxSize+1), "m.json")
	if err == nil || !strings.Contains(err.Error(), fmt.Sprint("m.json: has ", MaxSize+1, " bytes")) {
		t.Errorf("got %v", err)
	}
}

// A record in the place of another issue's is refused; and what is nested without end is told
// in a line.
func TestParseOf(t *testing.T) {
	data := formatted(t, sample())
	if run, err := ParseOf("7", data, File); err != nil || run.IssueNumber != "7" {
		t.Errorf("%q, %v", run.IssueNumber, err)
	}
	if _, err := ParseOf("8", data, File); err == nil || err.Error() != `metadata.json: issue_number: is "7", in the place of the record of issue 8` {
		t.Errorf("of another issue: %v", err)
	}
	if _, err := Parse([]byte(strings.Repeat("[", 1<<20)), File); err == nil || len(err.Error()) > 400 {
		t.Errorf("nested without end: %.600v", err)
	}
	if _, err := Parse([]byte(`{"phases":{"`+strings.Repeat("a", 1<<20)+`":5}}`), File); err == nil || len(err.Error()) > 400 {
		t.Errorf("a name without end: %.600v", err)
	}
}

// Records have the names that reason codes and steps had when they were written.
func TestOlderNames(t *testing.T) {
	for was, now := range map[string]Code{
		"no_trigger": NothingDone, "bot_denied": PermissionDenied, "fork_denied": PermissionDenied, "confused_deputy": PermissionDenied,
		"edited_comment": PermissionDenied, "day_budget": BudgetExceeded, "protected_path": ChangeRefused, "patch_too_large": ChangeRefused, "stuck": Stuck,
	} {
		run := sample()
		run.Stop.Code, run.Attempts[0].Code = Code(was), Code(was)
		run.Decisions[0].Step = "reject"
		rename(&run)
		if run.Stop.Code != now || run.Attempts[0].Code != now || run.Decisions[0].Step != "rollback" {
			t.Errorf("%s is read as %s and %s, a rejection as %s", was, run.Stop.Code, run.Attempts[0].Code, run.Decisions[0].Step)
		}
	}
}
