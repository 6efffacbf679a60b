package report

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/url"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// pageOf gives the page of facts.
func pageOf(t testing.TB, f Facts) string {
	t.Helper()
	page, err := Page(f)
	testenv.Must(t, err)
	return string(page)
}

// Every state of a run has a page, in both languages, that says what the run is
// about, and has each attempt once.
func TestPages(t *testing.T) {
	for _, language := range metadata.Languages() {
		for name, p := range progresstest.Plays(t, language) {
			page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run, At: p.At})
			shown := textsOf(t, page)
			for _, want := range []string{"#7 " + p.Run.IssueTitle, words{Catalogue: prompts.Words(language)}.word("statuses", p.Run.Status), "reprise/issue-7"} {
				if !strings.Contains(shown, want) {
					t.Errorf("%s, %s: the page does not say %q", language, name, want)
				}
			}
			for _, a := range p.Run.Attempts {
				if n := strings.Count(page, fmt.Sprintf(`id="attempt-%d"`, a.N)); n != 1 {
					t.Errorf("%s, %s: attempt %d is there %d times", language, name, a.N, n)
				}
			}
			for _, b := range p.Run.RollbackHistory {
				if reason := text.Visible(b.Reason); !strings.Contains(shown, reason) {
					t.Errorf("%s, %s: the page does not say why the run was taken back", language, name)
				}
			}
			checkPage(t, page)
		}
	}
}

// What a person should do stands on the page.
func TestNext(t *testing.T) {
	plays := progresstest.Plays(t, "en")
	for name, want := range map[string]string{
		"stuck": "reprise rollback --issue 7 --to-phase ", "budget": "reprise run --issue 7 --more usd=",
		"approval": "reprise approve --issue 7", "completed": "The run is completed.", "middle": "reprise run --issue 7",
	} {
		p := plays[name]
		if page := textsOf(t, pageOf(t, Facts{Plan: p.Plan, Run: p.Run})); !strings.Contains(page, want) {
			t.Errorf("%s: the page does not say %q", name, want)
		}
	}
	p, said := plays["agent"], "codex: not logged in"
	p.Run.Attempts[len(p.Run.Attempts)-1].Stderr = said
	if top, _, _ := strings.Cut(textsOf(t, pageOf(t, Facts{Plan: p.Plan, Run: p.Run})), "Timeline"); strings.Count(top, said) != 1 {
		t.Errorf("what the agent said last stands there twice, or not at all:\n%s", top)
	}
}

// Where a run stopped between two steps, no step is named.
func TestWhere(t *testing.T) {
	p := progresstest.Plays(t, "en")["red"]
	if shown := textsOf(t, pageOf(t, Facts{Plan: p.Plan, Run: p.Run})); !strings.Contains(shown, "at Implementation (phase 5 of 10)") {
		t.Errorf("the page begins with %.200q", shown)
	}
}

// Of what a check has printed the end is shown, where it says what failed.
func TestChecks(t *testing.T) {
	p := progresstest.Plays(t, "en")["red"]
	rec := p.Run.Phase("implementation")
	rec.Checks.Results[0].Output = "the beginning\n" + strings.Repeat("ok <b>\n", 1000) + "FAIL: the end\n"
	shown := textsOf(t, pageOf(t, Facts{Plan: p.Plan, Run: p.Run}))
	if !strings.Contains(shown, "FAIL: the end") || strings.Contains(shown, "the beginning") {
		t.Error("the page does not have the end of the output")
	}
}

// hostile are texts that a browser would act on where they are not escaped.
var hostile = append(progresstest.HostileTexts(),
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "</style><script>alert(1)</script>",
	"</title><svg onload=alert(1)>", "</pre></details><iframe src=https://evil.example>", "javascript:alert(1)", "data:text/html,<b>", "//evil.example/x",
	`https://evil.example/"onclick="alert(1)`, "https://a@evil.example", "<!--", "--><b>", "]]><b>", "&lt;b&gt;", "{{.}}", "<\x00script>", "+<b>x", "-</span><b>",
)

// FuzzPage puts a text wherever a record has one: the page has no element, no
// attribute and no address that the template did not write.
func FuzzPage(f *testing.F) {
	for i, text := range hostile {
		f.Add(uint64(i), text)
	}
	f.Fuzz(func(t *testing.T, seed uint64, body string) {
		if len(body) > 20_000 {
			return
		}
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 5))}
		run := progresstest.OddOf[metadata.Run](o)
		progresstest.Put(o, reflect.ValueOf(&run).Elem(), body)
		run.IssueTitle = body
		changes := []Change{{Attempt: 1, Commit: body, Patch: "diff --git a/x b/x\n@@ -1 +1 @@\n+" + body + "\n-" + body + "\n" + body}}
		if len(run.Attempts) > 0 {
			run.Attempts[0].N = 1
		}
		said := map[int][]agents.Entry{1: {{Kind: agents.Begins, Text: body}}}
		for _, kind := range []agents.EntryKind{agents.Said, agents.Thought, agents.Used, agents.Back, agents.Note, agents.Ends} {
			said[1] = append(said[1], agents.Entry{Kind: kind, Tool: body, Text: body, Bad: seed%2 == 0})
		}
		page := pageOf(t, Facts{Plan: progresstest.OddPlan(o), Run: run, Changes: changes, Transcripts: said})
		checkPage(t, page)
		checkPage(t, indexOf(t, Index{Repository: body, Runs: []Indexed{{Run: run, Page: "issue-7.html"}}}))
		if title := line(body, 300); !strings.Contains(textsOf(t, page), title) && !strings.Contains(title, "\r") {
			t.Errorf("the title %q is not on the page as it is", title)
		}
	})
}

// hostileTo makes the test below write its pages.
var hostileTo = flag.String("hostile", "", "folder to write to, for internal/pictures/hostile.mjs")

// TestHostilePages puts each of these texts wherever a record has one. With a folder the
// pages are written for a browser, which says more than any look at them.
func TestHostilePages(t *testing.T) {
	const acts = "document.title='acted';fetch('http://acted.example/');alert(1)"
	texts := []string{"<script>" + acts + "</script>", `"><img src=http://acted.example/ onerror="` + acts + `">`, "</style></title></pre></details><script>" + acts + "</script>", "<link rel=stylesheet href=http://acted.example/><style>@import 'http://acted.example/'</style>", "</svg><svg onload=\"" + acts + "\"><iframe src=http://acted.example/>"}
	for i, body := range texts {
		p := progresstest.Plays(t, "en")["rolledback"]
		for seed := range uint64(4) { // each takes half of the fields
			progresstest.Put(progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 6))}, reflect.ValueOf(&p.Run).Elem(), body)
		}
		facts := Facts{Plan: p.Plan, Run: p.Run, At: p.At, Transcripts: map[int][]agents.Entry{}}
		for n := range facts.Run.Attempts {
			facts.Run.Attempts[n].N = n + 1
			facts.Changes = append(facts.Changes, Change{Attempt: n + 1, Commit: body, Patch: "diff --git a/x b/x\n@@ -1 +1 @@\n+" + body + "\n"})
			facts.Transcripts[n+1] = []agents.Entry{{Kind: agents.Begins, Text: body}, {Kind: agents.Said, Text: body}, {Kind: agents.Used, Tool: body, Text: body}}
		}
		page := pageOf(t, facts)
		checkPage(t, page)
		if n := strings.Count(textsOf(t, page), line(body, 60)[:20]); n < 20 {
			t.Errorf("text %d is on the page %d times only", i, n)
		}
		if *hostileTo == "" {
			continue
		}
		body = strings.ReplaceAll(body, ";alert(1)", "") // a dialog would keep the browser from ending
		for name, data := range map[string]string{"page": page, "control": "<!doctype html><title>x</title><p>" + body} {
			testenv.Put(t, filepath.Join(*hostileTo, fmt.Sprintf("%s-%d.html", name, i)), data)
		}
	}
}

// What an attempt was refused by its network stands on the page, with what would open it.
func TestRefusedHosts(t *testing.T) {
	for _, language := range metadata.Languages() {
		p := progresstest.Plays(t, language)["completed"]
		p.Run.Attempts[1].Refused = "evil.example:443 (2), <b>.example:80 (1)"
		page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run})
		checkPage(t, page)
		shown, say := textsOf(t, page), prompts.Words(language).Say("tell.refusedHosts")
		for _, want := range []string{"evil.example:443 (2), <b>.example:80 (1)", `network: allow: ["evil.example:443", "<b>.example:80"]`} {
			if strings.Count(shown, want) != 1 || strings.Count(shown, say) != 1 {
				t.Errorf("%s: %q and %q are not on it once", language, want, say)
			}
		}
	}
}

// In the place of a phase's name people read its title, wherever the page has one.
func TestTitlesOfPhases(t *testing.T) {
	p := progresstest.Plays(t, "en")["rolledback"]
	for i := range p.Plan.Phases {
		p.Plan.Phases[i].Title = "Stage " + fmt.Sprint(i)
	}
	shown := textsOf(t, pageOf(t, Facts{Plan: p.Plan, Run: p.Run, At: p.At}))
	for _, a := range p.Run.Attempts {
		if name := fmt.Sprintf("#%d %s", a.N, a.Phase); strings.Contains(shown, name) {
			t.Errorf("an attempt is headed %q", name)
		}
	}
	if b := p.Run.RollbackHistory[0]; strings.Contains(shown, "to "+b.ToPhase) || !strings.Contains(shown, "to Stage ") {
		t.Error("the rollback names no title")
	}
}

// A merge of the base is a moment in the timeline, and said below it.
func TestMergesInTheTimeline(t *testing.T) {
	for language, want := range map[string]string{"en": "2 commits of main are merged", "ja": "main の 2 コミットを取り込みました"} {
		p := progresstest.Plays(t, language)["rolledback"]
		if page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run}); strings.Contains(page, `class="merge"`) {
			t.Error("the page of a run without a merge shows one")
		}
		at := p.Run.Attempts[3].StartedAt
		p.Run.Decisions = append(p.Run.Decisions, metadata.Decision{At: at, Step: "merge", Phase: "build", Why: metadata.Because("base_merged", "branch", "main", "n", 2)})
		page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run})
		checkPage(t, page)
		if lanes := strings.Count(page, "<svg viewBox=\"0 0 1000 20\""); lanes == 0 || strings.Count(page, want+"</title>") != lanes {
			t.Errorf("%d of %d lanes say %q", strings.Count(page, want+"</title>"), lanes, want)
		}
		if shown := textsOf(t, page); strings.Count(shown, want) < 2 || !strings.Contains(shown, text.Clock(at)) {
			t.Errorf("%q is not said below the lanes, with its time", want)
		}
	}
}

// TestOddPages shows records that no check would pass.
func TestOddPages(t *testing.T) {
	for seed := range uint64(200) {
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 4))}
		checkPage(t, pageOf(t, Facts{Run: progresstest.OddOf[metadata.Run](o), Plan: progresstest.OddPlan(o)}))
	}
}

// A browser is told to load nothing, and the style that it may use is that of
// the page to the byte.
func TestPolicy(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run})
	_, rest, _ := strings.Cut(page, "<style>")
	style, _, _ := strings.Cut(rest, "</style>")
	if style != styleText {
		t.Error("the style on the page is not the one that the policy allows")
	}
	if regexp.MustCompile(`(?i)url\(|@import`).MatchString(style) {
		t.Error("the style loads something")
	}
	if policy := policy(); !strings.HasPrefix(policy, "default-src 'none'; style-src 'sha256-") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
}

// A command is broken at its blanks alone, and scrolled where one of its words is too long
// for a phone: broken inside a word, or behind the dashes of an option, it cannot be read.
func TestCommandsAreBrokenAtBlanks(t *testing.T) {
	p := progresstest.Plays(t, "en")["stuck"]
	page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run})
	if want := `<pre class="command"><span>reprise</span> <span>rollback</span> <span>--issue</span> <span>7</span> <span>--to-phase</span>`; !strings.Contains(page, want) {
		t.Errorf("the page has no command as %s", want)
	}
	screen, _, _ := strings.Cut(styleText, "@media print")
	for _, rule := range []string{".command { overflow-x: auto; overflow-wrap: normal; }", ".command span { white-space: pre; }"} {
		if !strings.Contains(screen, rule) {
			t.Errorf("the style has no %s", rule)
		}
	}
}

// No words of the page lack a value.
func TestWords(t *testing.T) {
	for _, p := range progresstest.Plays(t, "en") {
		page := pageOf(t, Facts{Plan: p.Plan, Run: p.Run, Changes: []Change{{Attempt: 1, Patch: manyLines(10_000)}}})
		if missing := regexp.MustCompile(`\{[a-z]+[|}]`).FindString(textsOf(t, page)); missing != "" {
			t.Errorf("the page has %q instead of a value", missing)
		}
	}
}

// large gives a run of so many attempts, with the diffs of each.
func large(t testing.TB, attempts int) Facts {
	p := progresstest.NewPlay(t, "en")
	p.Passing("report")
	f := Facts{Plan: p.Plan, Run: p.Run, At: p.At, Transcripts: map[int][]agents.Entry{}}
	f.Run.Attempts = nil
	for i := range attempts {
		a := p.Run.Attempts[i%len(p.Run.Attempts)]
		a.N, a.StartedAt = i+1, progresstest.Nine.Add(time.Duration(i)*time.Minute)
		a.Why, a.Stderr = metadata.Said(strings.Repeat("It is <not> what was asked for. ", 8)), strings.Repeat("a line of \"trouble\"\n", 30)
		f.Run.Attempts = append(f.Run.Attempts, a)
		f.Transcripts[a.N] = []agents.Entry{{Kind: agents.Begins, Text: strings.Repeat("Do <it>. ", 500)}, {Kind: agents.Said, Text: "I have seen the file."}}
		for range 50 {
			f.Transcripts[a.N] = append(f.Transcripts[a.N], agents.Entry{Kind: agents.Used, Tool: "Read", Text: "a/file.go"}, agents.Entry{Kind: agents.Back, Text: "it has <a> line"})
		}
		f.Changes = append(f.Changes, Change{Attempt: a.N, Commit: strings.Repeat("c", 40), Patch: manyLines(400)})
	}
	return f
}

func manyLines(n int) string {
	var b strings.Builder
	b.WriteString("diff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n")
	for i := range n {
		fmt.Fprintf(&b, "%cline %d of <a> \"file\"\n", "+- "[i%3], i)
	}
	return b.String()
}

// What was said is folded below its attempt; of many attempts that of the newest.
func TestTalk(t *testing.T) {
	f := large(t, 300)
	shown := textsOf(t, pageOf(t, f))
	if _, last, _ := strings.Cut(shown, "#300 "); !strings.Contains(last, "Transcript: 101 entries") || !strings.Contains(last, "→ Read a/file.go") || !strings.Contains(last, "Do <it>.") {
		t.Error("the page does not show what was said last")
	}
	if !strings.Contains(shown, "reprise logs shows them") {
		t.Error("the page does not say that something was said that it leaves out")
	}
}

// The page of a long run stays small, and says what is not on it.
func TestSize(t *testing.T) {
	page := pageOf(t, large(t, 300))
	if len(page) > 2_000_000 {
		t.Errorf("the page of 300 attempts has %d bytes", len(page))
	}
	if !strings.Contains(page, "Left out here: ") {
		t.Error("the page does not say that lines are left out")
	}
	one := Facts{Run: large(t, 1).Run, Changes: []Change{{Attempt: 1, Commit: "0123456789abcdef", Patch: manyLines(10_000)}}}
	shown := textsOf(t, pageOf(t, one))
	if !strings.Contains(shown, "Diff of 1 file: 3334 lines added, 3333 deleted") || !strings.Contains(shown, "in the commit 0123456789ab") {
		t.Error("the diff of one attempt does not say how large it is, or where the rest is")
	}
}

func BenchmarkPage(b *testing.B) {
	f := large(b, 300)
	for b.Loop() {
		pageOf(b, f)
	}
}

// written are the elements of the page with the attributes that they may have.
var written = map[string][]string{
	"html": {"lang"}, "head": nil, "body": nil, "title": nil, "style": nil, "meta": {"charset", "http-equiv", "content", "name"},
	"i": {"class"}, "header": nil, "main": nil, "footer": {"class"}, "section": {"class"}, "article": {"class", "id"}, "div": {"class"}, "span": {"class"}, "strong": nil,
	"h1": nil, "h2": nil, "h3": nil, "p": {"class"}, "pre": {"class"}, "code": nil, "blockquote": {"class"}, "details": {"open"}, "summary": nil,
	"ul": {"class"}, "li": nil, "dl": {"class"}, "dt": nil, "dd": nil, "table": nil, "tbody": nil, "tr": nil, "td": nil, "th": {"scope"},
	"a": {"href", "rel"}, "svg": {"class", "viewbox", "viewBox", "preserveAspectRatio", "role", "aria-label", "aria-hidden"},
	"rect": {"class", "x", "width", "height"}, "path": {"class", "d"},
}

// checkPage reads a page as a browser does.
func checkPage(t *testing.T, page string) {
	t.Helper()
	number := regexp.MustCompile(`^\d+(\.\d)?$`)
	walk(t, page, func(n *html.Node) {
		if n.Type == html.CommentNode {
			t.Errorf("there is a comment: %q", n.Data)
		}
		if n.Type != html.ElementNode {
			return
		}
		allowed, known := written[n.Data]
		if !known {
			t.Errorf("there is an element %s", n.Data)
		}
		for _, a := range n.Attr {
			if !slices.Contains(allowed, a.Key) {
				t.Errorf("the element %s has an attribute %s=%q", n.Data, a.Key, a.Val)
			}
			switch a.Key {
			case "href":
				u, err := url.Parse(a.Val)
				if own := regexp.MustCompile(`^(#attempt--?\d+|issue-[a-z0-9-]+\.html)$`).MatchString(a.Val); !own && (err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil) {
					t.Errorf("there is a link to %q", a.Val)
				}
			case "x", "width", "height":
				if !number.MatchString(a.Val) {
					t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
				}
			case "class":
				if !regexp.MustCompile(`^[a-z ]+$`).MatchString(a.Val) {
					t.Errorf("%s has the class %q", n.Data, a.Val)
				}
			}
		}
	})
}

// walk gives every node of a page to see.
func walk(t *testing.T, page string, see func(*html.Node)) {
	t.Helper()
	doc, err := html.Parse(strings.NewReader(page))
	testenv.Must(t, err)
	for n := range doc.Descendants() {
		see(n)
	}
}

// textsOf gives all that a page says.
func textsOf(t *testing.T, page string) string {
	t.Helper()
	var b strings.Builder
	walk(t, page, func(n *html.Node) {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	})
	return b.String()
}
