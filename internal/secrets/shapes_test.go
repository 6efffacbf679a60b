package secrets

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// letters gives n letters that nobody has seen before the test runs, so that no
// program that looks through this repository takes one for a secret.
func letters(n int, from string) string {
	random := rand.New(rand.NewPCG(7, uint64(n)))
	b := make([]byte, n)
	for i := range b {
		b[i] = from[random.IntN(len(from))]
	}
	return string(b)
}

const (
	capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	mixed    = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
)

func TestShapesAreFound(t *testing.T) {
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(letters(64, mixed)+"\n", 24) + "-----END RSA " + "PRIVATE KEY-----"
	f := New()
	for name, value := range map[string]string{
		"aws-access-token":        "AKIA" + letters(16, capitals+"234567"),
		"github-pat":              "ghp_" + letters(36, mixed),
		"github-app-token":        "ghs_" + letters(36, mixed),
		"github-token":            "ghs_12345_" + letters(120, mixed+"-_."),
		"github-fine-grained-pat": "github_pat_" + letters(82, mixed),
		"anthropic-api-key":       "sk-ant-api03-" + letters(93, mixed+"-_") + "AA",
		"anthropic-token":         "sk-ant-oat01-" + letters(93, mixed+"-_"),
		"openai-api-key":          "sk-" + letters(20, mixed) + "T3BlbkFJ" + letters(20, mixed),
		"openai-key":              "sk-proj-" + letters(60, mixed),
		"gcp-api-key":             "AIza" + letters(35, mixed),
		"google-refresh-token":    "1//0" + letters(60, mixed+"-_"),
		"google-client-secret":    "GOCSPX-" + letters(28, mixed+"-_"),
		"codex-refresh-token":     "rt_" + letters(43, mixed) + "." + letters(43, mixed),
		"aws-secret-access-key":   "SecretAccessKey: " + letters(40, mixed+"/+"),
		"aws-session-token":       "IQoJb3JpZ2luX2Vj" + letters(1400, mixed+"/+") + "==",
		"slack-bot-token":         "xoxb-" + letters(12, "0123456789") + "-" + letters(12, "0123456789") + letters(24, mixed),
		"private-key":             pem,
		"stripe-access-token":     "sk_live_" + letters(24, mixed),
		"jwt":                     "eyJ" + letters(40, mixed) + ".eyJ" + letters(60, mixed) + "." + letters(43, mixed),
	} {
		for _, form := range []string{"const token = \"%s\"\n", "%s", "// old: %s\n", "export KEY='%s';\n", `{"k":"%s"}`} {
			text := strings.Repeat("a line of code that says nothing\n", 500) + fmt.Sprintf(form, value)
			hits, err := f.Find([]byte(text))
			if err != nil || len(hits) != 1 {
				t.Errorf("%s in %q: hits %+v, error %v", name, form, hits, err)
				continue
			}
			h := hits[0]
			if h.Known || h.Line([]byte(text)) != 501 || h.Name != name || !strings.Contains(h.Value([]byte(text)), value) && !strings.Contains(value, ": "+h.Value([]byte(text))) {
				t.Errorf("%s in %q: %+v in line %d", name, form, h, h.Line([]byte(text)))
			}
			if masked := f.Mask(text); strings.Contains(masked, value) || !strings.Contains(masked, "["+h.Name+"]") {
				t.Errorf("%s in %q is masked as %q", name, form, masked[len(masked)-80:])
			}
		}
	}
}

func TestOtherThingsAreNoSecrets(t *testing.T) {
	sum := letters(88, mixed+"+/")
	for what, text := range map[string]string{
		"lockfile":    strings.Repeat(fmt.Sprintf("\"integrity\": \"sha512-%s==\",\n\"resolved\": \"https://registry.npmjs.org/a/-/a-1.0.0.tgz\"\n", sum), 50),
		"go.sum":      "github.com/google/uuid v1.6.0 h1:" + letters(43, mixed+"+/") + "=\n",
		"commit":      letters(40, "0123456789abcdef"),
		"id":          "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
		"passwords":   "{\"user\": \"test\", \"password\": \"testpassword1\"}\nADMIN_PASSWORD=\"s3cretPassw0rd\"\n<add key=\"Password\" value=\"testpassword1\" />\n",
		"action":      "uses: sourcegraph/scip-action@" + letters(40, "0123456789abcdef") + "\n",
		"base64":      "AAAA/EAAA" + letters(40, mixed) + "\n",
		"example":     "aws_access_key_id = AKIAIOSFODNN7" + "EXAMPLE",
		"placeholder": "curl -H 'Authorization: Bearer ${TOKEN}' -u user:password https://example.org?key=YOUR_API_KEY",
		"made up":     "token := \"a test token 1234567890\"\npassword = \"correct horse battery\"",
		"code":        "func (s *stage) secretKey() string { return s.keys[len(s.keys)-1].Value }\nconst apiKeyHeader = \"X-Api-Key\"",
		"prose":       "Store the key as a secret: `gh secret set ANTHROPIC_API_KEY`; it begins with sk-ant- or ghp_.",
		"begin":       "if strings.Contains(s, \"-----BEGIN PRIVATE KEY-----\") {",
	} {
		if hits, err := New().Find([]byte(text)); err != nil || len(hits) > 0 {
			t.Errorf("%s: hits %+v, error %v", what, hits, err)
		}
	}
}

// All rules have to be of use, also those that no text of a test calls for, and
// what is left out of the rules that come with the library has to be there.
func TestAllRulesCanBeUsed(t *testing.T) {
	s, err := readShapes()
	testenv.Must(t, err)
	if len(s.rules) < 200 {
		t.Errorf("only %d rules", len(s.rules))
	}
	for _, r := range s.rules {
		re, err := r.compile()
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := r.allow(); err != nil {
			t.Error(err)
		}
		if slices.Contains([]string{"generic-api-key", "curl-auth-header", "curl-auth-user", "kubernetes-secret-yaml"}, r.ID) {
			t.Errorf("%s finds too much", r.ID)
		}
		if re.MatchString("") {
			t.Errorf("%s matches nothing at all", r.ID)
		}
	}
}

// What is taken out of the expressions to make them quick finds nothing more and
// hides nothing.
func TestQuickerFindsTheSame(t *testing.T) {
	s, err := readShapes()
	testenv.Must(t, err)
	seen := 0
	for _, r := range s.rules {
		if quicker(r.Regex) == r.Regex {
			continue
		}
		// Some words inside of an expression ask for what stands around it, such
		// as the end of a word; what has none of that is no example of the rule.
		as := regexp.MustCompile(r.Regex)
		like := strings.NewReplacer(`\b`, "", `|$`, "", "(?-i:", "(?:").Replace(r.Regex)
		texts := rapid.Custom(func(t *rapid.T) string {
			around := rapid.StringMatching(`[a-z .\n]{0,60}`)
			return around.Draw(t, "before") + rapid.StringMatching(like).Draw(t, "secret") + around.Draw(t, "after")
		})
		for seed := range 100 {
			text := texts.Example(seed)
			got, err := s.match(r, []byte(text), span{0, len(text)})
			testenv.Must(t, err)
			for _, m := range as.FindAllStringSubmatchIndex(text, -1) {
				from, to := secretIn(m, r.SecretGroup)
				if example, _ := s.example(r, text[from:to]); example {
					continue
				}
				seen++
				if !slices.ContainsFunc(got, func(h hit) bool { return h.Start <= from && to <= h.End }) {
					t.Errorf("%s: %q is not found in %q", r.ID, text[from:to], text)
				}
			}
		}
	}
	if seen < 1000 {
		t.Errorf("only %d secrets were made to be found", seen)
	}
}

func TestABrokenRuleIsAnError(t *testing.T) {
	for want, text := range map[string]ruleText{
		"the rule odd for finding secrets cannot be used: error parsing regexp": {ID: "odd", Regex: "key(", Keywords: []string{"key"}},
		"the rule odd for finding secrets cannot be used: it has no group 2":    {ID: "odd", Regex: "(key)", SecretGroup: 2, Keywords: []string{"key"}},
	} {
		s := &shapes{rules: []*rule{newRule(text, allowed{})}, keywords: newNeedles([]string{"key"}, true), callers: [][]int{{0}}, most: maxEffort}
		f := New()
		f.shapes = func() (*shapes, error) { return s, nil }
		if _, err := f.Find([]byte("a key of mine")); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
		if got := f.Mask("a key of mine"); !strings.HasPrefix(got, "[withheld: the rule odd") {
			t.Errorf("masked as %q", got)
		}
		f.shapes = func() (*shapes, error) { return nil, errors.New("no rules") }
		if got := f.Mask("a key of mine"); got != "[withheld: no rules]" {
			t.Errorf("masked as %q", got)
		}
	}
}

func TestTooMuchIsRefused(t *testing.T) {
	s, err := readShapes()
	testenv.Must(t, err)
	s.most = 10_000
	text := []byte(strings.Repeat("ghp_ AKIA sk-ant- ", 300))
	if _, err := s.find(text); !errors.Is(err, errTooMuch) {
		t.Errorf("error %v", err)
	}
	if _, err := s.find(text[:100]); err != nil {
		t.Errorf("error %v", err)
	}
}

// What has an end has it within what is looked at.
func TestReach(t *testing.T) {
	s, err := readShapes()
	testenv.Must(t, err)
	for _, r := range s.rules {
		re, err := syntax.Parse(r.Regex, syntax.Perl)
		testenv.Must(t, err)
		if n := most(re); n > r.reach() {
			t.Errorf("%s: a match has up to %d bytes, and %d are looked at", r.ID, n, r.reach())
		}
	}
}

// most is how many bytes an expression may match, of what has no end as many as are looked at.
func most(re *syntax.Regexp) int {
	n := 0
	switch re.Op {
	case syntax.OpLiteral:
		return 4 * len(re.Rune)
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return 4
	case syntax.OpStar, syntax.OpPlus:
		return farReach
	case syntax.OpRepeat:
		if re.Max < 0 {
			return farReach
		}
		return min(re.Max*most(re.Sub[0]), farReach)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			n = max(n, most(sub))
		}
		return n
	}
	for _, sub := range re.Sub {
		n += most(sub)
	}
	return min(n, farReach)
}

func TestApart(t *testing.T) {
	got := apart([]hit{{Start: 8, End: 9, Name: "c"}, {Start: 2, End: 5, Name: "b", Known: true}, {Start: 1, End: 4, Name: "a"}})
	if want := []hit{{Start: 1, End: 5, Name: "b", Known: true}, {Start: 8, End: 9, Name: "c"}}; !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}
