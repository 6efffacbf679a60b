// Package issue is what a run works on: an issue from a file, or from a forge
// that an address or the origin of a repository leads to.
package issue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Issue is what a run works on.
type Issue struct {
	ID     string // a number, or a name made from the file's
	Title  string
	Body   string
	URL    string
	Author string
	Labels []string
	Type   string // GitHub's, such as "Bug"

	Priority    int      // 1 comes first; 0: after all that have one
	OddPriority string   // a label that was meant to be one; "": none
	DependsOn   []string // ids of issues whose work has to be there first

	Discussion Discussion // what was said below it
	Images     []Image    // of both
}

// Image is an image of an issue.
type Image struct {
	metadata.Image
	Data []byte // nil: it was not fetched just now
}

// Record is the issue as the record of a run has it.
func (i Issue) Record() metadata.Issue {
	r := metadata.Issue{Title: i.Title, Labels: i.Labels, Author: i.Author, Digest: i.Digest(), Discussion: i.Discussion.Digest()}
	for _, image := range i.Images {
		r.Images = append(r.Images, image.Image)
	}
	return r
}

// Differs says what of an issue reads otherwise now; empty: nothing.
func (i Issue) Differs(now Issue) (all metadata.Reason) {
	if i.Title != now.Title {
		all = metadata.Because("title_changed", "new", now.Title, "old", i.Title)
	}
	if i.Body != now.Body {
		all = metadata.All(all, metadata.Because("text_changed"))
	}
	was, is := i.Record(), now.Record()
	if was.Discussion != is.Discussion {
		all = metadata.All(all, metadata.Because("discussion_changed"))
	}
	if !slices.Equal(was.Images, is.Images) {
		all = metadata.All(all, metadata.Because("images_changed"))
	}
	return all
}

// Kept gives the images that a record has.
func Kept(r metadata.Issue) (all []Image) {
	for _, image := range r.Images {
		all = append(all, Image{Image: image})
	}
	return all
}

// maxIssue is the most an issue file may have, in bytes.
const maxIssue = 16 << 20

// frontMatter is the optional YAML block at the top of an issue file.
type frontMatter struct {
	Number int    `yaml:"number"`
	Title  string `yaml:"title"`
	Labels words  `yaml:"labels"`
	Type   string `yaml:"type"`
	Author string `yaml:"author"`
	URL    string `yaml:"url"`

	Priority  yaml.Node `yaml:"priority"`
	DependsOn words     `yaml:"depends_on"`
}

// words are a list, or texts with commas between them.
type words []string

// UnmarshalYAML reads either.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.ScalarNode {
		return n.Decode((*[]string)(w))
	}
	for one := range strings.SplitSeq(n.Value, ",") {
		if one = strings.TrimSpace(one); one != "" {
			*w = append(*w, one)
		}
	}
	return nil
}

// ReadFile reads an issue from a Markdown file, from a pipe, or from standard input, which is "-". The first heading is
// the title, unless the front matter names one. Without a number, the file's name becomes the id, and of what has none,
// or is called issue, the title.
func ReadFile(name string, stdin io.Reader) (Issue, error) {
	data, piped, err := folders.ReadPiped(name, stdin, maxIssue)
	if !piped {
		data, err = folders.ReadRegular(name, maxIssue)
	}
	if err != nil {
		return Issue{}, exit.Usagef("issue file: %w", err)
	}
	if !utf8.Valid(data) {
		return Issue{}, exit.Usagef("issue file %s is not UTF-8 text", name)
	}
	front, body, err := cutFrontMatter(string(data))
	if err != nil {
		return Issue{}, exit.Usagef("issue file %s: front matter: %w", name, err)
	}
	priority, odd := PriorityOf(front.Labels)
	if n := front.Priority; !n.IsZero() && n.Decode(&priority) != nil {
		return Issue{}, exit.Usagef("issue file %s: front matter: priority %q is no number, such as 1", name, n.Value)
	}
	is := Issue{Title: front.Title, Author: front.Author, URL: front.URL, Labels: front.Labels, Type: front.Type, DependsOn: front.DependsOn, Priority: priority, OddPriority: odd, ID: idFrom(strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)))}
	if piped {
		is.ID = ""
	}
	if front.Number < 0 {
		return Issue{}, exit.Usagef("issue file %s: number %d is not positive", name, front.Number)
	}
	if is.Title == "" {
		is.Title, body = cutTitle(body)
	}
	is.Body = TrimLines(body)
	if front.Number > 0 {
		is.ID = fmt.Sprint(front.Number)
	} else if is.ID == "" || is.ID == "issue" {
		is.ID = cmp.Or(strings.TrimRight(fmt.Sprintf("%.64s", idFrom(is.Title)), "-._"), is.ID)
	}
	switch {
	case strings.TrimSpace(is.Title) == "" && is.Body == "":
		return Issue{}, exit.Usagef("issue file %s is empty: write a heading for the title and say below what is wanted", name)
	case strings.TrimSpace(is.Title) == "":
		return Issue{}, exit.Usagef("issue file %s has no title: begin it with a heading, such as \"# Add a flag\"", name)
	}
	if err := checkMade(is.ID); err != nil {
		return Issue{}, exit.Usagef("issue file %s: %w; name the file otherwise or give a number in its front matter", name, err)
	}
	return is, nil
}

// priorities are what labels say after "P" or "priority", such as P1, priority: high or priority/2.
var priorities = map[string]int{"0": -1, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "critical": 1, "high": 2, "medium": 3, "low": 4}

// PriorityOf gives the first priority that labels name, 0 if none does; odd is a label that begins as one and names none,
// such as priority: banana.
func PriorityOf(labels []string) (least int, odd string) {
	for _, l := range labels {
		lower := strings.ToLower(strings.TrimSpace(l))
		named := strings.TrimPrefix(lower, "priority")
		rest, is := strings.CutPrefix(named, "p")
		n := priorities[strings.TrimLeft(rest, " :/-_")]
		switch named = strings.TrimSpace(named); {
		case n != 0 && (is || rest != lower):
			if least == 0 || n < least {
				least = n
			}
		case named != lower && strings.IndexAny(named, ":/") == 0:
			odd = l
		}
	}
	return least, odd
}

// checkMade says what is wrong with an id that was made from the name of a file.
func checkMade(id string) error {
	if id == "" {
		return errors.New("neither its name nor its title gives an id: that takes a letter from a to z or a digit")
	}
	if err := metadata.CheckID(id); err != nil {
		return fmt.Errorf("the id from its name: %w", err)
	}
	if metadata.CheckBranch(environ.BranchPrefix+id) != nil {
		return fmt.Errorf("its name gives the id %q, and git takes no branch of that name", id)
	}
	return nil
}

// TrimLines takes off the empty lines around a text. The space before its first
// word stays until it is cleaned: it may make code of the line.
func TrimLines(text string) string {
	return strings.TrimRight(strings.TrimLeft(text, "\r\n"), " \t\r\n")
}

// Clean takes out of the issue what people who read it do not see, and says what that was.
func (i *Issue) Clean() []clean.Removal {
	var title, body []clean.Removal
	i.Title, title = clean.Text(i.Title)
	i.Body, body = clean.Text(i.Body)
	i.Body = strings.TrimSpace(i.Body)
	return slices.Concat(title, body, i.Discussion.clean())
}

// Mask masks what must not be seen, before it enters the record or a prompt.
func (i *Issue) Mask(env environ.Env) {
	mask := env.Finder().Mask
	i.Title, i.Body = mask(i.Title), mask(i.Body)
	i.Discussion.Comments = slices.Clone(i.Discussion.Comments)
	for n := range i.Discussion.Comments {
		i.Discussion.Comments[n].Text = mask(i.Discussion.Comments[n].Text)
	}
}

// Digest is that of the body.
func (i Issue) Digest() string {
	return pipelines.Digest([]byte(i.Body))
}

// Markdown is the issue as it is kept on the branch, for ParseKept to read.
func (i Issue) Markdown() []byte {
	return []byte("# " + strings.Join(strings.Fields(i.Title), " ") + "\n\n" + i.Body + "\n")
}

// ParseKept reads the body of what Markdown wrote.
func ParseKept(data []byte) string {
	_, body := cutTitle(string(data))
	return strings.TrimSpace(body)
}

// frontMatterBlock is a block of YAML at the top of a file.
var frontMatterBlock = text.Pattern(`(?s)\A---[ \t]*\n(|.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\z)`)

func cutFrontMatter(text string) (front frontMatter, _ string, err error) {
	text = strings.TrimPrefix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\ufeff")
	found := frontMatterBlock().FindStringSubmatch(text)
	if found == nil {
		return front, text, nil // at most a rule at the top
	}
	dec := yaml.NewDecoder(strings.NewReader("\n" + found[1])) // whose first line is the second
	dec.KnownFields(true)
	if err := dec.Decode(&front); err != nil && !errors.Is(err, io.EOF) {
		return front, "", fmt.Errorf("%s (known: number, title, labels, type, author, url, priority, depends_on)", yamlMistake(err))
	}
	return front, text[len(found[0]):], nil
}

// yamlMistake gives an error of the YAML library without its Go types.
func yamlMistake(err error) string {
	text := err.Error()
	if types, ok := errors.AsType[*yaml.TypeError](err); ok {
		text = strings.Join(types.Errors, "; ")
	}
	return strings.ReplaceAll(text, " in type issue.frontMatter", "")
}

var headingLine = text.Pattern(`^#{1,6}[ \t]+(.*?)[ \t]*#*$`)

// underline makes a heading of the line above it. One of dashes may as well be a rule.
var underline = text.Pattern(`^ {0,3}=+[ \t]*$`)

// blockStart begins a comment of HTML or a block of code.
var blockStart = text.Pattern("^(<!--|```+|~~~+)")

// cutTitle takes the first heading out of a text: a line that begins with #, or that is underlined with =.
func cutTitle(text string) (title, body string) {
	lines := strings.Split(text, "\n")
	end := "" // of a comment or a block of code
	for i, l := range lines {
		line := strings.TrimSpace(l)
		opens := blockStart().FindString(line)
		switch {
		case end == "-->" && strings.Contains(line, end), end != "" && strings.HasPrefix(line, end) && strings.Trim(line, end[:1]) == "":
			end = ""
		case end != "":
		case opens == "<!--" && !strings.Contains(line, "-->"):
			end = "-->"
		case opens != "" && opens != "<!--":
			end = opens
		case headingLine().MatchString(l):
			return headingLine().FindStringSubmatch(l)[1], strings.Join(append(lines[:i:i], lines[i+1:]...), "\n")
		case i+1 < len(lines) && line != "" && underline().MatchString(lines[i+1]):
			return line, strings.Join(append(lines[:i:i], lines[i+2:]...), "\n")
		}
	}
	return "", text
}

var notInID = text.Pattern(`[^a-z0-9._]+`)

// idFrom makes an id from a name: "Add hello" gives "add-hello".
func idFrom(text string) string {
	return strings.Trim(notInID().ReplaceAllString(strings.ToLower(text), "-"), "-._")
}

// CheckID says what is wrong with the id of an issue in the command line.
func CheckID(id string) error {
	switch {
	case id == "":
		return exit.Usagef("which issue? Give --issue ID")
	case metadata.CheckID(id) != nil:
		return exit.Usagef("--issue %.80q: an id is a number, or a name of at most 64 small letters, digits, dots, dashes and _", id)
	}
	return nil
}

// NewestFirst gives the keys of a map by ids of issues, the highest number first, which is
// the issue that was opened last.
func NewestFirst[V any](of map[string]V) []string {
	return slices.SortedFunc(maps.Keys(of), func(a, b string) int {
		return cmp.Or(len(b)-len(a), strings.Compare(b, a))
	})
}

// Right is something that a token has to be allowed, and a question that finds out without doing it.
type Right struct {
	Name string // as workflows write it
	Ask  func(ctx context.Context) error
}

// RightsOf lists what a run asks of a token: to push, and to open a pull request to base unless that is empty.
func RightsOf(gh github.Repo, base string) []Right {
	rights := []Right{{"contents: write", gh.MayPush}}
	if base != "" {
		rights = append(rights, Right{"pull-requests: write", func(ctx context.Context) error { return gh.MayOpenPull(ctx, base) }})
	}
	return rights
}

// WhyNoWork says why no work is done on an issue, as the forge gave it or the
// error that it gave instead; the code is empty if work may be done.
func WhyNoWork(is github.Issue, err error) (metadata.Code, metadata.Reason) {
	switch {
	case github.IsKind(err, github.NotFound, github.Gone):
		return metadata.StaleEvent, prompts.Why(err)
	case err != nil:
		return exit.ForgeReason(err), prompts.Why(err)
	case is.State == "closed":
		return metadata.StaleEvent, metadata.Because("issue_closed")
	case is.Locked:
		return metadata.StaleEvent, metadata.Because("issue_locked")
	case is.IsPull:
		return metadata.NothingDone, metadata.Because("is_a_pull", "number", is.Number)
	}
	return "", ""
}
