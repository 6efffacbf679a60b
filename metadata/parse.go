package metadata

import (
	"fmt"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// File is the name of a record in its folder.
const File = "metadata.json"

// MaxSize is the most bytes that a metadata.json may have. A run of years has
// a few million; what is larger is not one of ours.
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
	current, err := migrate(data, filename)
	if err != nil {
		return Run{}, err
	}
	var r Run
	if err := jsonv2.Unmarshal(current, &r, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Run{}, DecodingMistake(current, filename, err)
	}
	for i := range r.Phases {
		r.Phases[i].Report = compact(r.Phases[i].Report)
	}
	rename(&r)
	mistakes := check(&r)
	if len(mistakes) == 0 {
		return r, nil
	}
	LocateMistakes(current, mistakes)
	for _, m := range mistakes {
		m.File = filename
	}
	return Run{}, JoinMistakes(mistakes)
}

// ParseOf is Parse of a record that lies where that of an issue has to be. One of another issue
// is refused: others may have written it, for runs to be mistaken for each other.
func ParseOf(issue string, data []byte, filename string) (Run, error) {
	run, err := Parse(data, filename)
	if err == nil && run.IssueNumber != issue {
		return Run{}, &Mistake{File: filename, Path: "issue_number", Message: fmt.Sprintf("is %q, in the place of the record of issue %s", run.IssueNumber, issue)}
	}
	return run, err
}

// Format checks a record and gives its text: two spaces for a level, a newline
// at the end, the same bytes for the same record. Bytes that are not UTF-8
// become U+FFFD, so that what an agent printed cannot stop a run.
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
