package phases

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Schema is the JSON Schema of what a review returns, see metadata.Verdict.
const VerdictSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["verdict", "gates", "findings"],
  "properties": {
    "verdict": {"type": "string", "enum": ["pass", "pass_with_suggestions", "fail"]},
    "gates": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["gate", "pass", "why"],
        "properties": {
          "gate": {"type": "string", "description": "the gate's text, word for word"},
          "pass": {"type": "boolean"},
          "why": {"type": "string", "description": "the evidence, with file and line where there is one"}
        }
      }
    },
    "findings": {
      "type": "array",
      "items": {
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "severity", "title", "problem", "impact", "solution", "status"],
        "properties": {
          "id": {"type": "string", "description": "short and stable, such as F1; the same in every round"},
          "severity": {"type": "string", "enum": ["blocker", "suggestion"]},
          "title": {"type": "string"},
          "problem": {"type": "string"},
          "impact": {"type": "string"},
          "solution": {"type": "string"},
          "file": {"type": "string"},
          "line": {"type": "integer"},
          "status": {"type": "string", "enum": ["new", "still_open", "fixed"]}
        }
      }
    }
  }
}`

// ParseVerdict reads a review's structured answer and holds it against the gates of the phase.
func ParseVerdict(data []byte, gates []string) (metadata.Verdict, []metadata.Reason) {
	var v metadata.Verdict
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&v); err != nil {
		return v, []metadata.Reason{metadata.Because("not_a_verdict", "error", OneLine(err.Error()))}
	}
	var wrong []metadata.Reason
	if len(bytes.TrimSpace(data[dec.InputOffset():])) > 0 {
		wrong = append(wrong, metadata.Because("several_objects"))
	}
	if !slices.Contains([]metadata.Ruling{metadata.Pass, metadata.PassWithSuggestions, metadata.Fail}, v.Verdict) {
		wrong = append(wrong, metadata.Because("verdict_word", "word", OneLine(string(v.Verdict))))
	}
	wrong = append(wrong, matchGates(&v, gates)...)
	wrong = append(wrong, checkFindings(v.Findings)...)
	if more := len(wrong) - maxWrong; more > 0 {
		wrong = append(wrong[:maxWrong], metadata.Because("and_more", "n", more))
	}
	return v, wrong
}

// ReadVerdict reads a review's structured answer, as ParseVerdict does, and
// holds it against the record of its phase, too: a fail needs a reason.
func ReadVerdict(data []byte, p *pipelines.Phase, rec *metadata.Phase) (metadata.Verdict, []metadata.Reason) {
	v, wrong := ParseVerdict(data, p.Gates)
	if v.Verdict == metadata.Fail && !rec.ChecksFail() && len(v.OpenBlockers())+len(v.FailedGates()) == 0 {
		wrong = append(wrong, metadata.Because("fail_without_reason"))
	}
	return v, wrong
}

// maxWrong is how many mistakes of a verdict are told. They are part of the next prompt, and of the record.
const maxWrong = 50

// matchGates holds the answered gates against the declared ones and puts them into the declared order and wording.
func matchGates(v *metadata.Verdict, gates []string) []metadata.Reason {
	var wrong []metadata.Reason
	answered := map[string]metadata.Gate{}
	for _, g := range v.Gates {
		key := plain(g.Gate)
		if _, twice := answered[key]; twice {
			wrong = append(wrong, metadata.Because("gate_twice", "gate", OneLine(g.Gate)))
		}
		answered[key] = g
	}
	ordered := make([]metadata.Gate, 0, len(gates))
	for _, text := range gates {
		g, ok := answered[plain(text)]
		if !ok {
			wrong = append(wrong, metadata.Because("gate_unanswered", "gate", text))
			continue
		}
		delete(answered, plain(text))
		g.Gate = text
		ordered = append(ordered, g)
	}
	for _, g := range v.Gates {
		if _, unknown := answered[plain(g.Gate)]; unknown {
			wrong = append(wrong, metadata.Because("gate_unknown", "gate", OneLine(g.Gate)))
		}
	}
	v.Gates = ordered
	return wrong
}

func checkFindings(findings []metadata.Finding) []metadata.Reason {
	var wrong []metadata.Reason
	seen := map[string]bool{}
	for i := range findings {
		f := &findings[i]
		id := OneLine(f.ID)
		switch {
		case strings.TrimSpace(f.ID) == "":
			wrong = append(wrong, metadata.Because("finding_without_id", "n", i+1))
		case seen[f.ID]:
			wrong = append(wrong, metadata.Because("finding_id_twice", "n", i+1, "id", id))
		}
		seen[f.ID] = true
		if f.Severity != metadata.Blocker && f.Severity != metadata.Suggestion {
			wrong = append(wrong, metadata.Because("finding_severity", "n", i+1, "id", id, "word", OneLine(string(f.Severity))))
		}
		if !slices.Contains([]metadata.FindingStatus{metadata.NewFinding, metadata.StillOpen, metadata.Fixed}, f.Status) {
			wrong = append(wrong, metadata.Because("finding_status", "n", i+1, "id", id, "word", OneLine(string(f.Status))))
		}
		if strings.TrimSpace(f.Title) == "" {
			wrong = append(wrong, metadata.Because("finding_untitled", "n", i+1, "id", id))
		}
		f.File, f.Line = placeVerdict(f.File, f.Line)
	}
	return wrong
}

// place keeps a finding's file only if it is a path inside the repository.
func placeVerdict(file string, line int) (string, int) {
	if file = path.Clean(file); metadata.CheckPath(file) != nil {
		return "", 0
	}
	return file, max(line, 0)
}

// concludeVerdict gives the verdict that counts, whatever word the reviewer chose: any
// failed gate, open blocker or failed check makes it fail. A finding in the same file and
// with the same title as one of the round before is that one, whatever its id. A blocker of
// the round before that the review says nothing about is fixed only if all else passes: the
// reviewer's word, every gate and the checks, with no blocker open. Otherwise it stays open.
func concludeVerdict(v metadata.Verdict, before *metadata.Verdict, checksPass bool) metadata.Verdict {
	v.Findings = slices.Clone(v.Findings)
	known := func(id string) bool {
		return slices.ContainsFunc(v.Findings, func(f metadata.Finding) bool { return f.ID == id })
	}
	for i := range v.Findings {
		f := &v.Findings[i]
		if old := sameFinding(before, *f); old != nil && !known(old.ID) {
			if f.ID = old.ID; f.Status == metadata.NewFinding {
				f.Status = metadata.StillOpen
			}
		}
	}
	fails := len(v.FailedGates()) > 0 || len(v.OpenBlockers()) > 0 || !checksPass
	for _, old := range before.OpenBlockers() {
		if known(old.ID) {
			continue
		}
		old.Status = metadata.Fixed
		if fails || v.Verdict == metadata.Fail {
			old.Status, fails = metadata.StillOpen, true
		}
		v.Findings = append(v.Findings, old)
	}
	switch {
	case fails:
		v.Verdict = metadata.Fail
	case len(v.OpenSuggestions()) > 0:
		v.Verdict = metadata.PassWithSuggestions
	default:
		v.Verdict = metadata.Pass
	}
	return v
}

// sameFinding gives the finding of an earlier verdict with the file and title of one whose id that lacks; nil if there is none.
func sameFinding(before *metadata.Verdict, f metadata.Finding) *metadata.Finding {
	if before == nil {
		return nil
	}
	if slices.ContainsFunc(before.Findings, func(old metadata.Finding) bool { return old.ID == f.ID }) {
		return nil // it is named
	}
	for i, old := range before.Findings {
		if old.File == f.File && plain(old.Title) == plain(f.Title) {
			return &before.Findings[i]
		}
	}
	return nil
}

// plain folds case, space and final punctuation, which reviewers do not copy exactly.
func plain(s string) string {
	return strings.TrimRight(strings.ToLower(strings.Join(strings.Fields(s), " ")), ".。")
}

// verdictFingerprint is equal for two reviews that find the same.
func verdictFingerprint(rec *metadata.Phase) string {
	var parts []string
	for _, f := range rec.Verdict.OpenBlockers() {
		parts = append(parts, "F "+f.ID+" "+f.Title+" "+f.Problem)
	}
	for _, g := range rec.Verdict.FailedGates() {
		parts = append(parts, "G "+g.Gate)
	}
	if rec.ChecksFail() {
		for _, c := range rec.Checks.Results {
			if !c.Holds() {
				parts = append(parts, fmt.Sprintf("C %s %d %s", c.Name, c.ExitCode, c.Output))
			}
		}
	}
	slices.Sort(parts)
	return DigestOf([]byte(strings.Join(parts, "\n")))[:16]
}

// inCircle reports whether the newest round repeats an earlier one, in the work it judged or in what it found.
func inCircle(recent []string) bool {
	if len(recent) == 0 {
		return false
	}
	last := recent[len(recent)-1]
	work, found, _ := strings.Cut(strings.TrimSuffix(last, onlyNew), ":")
	for _, r := range recent[:len(recent)-1] {
		w, f, _ := strings.Cut(strings.TrimSuffix(r, onlyNew), ":")
		if w == work || f == found {
			return true
		}
	}
	return false
}

// onlyNew marks a round whose review left nothing open of the round before it, and failed the work for something new.
const onlyNew = ":new"

// roundOf is a round as Phase.Recent has it: the digest of the work that was judged, what was found, and onlyNew.
func roundOf(work string, rec *metadata.Phase, before *metadata.Verdict) string {
	blockers := rec.Verdict.OpenBlockers()
	old := func(f metadata.Finding) bool {
		return slices.ContainsFunc(before.OpenBlockers(), func(b metadata.Finding) bool { return b.ID == f.ID })
	}
	round := work + ":" + verdictFingerprint(rec)
	if len(before.OpenBlockers()) > 0 && len(blockers) > 0 && len(rec.Verdict.FailedGates()) == 0 && !rec.ChecksFail() && !slices.ContainsFunc(blockers, old) {
		round += onlyNew
	}
	return round
}

// findsOnlyNew reports whether the two newest reviews found only something new: it may go on so for ever.
func findsOnlyNew(recent []string) bool {
	n := len(recent)
	return n > 1 && strings.HasSuffix(recent[n-1], onlyNew) && strings.HasSuffix(recent[n-2], onlyNew)
}
