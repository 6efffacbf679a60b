package phases

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// VerdictSchema is the JSON Schema of what a review returns, see metadata.Verdict.
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
          "status": {"type": "string", "enum": ["new", "still_open", "fixed"]},
          "proof": {"type": "string", "description": "only for a blocker that comes late: a shell command, on one line, that fails because of it"}
        }
      }
    }
  }
}`

// ParseVerdict reads a review's structured answer and holds it against the gates of the phase.
func ParseVerdict(data []byte, gates []string) (v metadata.Verdict, wrong []metadata.Reason) {
	if err := metadata.ParseAnswer(data, &v); err != nil {
		return metadata.Verdict{}, []metadata.Reason{metadata.Because("not_a_verdict", "error", OneLine(err.Error()))}
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
func matchGates(v *metadata.Verdict, gates []string) (wrong []metadata.Reason) {
	ordered := make([]metadata.Gate, len(gates))
	for _, g := range v.Gates {
		i := slices.IndexFunc(gates, func(text string) bool { return plain(text) == plain(g.Gate) })
		switch {
		case i < 0:
			wrong = append(wrong, metadata.Because("gate_unknown", "gate", OneLine(g.Gate)))
		case ordered[i].Gate != "":
			wrong = append(wrong, metadata.Because("gate_twice", "gate", OneLine(g.Gate)))
		default:
			ordered[i], ordered[i].Gate = g, gates[i]
		}
	}
	for i, text := range gates {
		if ordered[i].Gate == "" {
			wrong = append(wrong, metadata.Because("gate_unanswered", "gate", text))
		}
	}
	v.Gates = ordered
	return wrong
}

// maxProof is how long a command may be that proves a finding, in bytes.
const maxProof = 1000

func checkFindings(findings []metadata.Finding) (wrong []metadata.Reason) {
	for i := range findings {
		f := &findings[i]
		id := OneLine(f.ID)
		switch {
		case strings.TrimSpace(f.ID) == "":
			wrong = append(wrong, metadata.Because("finding_without_id", "n", i+1))
		case slices.ContainsFunc(findings[:i], func(other metadata.Finding) bool { return other.ID == f.ID }):
			wrong = append(wrong, metadata.Because("finding_id_twice", "n", i+1, "id", id))
		}
		if f.Severity != metadata.Blocker && f.Severity != metadata.Suggestion {
			wrong = append(wrong, metadata.Because("finding_severity", "n", i+1, "id", id, "word", OneLine(string(f.Severity))))
		}
		if !slices.Contains([]metadata.FindingStatus{metadata.NewFinding, metadata.StillOpen, metadata.Fixed}, f.Status) {
			wrong = append(wrong, metadata.Because("finding_status", "n", i+1, "id", id, "word", OneLine(string(f.Status))))
		}
		if strings.TrimSpace(f.Title) == "" {
			wrong = append(wrong, metadata.Because("finding_untitled", "n", i+1, "id", id))
		}
		if len(f.Proof) > maxProof || strings.ContainsFunc(f.Proof, unicode.IsControl) {
			wrong = append(wrong, metadata.Because("finding_proof", "n", i+1, "id", id, "most", maxProof))
		}
		f.File, f.Line = placeVerdict(f.File, f.Line)
		f.Late = ""
	}
	return wrong
}

// placeVerdict keeps a finding's file only if it is a path inside the repository.
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
		if old := sameFinding(before, *f); old != nil && (old.ID == f.ID || !known(old.ID)) {
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

// sameFinding gives the finding of an earlier verdict that one is: that with its id, else that with its file and title;
// nil if there is none.
func sameFinding(before *metadata.Verdict, f metadata.Finding) *metadata.Finding {
	if before == nil {
		return nil
	}
	i := slices.IndexFunc(before.Findings, func(old metadata.Finding) bool { return old.ID == f.ID })
	if i < 0 {
		i = slices.IndexFunc(before.Findings, func(old metadata.Finding) bool { return old.File == f.File && plain(old.Title) == plain(f.Title) })
	}
	if i < 0 {
		return nil
	}
	return &before.Findings[i]
}

// mostProofs is how many commands of one review are run.
const mostProofs = 5

// WeighLate notes in a verdict what its late blockers count for: those that did not count in the review before, and
// stand at no place that has changed since. One counts whose command fails: try runs it as a check of the phase, as its
// first one is or, if it has none, as the reviewer could have.
func WeighLate(p *pipelines.Phase, before, v *metadata.Verdict, changed []Place, try func(pipelines.Check) (metadata.CheckResult, error)) error {
	proof, proofs := append(slices.Clone(p.Checks), pipelines.Check{Timeout: p.Review.Timeout, Network: p.Review.Network})[0], 0
	for i := range v.Findings {
		f, old := &v.Findings[i], sameFinding(before, v.Findings[i])
		if f.Severity != metadata.Blocker || f.Status == metadata.Fixed || old != nil && old.Counts() == metadata.Blocker || slices.ContainsFunc(changed, func(at Place) bool {
			return f.File != "" && strings.HasSuffix("/"+at.File, "/"+f.File) && (f.Line == 0 || at.Last < 1 || at.First <= f.Line && f.Line <= at.Last)
		}) {
			continue
		}
		if f.Late = metadata.Because("late_unproven"); f.Proof == "" || proofs == mostProofs {
			continue
		}
		proofs++
		proof.Name, proof.Run, proof.Retries, proof.JUnit = f.ID, f.Proof, 0, nil
		ended, err := try(proof)
		switch {
		case err != nil:
			return err
		case ended.Pass:
			f.Late = metadata.Because("late_passes", "run", f.Proof)
		case CouldNotRun(ended):
			f.Late = metadata.Because("late_not_run", "run", f.Proof, "code", ended.ExitCode)
		default:
			f.Late = metadata.Because("late_proven", "run", f.Proof, "code", ended.ExitCode)
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
				parts = append(parts, fmt.Sprintf("C %s %d %s", c.Name, c.ExitCode, Steady(c.Output)))
			}
		}
	}
	slices.Sort(parts)
	return DigestOf([]byte(strings.Join(parts, "\n")))[:16]
}

// varying is what programs print otherwise each time: times, durations, addresses, ports, temporary paths.
var varying = text.Pattern(`(?i)\b0x[0-9a-f]+|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d(?:[.,]\d+)?|` +
	`\b(?:\d+h)?(?:\d+m)?\d+(?:[.,]\d+)?\s?(?:ns|[uµμ]s|ms|s|secs?|seconds?|minutes?)\b|\bpid\W{0,2}\d+|(?:127\.0\.0\.1|localhost|\[::1\]):\d+|(?:/tmp|/var/folders)/[^\s:;,'")\]]+|\b1\d{9}(?:\d{3})?(?:\.\d+)?\b`)

// Steady is what a program has printed without what it prints otherwise each time.
func Steady(output string) string { return varying().ReplaceAllLiteralString(output, "…") }

// inCircle reports whether the newest round repeats an earlier one, in the work it judged or in what it found.
func inCircle(recent []string) bool {
	if len(recent) == 0 {
		return false
	}
	work, found, _ := strings.Cut(strings.TrimSuffix(recent[len(recent)-1], onlyNew), ":")
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
	round := work + ":" + verdictFingerprint(rec)
	if len(before.OpenBlockers()) > 0 && len(blockers) > 0 && len(rec.Verdict.FailedGates()) == 0 && !rec.ChecksFail() && !slices.ContainsFunc(blockers, func(f metadata.Finding) bool { return f.Status != metadata.NewFinding }) {
		round += onlyNew
	}
	return round
}

// findsOnlyNew reports whether the two newest reviews found only something new: it may go on so for ever.
func findsOnlyNew(recent []string) bool {
	n := len(recent)
	return n > 1 && strings.HasSuffix(recent[n-1], onlyNew) && strings.HasSuffix(recent[n-2], onlyNew)
}
