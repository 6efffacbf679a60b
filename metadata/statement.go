package metadata

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// StatementFile is the name of the statement on a completed run, beside its record.
const StatementFile = "statement.json"

// predicateType is what the statement is of. Its number grows when Trail.Statement changes.
const predicateType = "https://reprise-ci.github.io/run/v1"

// Trail is what git has of a run, down to a commit with its record.
type Trail struct {
	Commits []string          // that changed the folder of the run, the oldest first, perhaps after those of an earlier run
	Records [][]byte          // that each of them has; nil: none
	Work    string            // the tree of the last one without the folder
	Files   map[string]string // mode and blob of what the last one has in the folder, but for the statement
}

// ErrCut says that a trail is not whole.
var ErrCut = errors.New("the commit with which the run began is not in the history: a squash lacks it, and a shallow clone is completed with: git fetch --unshallow origin")

// Statement gives an in-toto statement with what the trail alone says of the run: the same bytes for the same trail.
func (t Trail) Statement() ([]byte, error) {
	t, run, err := t.whole()
	if err != nil {
		return nil, err
	}
	var attempts, checks, verdicts, approvals []string
	for _, a := range run.Attempts {
		attempts = append(attempts, fmt.Sprintf("%d %s %s: %s", a.N, a.Phase, a.Step, strings.TrimSpace(string(a.Status)+" "+string(a.Verdict))))
	}
	for _, p := range run.Phases {
		if p.Checks != nil {
			for _, c := range p.Checks.Results {
				checks = append(checks, fmt.Sprintf("%s %s: %s %s", p.Name, c.Name, map[bool]Ruling{true: Pass, false: Fail}[c.Pass], digestOf(c)))
			}
		}
		if p.Verdict != nil {
			verdicts = append(verdicts, fmt.Sprintf("%s: %s %s", p.Name, p.Verdict.Verdict, digestOf(p.Verdict)))
		}
	}
	for _, a := range run.Approvals {
		approvals = append(approvals, fmt.Sprintf("%s, attempt %d: %s %s", a.Phase, a.Attempt, a.By, digestOf(a)))
	}
	data, err := jsonv2.Marshal(map[string]any{
		"_type": "https://in-toto.io/Statement/v1", "predicateType": predicateType,
		"subject": []any{map[string]any{"name": "work", "digest": map[string]string{"gitTree": t.Work}}},
		"predicate": map[string]any{
			"issue": run.IssueNumber, "url": run.IssueURL, "run": run.Execution.ID, "base": run.BaseCommit, "status": run.Status,
			"pipeline": run.Pipeline, "commits": t.Commits[:len(t.Commits)-1], "files": t.Files,
			"attempts": attempts, "checks": checks, "verdicts": verdicts, "approvals": approvals, "cost": run.Cost,
		},
	}, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), jsonv2.Deterministic(true))
	return append(data, '\n'), err
}

// digestOf is the digest of the JSON of a part of a record, without spaces between.
func digestOf(part any) string {
	data, _ := jsonv2.Marshal(part, jsontext.AllowInvalidUTF8(true)) // it was read from JSON
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

// whole leaves out what is of earlier runs, and gives the last record. The first one of a run has revision 1.
func (t Trail) whole() (Trail, Run, error) {
	run, err := Parse(t.Records[len(t.Records)-1], File)
	for i, data := range slices.Backward(t.Records) {
		var of struct {
			Revision int `json:"revision"`
		}
		if jsonv2.Unmarshal(data, &of) == nil && of.Revision == 1 {
			return Trail{t.Commits[i:], t.Records[i:], t.Work, t.Files}, run, err
		}
	}
	return t, run, errors.Join(err, ErrCut)
}

// Verify says what was changed in the history of a run, or in the statement on it; nil: there is none.
func (t Trail) Verify(stated []byte) (wrong []string, err error) {
	holds, err := t.Statement()
	if err != nil {
		return nil, err
	}
	t, before, _ := t.whole() // it is: there is something to state
	for i, data := range t.Records {
		if data == nil || i > 0 && bytes.Equal(data, t.Records[i-1]) {
			continue
		}
		run, err := Parse(data, File)
		if err == nil && i > 0 {
			err = CheckLater(before, run)
		}
		if before = run; err != nil {
			wrong = append(wrong, fmt.Sprintf("commit %s: %v", t.Commits[i], err))
		}
	}
	if stated == nil || bytes.Equal(stated, holds) {
		return wrong, nil
	}
	if !bytes.Contains(stated, []byte(`"`+predicateType+`"`)) {
		return nil, fmt.Errorf("%s is not of the type %s, which this reprise knows: use the one that wrote it", StatementFile, predicateType)
	}
	differ := func(one, other []byte, format string) { // each line is one thing that is said
		facts := strings.Split(strings.ReplaceAll(string(other), ",\n", "\n"), "\n")
		for fact := range strings.SplitSeq(strings.ReplaceAll(string(one), ",\n", "\n"), "\n") {
			if !slices.Contains(facts, fact) {
				wrong = append(wrong, fmt.Sprintf(format, strings.TrimSpace(fact)))
			}
		}
	}
	differ(stated, holds, StatementFile+" says %s, and git does not")
	differ(holds, stated, "git says %s, and "+StatementFile+" does not")
	if len(wrong) == 0 {
		wrong = append(wrong, StatementFile+" is not as reprise writes it")
	}
	return wrong, nil
}
