package agents

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// EntryKind is what an entry is.
type EntryKind string

// The kinds of entries.
const (
	Begins  EntryKind = "begins"  // a call; Text is the prompt
	Said    EntryKind = "said"    // by the agent
	Thought EntryKind = "thought" // by the agent, to itself
	Used    EntryKind = "used"    // a tool, of which Text says on what
	Back    EntryKind = "back"    // what came back of it
	Note    EntryKind = "note"    // of the program, or a line that says nothing else
	Ends    EntryKind = "ends"    // a call; Text is what came of it
)

// Entry is a part of a transcript as a person reads it. Its texts come from outside.
type Entry struct {
	Kind EntryKind  `json:"kind"`
	Tool string     `json:"tool,omitempty"`
	Text string     `json:"text,omitempty"`
	Bad  bool       `json:"failed,omitempty"`
	Call *callStart `json:"call,omitempty"` // of what begins
	// At is when it was printed, or heard of.
	At time.Time `json:"-"`
}

// TranscriptReader reads the transcript of an attempt, which may still be written. Close it.
type TranscriptReader struct {
	f    *os.File
	in   *bufio.Reader
	part string // the beginning of a line that is not whole yet
	call callStart
	said strings.Builder // what comes in pieces
	last string          // what was said last
	live bool            // what is told by ACP is of this call, and of none before
	open map[string]acpUpdate
}

// OpenTranscript opens the transcript of an attempt. The error wraps fs.ErrNotExist if there is
// none.
func OpenTranscript(dir string, attempt int) (*TranscriptReader, error) {
	f, err := os.OpenInRoot(dir, name(attempt))
	if err != nil {
		return nil, err
	}
	return &TranscriptReader{f: f, in: bufio.NewReader(f)}, nil
}

// Close closes the file.
func (r *TranscriptReader) Close() error { return r.f.Close() }

// next gives the next record that is there, or io.EOF for now.
func (r *TranscriptReader) next() (record, error) {
	for {
		line, err := r.in.ReadString('\n')
		r.part += line
		if err != nil {
			return record{}, err
		}
		whole := r.part
		r.part = ""
		var rec record
		if json.Unmarshal([]byte(whole), &rec) == nil { // a line of which a power failure left half is none
			return rec, nil
		}
	}
}

// each visits the records that are there and were not visited yet.
func (r *TranscriptReader) each(visit func(record)) error {
	for {
		rec, err := r.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		visit(rec)
	}
}

// Entries gives what is there and was not given yet, as a person reads it.
func (r *TranscriptReader) Entries() (all []Entry, err error) {
	err = r.each(func(rec record) { all = append(all, r.entries(rec)...) })
	return all, err
}

// Lines gives what is there and was not given yet, as the program printed it.
func (r *TranscriptReader) Lines() (all []string, err error) {
	err = r.each(func(rec record) {
		if rec.Line != nil {
			all = append(all, *rec.Line)
		}
	})
	return all, err
}

func (r *TranscriptReader) entries(rec record) (all []Entry) {
	switch {
	case rec.Call != nil:
		r.call, r.last, r.live, r.open = *rec.Call, "", false, map[string]acpUpdate{}
		shown := r.call
		shown.Prompt = "" // it is the text
		all = append(r.flush(), Entry{Kind: Begins, Text: r.call.Prompt, Call: &shown})
	case rec.End != nil:
		all = r.flush()
		r.heard(all)
		all = append(all, r.ending(*rec.End))
	case rec.Line != nil:
		all = slices.DeleteFunc(r.line(*rec.Line), ofAnswer)
	}
	r.heard(all)
	if rec.Cut {
		all = append(all, entry(Note, "… the rest is left out", false))
	}
	for i := range all {
		all[i].At = rec.At
	}
	return all
}

// heard takes note of what was said last.
func (r *TranscriptReader) heard(all []Entry) {
	for _, e := range all {
		if e.Kind == Said {
			r.last = e.Text
		}
	}
}

// ending gives what came of a call, but for what was just said.
func (r *TranscriptReader) ending(e callEnd) Entry {
	text := e.Text
	if len(e.Structured) > 0 && string(e.Structured) != "null" {
		text = answerText(e.Structured)
	}
	switch {
	case e.Error != "":
		return entry(Ends, e.Error, true)
	case strings.TrimSpace(text) == strings.TrimSpace(r.last):
		text = ""
	}
	return entry(Ends, text, false)
}

// answerText gives an answer as text: of a verdict, what it comes to, and other fields as YAML,
// with their names in order. What is no JSON stays as it is.
func answerText(data json.RawMessage) string {
	var v struct {
		Verdict  metadata.Ruling
		Gates    []metadata.Gate
		Findings []metadata.Finding
	}
	if json.Unmarshal(data, &v) != nil || v.Verdict == "" {
		return fields(data)
	}
	parts := []string{string(v.Verdict)}
	for _, g := range v.Gates {
		if !g.Pass {
			parts = append(parts, "gate fails: "+g.Gate)
		}
	}
	for _, f := range v.Findings {
		parts = append(parts, f.ID+" "+f.Title)
	}
	return strings.Join(parts, "; ")
}

// fields gives the fields of an object as YAML, which people read more easily than JSON.
// Anything else stays as it is.
func fields(data json.RawMessage) string {
	var named map[string]any
	if json.Unmarshal(data, &named) != nil || len(named) == 0 {
		return string(data)
	}
	var out strings.Builder
	lines := yaml.NewEncoder(&out)
	lines.SetIndent(2)
	if lines.Encode(named) != nil || lines.Close() != nil {
		return string(data)
	}
	return strings.TrimSpace(out.String())
}

// flush gives what was said in pieces.
func (r *TranscriptReader) flush() []Entry {
	text := strings.TrimSpace(r.said.String())
	r.said.Reset()
	if text == "" {
		return nil
	}
	return []Entry{entry(Said, text, false)}
}

// ReadTranscript gives a whole transcript, or nil if there is none.
func ReadTranscript(dir string, attempt int) ([]Entry, error) {
	r, err := OpenTranscript(dir, attempt)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := r.Entries()
	return append(all, r.flush()...), err
}

// shorter gives a text that names files of the work tree as from its top.
func (r *TranscriptReader) shorter(text string) string {
	if r.call.Dir == "" {
		return text
	}
	return strings.ReplaceAll(text, strings.TrimSuffix(r.call.Dir, "/")+"/", "")
}

func entry(kind EntryKind, text string, bad bool) Entry {
	return Entry{Kind: kind, Text: text, Bad: bad}
}

func uses(tool, text string) Entry {
	for _, hands := range []string{"mcp__" + pipelines.Hands + "__", "mcp_" + pipelines.Hands + "_"} {
		tool = strings.TrimPrefix(tool, hands)
	}
	return Entry{Kind: Used, Tool: tool, Text: text}
}

// ofAnswer reports whether an entry only says that an answer was given, which comes with the end of the call.
func ofAnswer(e Entry) bool {
	return e.Kind == Used && e.Tool == handsSubmit || e.Kind == Back && strings.Contains(e.Text, handsTaken)
}

// line reads a line by the program that printed it. One that says nothing to a person
// gives nothing; one that is no event is a note.
func (r *TranscriptReader) line(line string) []Entry {
	read := map[string]func(string) ([]Entry, bool){"claude": r.claude, "codex": r.codex, "gemini": r.gemini}[r.call.Use]
	if programs()[r.call.Use].ACP != nil {
		read = r.acp
	}
	if read != nil {
		if all, ok := read(line); ok {
			return all
		}
	}
	return append(r.flush(), entry(Note, line, false))
}
