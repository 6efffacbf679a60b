package phases

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// FuzzVerdict reads any answer of a review. It is a verdict on exactly the
// gates that were declared, or there is a list of mistakes that fits into a
// prompt; none passes that has an open blocker, a failed gate or a failed
// check behind it; and a blocker of the round before is fixed only if the review says so
// or all else passes.
func FuzzVerdict(f *testing.F) {
	gates := []string{"The API stays REST.", "Every limit is named", "最後まで動く。"}
	all := `"gates":[{"gate":"the api stays  rest","pass":true,"why":"a.go:1"},{"gate":"Every limit is named","pass":true,"why":""},{"gate":"最後まで動く","pass":true,"why":"x"}]`
	const finding = `{"id":"F1","severity":"blocker","title":"t","problem":"p","impact":"i","solution":"s","status":"new","file":"../a","line":-1}`
	for _, text := range []string{
		`{"verdict":"pass",` + all + `,"findings":[]}`,
		`{"verdict":"pass",` + all + `,"findings":[` + finding + `]}`,
		`{"verdict":"fail","verdict":"pass",` + all + `,"findings":null}`,
		`{"VERDICT":"pass_with_suggestions",` + strings.Replace(all, "true", "false", 1) + `,"findings":[` + strings.Replace(finding, "new", "fixed", 1) + `]}`,
		`{"verdict":"pass",` + all + `,"findings":[` + finding + "," + finding + `]} {}`,
		`{"verdict":"` + strings.Repeat("x", 9000) + `","gates":[],"findings":[` + strings.Repeat("{},", 200) + `{}]}`,
		"", "null", "[]", `"pass"`, `{"verdict":"pass"}`, `{"verdict":"pass","gates":[{}],"findings":[{}]}`, strings.Repeat(`{"gates":[`, 5000),
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	before := &metadata.Verdict{Findings: []metadata.Finding{{ID: "F9", Severity: metadata.Blocker, Status: metadata.NewFinding}}}
	f.Fuzz(func(t *testing.T, data []byte, checksPass bool) {
		v, wrong := ParseVerdict(data, gates)
		if len(wrong) > 0 {
			checkWrong(t, wrong)
			return
		}
		if !json.Valid(data) || !slices.Contains([]metadata.Ruling{metadata.Pass, metadata.PassWithSuggestions, metadata.Fail}, v.Verdict) {
			t.Errorf("verdict %q of %q", v.Verdict, data)
		}
		var answered []string
		for _, g := range v.Gates {
			answered = append(answered, g.Gate)
		}
		testenv.Same(t, "gates", gates, answered)
		checkVerdict(t, v)
		said, heard := v.Verdict, v
		v = concludeVerdict(v, before, checksPass)
		open := v.OpenBlockers()
		if held := checksPass && len(open) == 0 && len(v.FailedGates()) == 0; v.Verdict == metadata.Pass && !held {
			t.Errorf("%q became pass with %d open blockers, %d failed gates, checks pass %v", said, len(open), len(v.FailedGates()), checksPass)
		}
		if v.Verdict != metadata.Fail && (len(open) > 0 || !checksPass || len(v.FailedGates()) > 0) {
			t.Errorf("%q became %s: %+v", said, v.Verdict, v)
		}
		checkVerdict(t, v)
		if indexOfVerdict(v, "F9") < 0 {
			t.Fatalf("%q lost F9: %+v", said, v)
		}
		passes := said != metadata.Fail && checksPass && len(heard.FailedGates())+len(heard.OpenBlockers()) == 0
		if left := indexOfVerdict(heard, "F9") < 0; left && (v.Findings[indexOfVerdict(v, "F9")].Status == metadata.Fixed) != passes || left && !passes && v.Verdict != metadata.Fail {
			t.Errorf("%q, which says nothing about F9, became %s: %+v", said, v.Verdict, v)
		}
	})
}

func checkWrong(t *testing.T, wrong []metadata.Reason) {
	t.Helper()
	if len(wrong) > maxWrong+1 {
		t.Errorf("%d mistakes", len(wrong))
	}
	for _, r := range wrong {
		w := r.In(prompts.Words("en"))
		if len(w) > 4000 || strings.Contains(w, "\n") || w == "" {
			t.Errorf("not a sentence: %q", w)
		}
	}
}

func checkVerdict(t *testing.T, v metadata.Verdict) {
	t.Helper()
	seen := map[string]bool{}
	for _, x := range v.Findings {
		if seen[x.ID] || strings.TrimSpace(x.ID) == "" || x.Line < 0 || x.File != "" && metadata.CheckPath(x.File) != nil {
			t.Errorf("finding %+v", x)
		}
		seen[x.ID] = true
	}
}
