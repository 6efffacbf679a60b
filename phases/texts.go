// Package phases decides how a run goes through its pipeline: execute, review,
// revise, phase after phase, until every gate holds or a person is needed.
//
// It is pure. Decide reads the plan and the record and says what comes next;
// Apply takes what came out of that and gives the next record. Rules, rollbacks,
// commands of people and the summary are functions of the same kind: same
// arguments, same answer. Nothing in here asks a clock, a file or a network, or
// puts a reason into words, so every way a run can go is a row in a table test.
// Package engine carries out what is decided here.
//
// There is no code for resuming. A run that was killed is started again, and
// Decide reads from the record what is left to do.
package phases

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"path"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// OneLine gives the first line of a text, cut to 200 characters.
func OneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return text.Short(s, 200)
}

// TruncateText gives a text on one line, cut to 90 characters, without what a terminal would obey.
func TruncateText(s string) string {
	return text.Short(strings.Map(seen, strings.Join(strings.Fields(s), " ")), 90)
}

// seen leaves out characters that are not seen but do something, such as turning the writing around.
func seen(r rune) rune {
	if unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u200c' && r != '\u200d' {
		return -1
	}
	return r
}

// CutText cuts a text to so many Unicode code points.
func CutText(s string, most int) string { return text.Short(strings.TrimSpace(s), most) }

// ValidText takes out of a text what no text has.
func ValidText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// DigestOf is the SHA-256 of data in hexadecimal, by which works are told apart.
func DigestOf(b []byte) string { return fmt.Sprintf("%x", sha256.Sum256(b)) }

// firstSentence gives the first of some reasons, and of words their first line.
func firstSentence(r metadata.Reason) metadata.Reason {
	all := r.Each()
	if len(all) == 0 {
		return ""
	}
	if all[0].Code() == "" {
		return metadata.Said(OneLine(all[0].Said()))
	}
	return all[0]
}

// complains begins a line in which a program says what went wrong, as pip, cargo, git, apt, Python and reprise write it.
var complains = text.Pattern(`^\s*(?:(?i:(?:error|fatal)\b|E: )|\w+(?:Error|Exception): |reprise: )`)

// codeAlone is a line of pip's that has no sentence.
var codeAlone = text.Pattern(`^\s*error: [a-z]+(?:-[a-z]+)+\s*$`)

// npm and Maven begin every line of a failure like that, the last one, too: the first that says more counts.
var (
	firstSays  = text.Pattern(`^(?:npm (?:error|ERR!)|\[ERROR\])`)
	littleSaid = text.Pattern(`^(?:npm (?:error|ERR!)|\[ERROR\])(?:\s*$| (?:code|errno|syscall|path|dest|command failed|COMPILATION ERROR)\b)`)
)

// complaint gives the line of an output that says why its program failed: the last that begins
// as an error, behind which there may be notes, of npm's and Maven's the first, else the last one.
func complaint(output string) string {
	last := ""
	for line := range strings.Lines(strings.TrimSpace(output)) {
		said := complains().MatchString(last) || firstSays().MatchString(last) && !littleSaid().MatchString(last)
		switch {
		case firstSays().MatchString(line):
			if !firstSays().MatchString(last) || littleSaid().MatchString(last) {
				last = line
			}
		case complains().MatchString(line) && !(said && codeAlone().MatchString(line)) || !said:
			last = line
		}
	}
	return strings.TrimSpace(last)
}

// content is what a file holds, as far as its first bytes tell.
type content string

// The kinds of content.
const (
	TextContent    content = "text"
	ScriptContent  content = "script" // text that begins with #!
	binaryContent  content = "binary"
	ProgramContent content = "program"
)

// HeadSize is how many bytes of a file ContentOf wants to see: as many as git looks at.
const HeadSize = 8000

// ContentOf says what a file holds, by its first bytes.
func ContentOf(head []byte) content {
	head = head[:min(len(head), HeadSize)]
	zero := bytes.IndexByte(head, 0) >= 0
	switch {
	case isProgram(head, zero):
		return ProgramContent
	case zero:
		return binaryContent
	case bytes.HasPrefix(head, []byte("#!")):
		return ScriptContent
	}
	return TextContent
}

// Opaque reports whether a diff cannot show what changed.
func (c content) Opaque() bool { return c == binaryContent || c == ProgramContent }

// isProgram knows the formats of programs and of archives. A text can begin with MZ, but has no zero bytes.
func isProgram(head []byte, zero bool) bool {
	for _, magic := range []string{
		"\x7fELF", "\xfe\xed\xfa\xce", "\xfe\xed\xfa\xcf", "\xce\xfa\xed\xfe", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe", "\xca\xfe\xba\xbf", // ELF, Mach-O, Java
		"\x00asm", "BC\xc0\xde", "dex\n03", // WebAssembly, LLVM, Android
		"PK\x03\x04", "PK\x05\x06", "\x1f\x8b", "\x1f\x9d", "BZh91AY&SY", "\xfd7zXZ\x00", "7z\xbc\xaf\x27\x1c", "\x28\xb5\x2f\xfd", "\x04\x22\x4d\x18",
		"Rar!\x1a\x07", "!<arch>\n", "xar!", "MSCF\x00", "\xed\xab\xee\xdb",
	} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return true
		}
	}
	tar := len(head) >= 262 && string(head[257:262]) == "ustar"
	return tar || zero && bytes.HasPrefix(head, []byte("MZ"))
}

// Folder is the folder of a run on its branch, by the id of its issue.
func Folder(issue string) string { return path.Join(".reprise", "issue-"+issue) }

// RecordFile is the path of a run's record on its branch.
func RecordFile(issue string) string { return path.Join(Folder(issue), metadata.File) }

// RecordName is the name by which the record of a run is kept when its folder is taken off its branch.
func RecordName(issue string) string { return path.Base(Folder(issue)) }

// Read reads the record of a run and its plan by a function that gives the files of a branch,
// also where there is no checkout of it. The error is an fs.ErrNotExist if there is no run.
func Read(issue, branch string, file func(path string) ([]byte, error)) (c Course, err error) {
	data, err := file(RecordFile(issue))
	if err != nil {
		return c, err
	}
	if c.Run, err = metadata.ParseOf(issue, data, branch+":"+RecordFile(issue)); err != nil {
		return c, err
	}
	if data, err = file(path.Join(Folder(issue), PipelineFile)); err == nil {
		c.Plan, err = pipelines.Parse(data)
	}
	return c, err
}

// PhaseFolder is the folder of a phase on the run's branch.
func PhaseFolder(run metadata.Run, p *pipelines.Phase) string {
	return path.Join(Folder(run.IssueNumber), p.Folder)
}

// ConflictFolder is where the versions of files lie in which a part conflicts with others, until that is resolved.
func ConflictFolder(run metadata.Run, p *pipelines.Phase) string {
	return path.Join(PhaseFolder(run, p), "conflict")
}

// BeforeFile is the file in that folder with the work of a part, for the case that it is done anew.
const BeforeFile = "before.diff"

// The files that reprise itself writes into the run's folder besides the record.
const (
	IssueFile      = "issue.md"        // the issue as it read when the run began
	DiscussionFile = "discussion.json" // what was said below it by then, if anything
	PipelineFile   = "pipeline.json"   // the frozen pipeline
	givenFolder    = "given"           // documents that people have written for phases
)

// GivenFile is where the document is kept that people have written for a phase.
func GivenFile(run metadata.Run, phase string) string {
	return path.Join(Folder(run.IssueNumber), givenFolder, phase+".md")
}

// The files that reprise itself writes into the folder of a phase.
const (
	ReviewFile = "review.md"          // what the newest review said
	ChecksFile = "checks.md"          // what the checks of the newest work printed
	ReasonFile = "ROLLBACK_REASON.md" // why the phase was taken back
)

// CommitMessage is what a commit message says. What is empty or zero is left out.
type CommitMessage struct {
	Subject, Why string // may be text from outside: GitHub acts on nothing in them
	Phase, Step  string
	Attempt      int
	USD          float64 // of the attempt
}

// Text gives the whole commit message of a run, with the trailers that tools read.
func (m CommitMessage) Text(run metadata.Run) string {
	var b strings.Builder
	fmt.Fprintf(&b, "reprise: %s\n\n", noDirectives(TruncateText(ValidText(m.Subject))))
	if m.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", noTrailers(noDirectives(ValidText(m.Why))))
	}
	fmt.Fprintf(&b, "Reprise-Issue: %s\n", run.IssueNumber)
	if m.Phase != "" {
		fmt.Fprintf(&b, "Reprise-Phase: %s\n", m.Phase)
	}
	if m.Step != "" {
		fmt.Fprintf(&b, "Reprise-Step: %s\n", m.Step)
	}
	if m.Attempt > 0 {
		fmt.Fprintf(&b, "Reprise-Attempt: %d\nReprise-Cost: %.4f\n", m.Attempt, m.USD)
	}
	return b.String()
}

// Heading names a decision as commit subjects and errors do.
func Heading(d Decision) string {
	if d.Phase == "" {
		return string(d.Do)
	}
	return d.Phase + ": " + string(d.Do)
}

// ResultLine says in a few words what came out of a decision.
func ResultLine(run metadata.Run, d Decision, o Outcome) string {
	if d.Final() {
		return d.Why.In(prompts.Words(run.Language))
	}
	if o.Status != metadata.Succeeded {
		if o.Class != "" {
			return string(o.Class)
		}
		return string(o.Code)
	}
	if d.Do == DoReview || d.Do == DoCheck {
		return strings.ReplaceAll(string(AttemptOf(&run, d.Phase).Verdict), "_", " ")
	}
	return text.Plural(len(o.Written.Files), "artifact") + ", " + text.Plural(o.Written.Diff.Files, "file") + " changed"
}

// What GitHub acts on in a message: references, which may close an issue once
// the commit is merged, mentions, and words that keep workflows from starting.
var (
	reference = text.Pattern(`(?i)(#|\bgh-|/(?:issues|pulls?|discussions)/)([0-9])`)
	mention   = text.Pattern(`@([A-Za-z0-9])`)
	noChecks  = text.Pattern(`(?i)\[(skip ci|ci skip|no ci|skip actions|actions skip)\]`)
	noChecks2 = text.Pattern(`(?i)skip-checks`)
)

// noDirectives breaks up what GitHub would act on in a commit message, and leaves it readable.
func noDirectives(s string) string {
	s = reference().ReplaceAllString(s, "$1 $2")
	s = mention().ReplaceAllString(s, "@ $1")
	return NoSkips(s)
}

// NoSkips breaks up the words in a commit message that keep workflows from starting, and leaves
// them readable and as long as they were.
func NoSkips(s string) string {
	s = noChecks().ReplaceAllString(s, "($1)")
	return noChecks2().ReplaceAllString(s, "skip checks")
}

// noTrailers keeps text from outside from looking like the trailers of a run.
func noTrailers(s string) string {
	s = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(s)
	lines := strings.Split(strings.TrimSpace(s), "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.ToLower(l), "reprise-") {
			lines[i] = "  " + l
		}
	}
	return strings.Join(lines, "\n")
}
