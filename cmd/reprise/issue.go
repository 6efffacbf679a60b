package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// issue is what a run works on.
type issue struct {
	ID     string // a number, or a name made from the file's
	Title  string
	Body   string
	URL    string
	Author string
	Labels []string
	Type   string // GitHub's, such as "Bug"
}

// maxIssue is the most an issue file may have, in bytes. GitHub takes 65,536
// characters; a file may hold more.
const maxIssue = 16 << 20

// frontMatter is the optional YAML block at the top of an issue file.
type frontMatter struct {
	Number int      `yaml:"number"`
	Title  string   `yaml:"title"`
	Labels []string `yaml:"labels"`
	Type   string   `yaml:"type"`
	Author string   `yaml:"author"`
	URL    string   `yaml:"url"`
}

// readIssue reads an issue from a Markdown file. The first heading is the
// title, unless the front matter names one. Without a number, the file's name
// becomes the id.
func readIssue(name string) (issue, error) {
	data, err := readRegular(name, maxIssue)
	if err != nil {
		return issue{}, usageError{fmt.Errorf("issue file: %w", err)}
	}
	if !utf8.Valid(data) {
		return issue{}, usageError{fmt.Errorf("issue file %s is not UTF-8 text", name)}
	}
	front, body, err := cutFrontMatter(string(data))
	if err != nil {
		return issue{}, usageError{fmt.Errorf("issue file %s: front matter: %w", name, err)}
	}
	is := issue{Title: front.Title, Author: front.Author, URL: front.URL, Labels: front.Labels, Type: front.Type, ID: idFromFile(name)}
	if front.Number < 0 {
		return issue{}, usageError{fmt.Errorf("issue file %s: number %d is not positive", name, front.Number)}
	}
	if front.Number > 0 {
		is.ID = fmt.Sprint(front.Number)
	}
	if is.Title == "" {
		is.Title, body = cutTitle(body)
	}
	is.Body = trimLines(body)
	switch {
	case strings.TrimSpace(is.Title) == "" && is.Body == "":
		return issue{}, usageError{fmt.Errorf("issue file %s is empty: write a heading for the title and say below what is wanted", name)}
	case strings.TrimSpace(is.Title) == "":
		return issue{}, usageError{fmt.Errorf("issue file %s has no title: begin it with a heading, such as \"# Add a flag\"", name)}
	}
	if err := checkMade(is.ID); err != nil {
		return issue{}, usageError{fmt.Errorf("issue file %s: %w; name the file otherwise or give a number in its front matter", name, err)}
	}
	return is, nil
}

// checkMade says what is wrong with an id that was made from the name of a file.
func checkMade(id string) error {
	if id == "" {
		return errors.New("its name gives no id: that takes a letter from a to z or a digit")
	}
	if err := metadata.CheckID(id); err != nil {
		return fmt.Errorf("the id from its name: %w", err)
	}
	if metadata.CheckBranch(branchPrefix+id) != nil {
		return fmt.Errorf("its name gives the id %q, and git takes no branch of that name", id)
	}
	return nil
}

// trimLines takes off the empty lines around a text. The space before its first
// word stays until it is cleaned: it may make code of the line.
func trimLines(text string) string {
	return strings.TrimRight(strings.TrimLeft(text, "\r\n"), " \t\r\n")
}

// clean takes out of the issue what people who read it do not see, and says
// what that was.
func (i *issue) clean() []prompts.Removal {
	var title, body []prompts.Removal
	i.Title, title = prompts.Clean(i.Title)
	i.Body, body = prompts.Clean(i.Body)
	i.Body = strings.TrimSpace(i.Body)
	return append(title, body...)
}

// hide masks what must not be seen, before it enters the record or a prompt.
func (i *issue) hide(env environment) {
	mask := env.finder().Mask
	i.Title, i.Body = mask(i.Title), mask(i.Body)
}

// digest is that of the body.
func (i issue) digest() string {
	sum := sha256.Sum256([]byte(i.Body))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// markdown is the issue as it is kept on the branch, readable by readIssue.
func (i issue) markdown() []byte {
	return []byte("# " + strings.Join(strings.Fields(i.Title), " ") + "\n\n" + i.Body + "\n")
}

// parseKept reads what markdown wrote.
func parseKept(data []byte) (title, body string) {
	title, body = cutTitle(string(data))
	return title, strings.TrimSpace(body)
}

func cutFrontMatter(text string) (frontMatter, string, error) {
	var front frontMatter
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	rest, ok := strings.CutPrefix(text, "---\n")
	if !ok {
		return front, text, nil
	}
	block, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return front, text, nil // a rule at the top, not front matter
	}
	dec := yaml.NewDecoder(strings.NewReader(block))
	dec.KnownFields(true)
	if err := dec.Decode(&front); err != nil && !errors.Is(err, io.EOF) {
		return front, "", fmt.Errorf("%s (known: number, title, labels, type, author, url)", yamlMistake(err))
	}
	return front, body, nil
}

// yamlMistake gives an error of the YAML library without its Go types.
func yamlMistake(err error) string {
	text := err.Error()
	var types *yaml.TypeError
	if errors.As(err, &types) {
		text = strings.Join(types.Errors, "; ")
	}
	return strings.ReplaceAll(text, " in type main.frontMatter", "")
}

var headingLine = regexp.MustCompile(`^#{1,6}[ \t]+(.*?)[ \t]*#*$`)

// cutTitle takes the first heading out of a text.
func cutTitle(text string) (title, body string) {
	lines := strings.Split(text, "\n")
	fenced := false
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), "```") {
			fenced = !fenced
		}
		if m := headingLine.FindStringSubmatch(l); m != nil && !fenced {
			return m[1], strings.Join(append(lines[:i:i], lines[i+1:]...), "\n")
		}
	}
	return "", text
}

var notInID = regexp.MustCompile(`[^a-z0-9._-]+`)

// idFromFile makes an id from a file name: "Add hello.md" gives "add-hello".
func idFromFile(name string) string {
	base := strings.TrimSuffix(filepath.Base(name), filepath.Ext(name))
	return strings.Trim(notInID.ReplaceAllString(strings.ToLower(base), "-"), "-._")
}

// readRegular reads a regular file of at most limit bytes. It follows no
// link out of the way and never waits for a pipe.
func readRegular(name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes; the limit is %d", name, info.Size(), limit)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(f, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("%s grew past the limit of %d bytes", name, limit)
	}
	return b.Bytes(), err
}
