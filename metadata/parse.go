package metadata

import (
	"cmp"
	_ "embed"
	"fmt"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// File is the name of a record in its folder.
const File = "metadata.json"

// MaxSize is the most bytes that a metadata.json may have.
const MaxSize = 64 << 20

// Parse reads a metadata.json, of this version of the format or an older one,
// and checks it. Fields that the format does not have, names that occur twice
// and anything after the end are refused; fields that are left out have their
// zero value. The filename is used in errors only; they are one or more
// *Mistake, joined.
func Parse(data []byte, filename string) (Run, error) {
	if len(data) > MaxSize {
		return Run{}, &Mistake{File: filename, Message: fmt.Sprintf("has %d bytes, more than the %d that a run can need", len(data), MaxSize)}
	}
	version, err := versionOf(data, filename)
	if err != nil {
		return Run{}, err
	}
	var r Run
	if err := jsonv2.Unmarshal(data, &r, jsonv2.RejectUnknownMembers(version == Schema)); err != nil {
		return Run{}, DecodingMistake(data, filename, err)
	}
	r.Schema = Schema
	for i := range r.Phases {
		r.Phases[i].Report = compact(r.Phases[i].Report)
	}
	rename(&r)
	mistakes := check(&r)
	if len(mistakes) == 0 {
		return r, nil
	}
	LocateMistakes(data, mistakes)
	for _, m := range mistakes {
		m.File = filename
	}
	return Run{}, JoinMistakes(mistakes)
}

// ParseOf is Parse of a record that lies where that of an issue has to be.
func ParseOf(issue string, data []byte, filename string) (Run, error) {
	run, err := Parse(data, filename)
	if err == nil && run.IssueNumber != issue {
		return Run{}, &Mistake{File: filename, Path: "issue_number", Message: fmt.Sprintf("is %q, in the place of the record of issue %s", run.IssueNumber, issue)}
	}
	return run, err
}

// Format checks a record and gives its text: two spaces for a level, a newline at the end, the same bytes for the
// same record. Bytes that are not UTF-8 become U+FFFD, so that what an agent printed cannot stop a run.
func Format(r Run) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	data, err := jsonv2.Marshal(&r, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), jsonv2.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write the record as JSON: %w", err)
	}
	return append(data, '\n'), nil
}

// oldest is the oldest version of the format that is read.
const oldest = 3

// NewerError is the mistake in a record whose format is newer than those that this program knows.
type NewerError struct{ Mistake *Mistake }

// Error gives the mistake with its place.
func (e *NewerError) Error() string { return e.Mistake.Error() }

// Unwrap returns the mistake.
func (e *NewerError) Unwrap() error { return e.Mistake }

// versionOf gives the version of the format that data has, if this program reads it.
func versionOf(data []byte, filename string) (int, error) {
	var head struct {
		Schema jsontext.Value `json:"schema"`
	}
	if err := jsonv2.Unmarshal(data, &head); err != nil {
		return 0, DecodingMistake(data, filename, err)
	}
	wrong := func(format string, args ...any) *Mistake {
		m := &Mistake{File: filename, Path: "schema", Message: fmt.Sprintf(format, args...)}
		LocateMistakes(data, []*Mistake{m})
		return m
	}
	n, err := strconv.Atoi(string(head.Schema))
	switch {
	case head.Schema == nil:
		return 0, wrong("is missing: this is not a record that reprise wrote")
	case err != nil || n < 1:
		return 0, wrong("%.20s is not the number of a version of the format", head.Schema)
	case n > Schema:
		return 0, &NewerError{wrong("the record has version %d of the format and this reprise knows %d: use a newer reprise", n, Schema)}
	case n < oldest:
		return 0, wrong("the record has version %d of the format, and this reprise reads none before %d: begin the run of the issue anew", n, oldest)
	}
	return n, nil
}

// olderSteps and olderCodes are the names that records of version 3 have for steps of
// decisions and for reason codes, and those of today.
var (
	olderSteps = map[string]string{"reject": "rollback", "resume": "run"}
	olderCodes = map[Code]Code{
		"no_trigger": NothingDone, "bot_denied": PermissionDenied, "fork_denied": PermissionDenied, "confused_deputy": PermissionDenied,
		"edited_comment": PermissionDenied, "day_budget": BudgetExceeded, "protected_path": ChangeRefused, "patch_too_large": ChangeRefused,
	}
)

// rename gives what had another name in version 3 that of today.
func rename(r *Run) {
	for i, d := range r.Decisions {
		r.Decisions[i].Step = cmp.Or(olderSteps[d.Step], d.Step)
	}
	today := func(c *Code) { *c = cmp.Or(olderCodes[*c], *c) }
	for i := range r.Attempts {
		today(&r.Attempts[i].Code)
	}
	if r.Stop != nil {
		today(&r.Stop.Code)
	}
}

// SchemaCUE is the format as a CUE schema, for programs that read or check a
// metadata.json without this package: #Run is one. What no schema can say,
// such as that history only grows, is left to Run.Check and CheckNext.
//
//go:embed schema.cue
var SchemaCUE string
