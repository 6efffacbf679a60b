package prompts

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

func TestLanguagesSayTheSame(t *testing.T) {
	placeholder := regexp.MustCompile(`\{\w+\}|` + "`[^`]+`")
	en, ja := Words("en").words, Words("ja").words
	for key, text := range en {
		if key == "command.space" { // between sentences, where Japanese has nothing
			continue
		}
		if text == "" || ja[key] == "" {
			t.Errorf("%s: en %q, ja %q: want both", key, text, ja[key])
		}
		in := func(text string) []string {
			found := placeholder.FindAllString(text, -1)
			slices.Sort(found)
			return slices.Compact(found)
		}
		if d := cmp.Diff(in(text), in(ja[key])); d != "" {
			t.Errorf("%s: placeholders and commands (-en +ja):\n%s", key, d)
		}
	}
}

// Who writes a word in one language finds its place in the other at once, and
// no word takes the place of another one without notice.
func TestFilesOfWordsHaveTheSameKeysInTheSameOrder(t *testing.T) {
	en, ja := keysInOrder(t, englishWords), keysInOrder(t, japaneseWords)
	if d := cmp.Diff(en, ja); d != "" {
		t.Errorf("keys (-en +ja):\n%s", d)
	}
	for _, keys := range [][]string{en, ja} {
		slices.Sort(keys)
		for i := 1; i < len(keys); i++ {
			if keys[i] == keys[i-1] {
				t.Errorf("%s stands there twice", keys[i])
			}
		}
	}
}

// keysInOrder gives the path of every text of a file, as they stand there.
func keysInOrder(t *testing.T, data []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	var keys []string
	var object func(path string)
	next := func() json.Token {
		token, err := d.Token()
		testenv.Must(t, err)
		return token
	}
	object = func(path string) {
		for key := next(); key != json.Delim('}'); key = next() {
			if next() == json.Delim('{') {
				object(path + "." + key.(string))
			} else {
				keys = append(keys, path+"."+key.(string))
			}
		}
	}
	next()
	object("")
	return keys
}

func TestWordsAreInTheirLanguage(t *testing.T) {
	// An issue is an Issue. A space stands between Japanese and Latin letters, and around brackets, which are half-width.
	style := regexp.MustCompile(`課題|イシュー|[（）：；！？]|[\p{Hiragana}\p{Katakana}\p{Han}ー](\(|[A-Za-z0-9` + "`" + `])|[A-Za-z0-9)` + "`" + `][\p{Hiragana}\p{Katakana}\p{Han}]`)
	for _, language := range metadata.Languages() {
		for key, text := range Words(language).words {
			if other := foreign(language, text) + style.FindString(text); other != "" {
				t.Errorf("%s %s: %q is written otherwise in all other texts: %s", language, key, other, text)
			}
		}
	}
}

// Whoever adds a reason code to the record must say what it means.
func TestEveryCodeIsExplained(t *testing.T) {
	codes := constants(t, "../metadata/verdict.go", "Code")
	if len(codes) < 20 {
		t.Fatalf("found %d codes: %q", len(codes), codes)
	}
	for _, language := range metadata.Languages() {
		c := Words(language)
		var explained []string
		for key := range c.words {
			if code, is := strings.CutSuffix(key, ".meaning"); is && strings.HasPrefix(code, "codes.") {
				explained = append(explained, strings.TrimPrefix(code, "codes."))
			}
		}
		slices.Sort(explained)
		if d := cmp.Diff(codes, explained); d != "" {
			t.Errorf("%s: codes (-record +catalogue):\n%s", language, d)
		}
	}
	for _, typ := range []string{"Status", "PhaseStatus", "AttemptStatus"} {
		for _, status := range constants(t, "../metadata/run.go", typ) {
			if Words("en").words["statuses."+status] == "" {
				t.Errorf("no word for the status %q of type %s", status, typ)
			}
		}
	}
	for _, kind := range constants(t, "clean/clean.go", "Kind") {
		if Words("en").words["kinds."+kind] == "" {
			t.Errorf("no word for the kind %q", kind)
		}
	}
}

// constants returns the values of all string constants of a type in a file.
func constants(t *testing.T, file, typ string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	testenv.Must(t, err)
	var values []string
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) == 0 {
			return true
		}
		if name, ok := spec.Type.(*ast.Ident); ok && name.Name == typ {
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			testenv.Must(t, err)
			values = append(values, value)
		}
		return true
	})
	slices.Sort(values)
	return values
}

func TestCatalogue(t *testing.T) {
	en, ja := Words("en"), Words("ja")
	for _, tt := range []struct{ got, want string }{
		{en.Headline(2, 10, "design", "review"), "Phase 2 of 10: design, review"},
		{ja.Headline(2, 10, "design", "review"), "フェーズ 2/10: design、レビュー"},
		{en.Headline(1, 1, "{m}", "{phase}"), "Phase 1 of 1: {m}, {phase}"},
		{en.Say("round", "n", 3), "round 3"},
		{ja.Say("round", "n", 3), "3 回目"},
		{en.Spent(1.234, 10, false), "$1.23 of $10.00"},
		{en.Spent(0.5, 0, true), "about $0.50"},
		{en.Spent(0.004, 10, true), "<$0.01 of $10.00"},
		{en.Spent(0, 10, false), "$0.00 of $10.00"},
		{ja.Spent(1.2, 10, true), "約 $1.20 (予算 $10.00)"},
		{en.Duration(12400 * time.Millisecond), "12 s"},
		{en.Duration(250 * time.Second), "4 min 10 s"},
		{ja.Duration(250 * time.Second), "4分10秒"},
		{en.Duration(3*time.Hour + 125*time.Second), "3 h 2 min"},
		{en.Duration(-time.Second), "0 s"},
		{en.Say("open", "blockers", 2, "suggestions", 1), "Open: blockers 2, suggestions 1"},
		{en.RolledBack("report", "design", "revise", "hana", false), "Taken back from report to design (revise) by hana"},
		{en.RolledBack("report", "design", "revise", "", false), "Taken back from report to design (revise)"},
		{en.RolledBack("report", "design", "revise", "", true), "Taken back from report to design (revise) by the pipeline"},
		{en.RolledBack("report", "design", "revise", "hana", true), "Taken back from report to design (revise) by an agent that hana asked"},
		{ja.RolledBack("report", "design", "revise", "", true), "パイプラインが report から design (修正) へ差し戻し"},
		{ja.RolledBack("report", "design", "revise", "hana", true), "hana が調査を依頼したエージェントが report から design (修正) へ差し戻し"},
		{en.WaitingFor("maintain", "design"), "design waits for the approval of somebody with the role maintain"},
		{ja.WaitingFor("", "design"), "design は人の対応を待っています"},
		{en.Explain("stuck").Meaning, "Two rounds in a row had the same outcome."},
		{en.Explain("new_code").Meaning, "The run stopped with the code new_code."},
		{Words("fr").Language, "en"},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
	_, removed := clean.Text("a\u200bb<!-- {count} -->")
	want := []string{"zero-width characters: 1, the first: {200B}", "HTML comments: 1, the first: {3C}{21}-- {7B}count{7D} --{3E}"}
	if d := cmp.Diff(want, en.RemovedFrom(removed)); d != "" {
		t.Errorf("RemovedFrom (-want +got):\n%s", d)
	}
}
