package main

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// FuzzShown puts a text wherever a record, a decision or a fact has one, and
// looks at all that people and programs get to see of it: whatever it is, on
// GitHub it mentions and closes nothing, and in a log it is no command.
func FuzzShown(f *testing.F) {
	for i, text := range []string{
		"Fixes #1 @team ![a](http://b) </details>\n```\n/run\n<!-- reprise:progress:v1 issue=1 -->", "::error::x", "##[add-mask]e", "\r::set-output name=a::b",
		"`a``@b`", "|a|\n|-|", "\u2028/run", "[a]: b\n[a]", "\x1b[31m\u202e\u200b\xff", "&#64;a &commat;b", "<https://a.b/issues/1>", "$`@a`$", strings.Repeat("> ", 20) + "x",
		"\"];\n  click p1 call x()", "%%{init: {}}%%", "-->", "~~~\n/run\n~~~", "   ```\n/lgtm", "1. /approve", "\\\n@a", "a\n===\n@b",
	} {
		f.Add(uint64(i), text)
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 20_000 {
			return
		}
		o := odd{rand.New(rand.NewPCG(seed, 3))}
		run, plan := oddOf[metadata.Run](o), samplePlan("en")
		back := phases.Rewound{Before: run, Run: run, Entry: oddOf[metadata.Rollback](o), Paths: []string{text}, Files: map[string][]byte{text: []byte(text)}}
		s, e, p, c := oddFacts[summaryFacts](o), oddFacts[eventFacts](o), oddFacts[pullFacts](o), oddOf[configFacts](o)
		d, done, activity := oddOf[phases.Decision](o), oddOf[phases.Outcome](o), oddOf[phases.Activity](o)
		for _, v := range []any{&run, &back.Entry, &s, &e, &p, &c, &d, &done, &activity} {
			put(o, reflect.ValueOf(v).Elem(), text)
		}
		p.Images = ownImages
		checkComment(t, seed, comment(plan, run, s.links))
		for name, got := range everything(plan, run, back, s, e, p, c, text) {
			if checkTold(t, got); t.Failed() {
				t.Fatalf("%s:\n%.3000s", name, got)
			}
		}
		for _, title := range []string{pullTitle(run), flat(text)} {
			if strings.ContainsFunc(title, unicode.IsControl) {
				t.Errorf("not one line: %q", title)
			}
		}
		for _, format := range []string{"text", "json"} {
			var log bytes.Buffer
			v := newView(newInert(&log), viewOptions{Plan: plan, Verbose: true, Format: format})
			for _, e := range []phases.Event{{Run: run, Decision: &d}, {Run: run, Of: d, Activity: &activity}, {Run: run, Of: d, Done: &done}} {
				v.Report(e)
			}
			checkLog(t, log.String())
		}
	})
}

// put replaces some of the texts in a value.
func put(o odd, v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && o.IntN(2) == 0 {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			put(o, v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			put(o, v.Field(i), text)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			put(o, v.Index(i), text)
		}
	}
}

// checkLog reads a log as a runner does: it takes a line for a command that
// begins with :: behind any space, or has ##[ somewhere.
func checkLog(t *testing.T, log string) {
	t.Helper()
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[") {
			t.Errorf("a line of the log is %q", line)
		}
	}
}

// FuzzInert writes to a log in pieces of any size.
func FuzzInert(f *testing.F) {
	for _, text := range []string{"::a::b", " \t::a::b\n", "x\r::a::", "x\n\u00a0\u3000::a::\n", "##[error]x", "a ## ##[add-mask]e", "#", ":", "日本::x", "\x00::a::", "\ufeff::a::", "####[x]"} {
		f.Add(text, 1)
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		var log bytes.Buffer
		w := newInert(&log)
		size = max(1, size)
		for rest := text; rest != ""; {
			n, err := w.Write([]byte(rest[:min(size, len(rest))]))
			if err != nil || n != min(size, len(rest)) {
				t.Fatalf("wrote %d: %v", n, err)
			}
			rest = rest[n:]
		}
		checkLog(t, log.String())
		if !strings.ContainsAny(text, ":[") && log.String() != text {
			t.Errorf("%q became %q", text, log.String())
		}
	})
}

// FuzzTrigger reads any event. Nothing is asked unless it is known who asks,
// for which issue, in which repository; and not by a bot, a fork, an edited
// comment or a comment of ours.
func FuzzTrigger(f *testing.F) {
	for _, name := range []string{"issue_comment", "issues", "workflow_dispatch", "repository_dispatch", "pull_request_target", "schedule", ""} {
		for _, more := range []string{
			`"action":"created","comment":{"id":3,"body":"/run","user":{"login":"ada","id":1,"type":"User"},"created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:00:00Z"},"issue":{"number":7}`,
			`"action":"created","comment":{"id":3,"body":"/approve\n<!-- reprise:x -->","user":{"login":"ada"}},"issue":{"number":7}`,
			`"action":"edited","comment":{"id":3,"body":"/run","user":{"login":"dependabot[bot]","type":"Bot"}},"issue":{"number":7,"pull_request":{}}`,
			`"action":"labeled","label":{"name":"Reprise"},"issue":{"number":7,"labels":["reprise"]}`,
			`"inputs":{"issue":"#7","command":"rollback design because\n::error::x"}`,
			`"action":"reprise","client_payload":{"issue":7,"command":"-x"},"inputs":{"issue":"99999999999"}`,
			`"pull_request":{"head":{"repo":{"full_name":"eve/widget"}}}`,
		} {
			f.Add(name, []byte(`{"repository":{"full_name":"acme/widget","default_branch":"main"},"sender":{"login":"ada","id":1,"type":"User"},`+more+`}`), "refs/heads/main", "")
			f.Add(name, []byte(`{"repository":{"full_name":"acme/widget"},"sender":{"login":"eve","type":"Bot"},`+more+`}`), "", "status")
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte, ref, command string) {
		ev, err := github.ReadEvent(name, data)
		if err != nil {
			return
		}
		r := runner{event: name, repository: "acme/widget", actor: "ada", ref: ref}
		asked, no := triggerOf(ev, inputs{label: "reprise", bots: []string{"app[bot]"}, command: command}, r)
		if no != nil {
			if no.Code == "" {
				t.Error("a denial without a reason")
			}
			facts := eventFacts{Event: asked.event, denial: *no}
			checkTold(t, eventSummary("en", facts))
			checkTold(t, handledSummary("ja", replied, facts))
			return
		}
		bot := strings.HasSuffix(asked.by, "[bot]") || ev.Sender.Type == "Bot"
		switch {
		case !strings.EqualFold(asked.by, "ada"), !strings.EqualFold(asked.repository, "acme/widget"), asked.number < 1:
			t.Errorf("%q asks in %q for issue %d", asked.by, asked.repository, asked.number)
		case bot, ev.Head != "" && !strings.EqualFold(ev.Head, "acme/widget"):
			t.Errorf("a bot or a fork is listened to: %+v", ev)
		case ev.DefaultBranch != "" && ref != "" && ref != "refs/heads/"+ev.DefaultBranch:
			t.Errorf("it runs on %q", ref)
		case command == "" && name == "issue_comment" && (asked.comment == nil || asked.comment.Edited() || ev.Action != "created" || strings.Contains(asked.comment.Body, ourMarker) || asked.asked.Outcome == slashIgnored):
			t.Errorf("a comment is obeyed: %+v", ev.Comment)
		}
		checkSlash(t, asked.asked)
	})
}
