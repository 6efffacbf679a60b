package issue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	markdown "github.com/yuin/goldmark/text"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

var tag = sync.OnceValue(func() *regexp.Regexp {
	const value = `"[^"]*"|'[^']*'|[^\s"'<>]+` // of another attribute, whose text may look like an address
	return regexp.MustCompile(`(?is)<img(?:\s+[^\s"'<>=/]+(?:\s*=\s*(?:` + value + `))?)*?\s+src\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))(?:[^<>"']|"[^"]*"|'[^']*')*>`)
})

// source is one text of an issue, with its images.
type source struct {
	comment int64 // its id; 0: the body
	images  []string
}

// sources lists the texts of an issue that have images, which count from 1 in this order.
// An address counts where it stands first.
func sources(is Issue) (all []source) {
	var known []string
	take := func(id int64, body string) {
		s := source{comment: id}
		for _, address := range seen(body) {
			if !slices.Contains(known, address) {
				known, s.images = append(known, address), append(s.images, address)
			}
		}
		if len(s.images) > 0 {
			all = append(all, s)
		}
	}
	take(0, is.Body)
	for _, c := range is.Discussion.Comments {
		take(c.ID, c.Text)
	}
	return all
}

// seen lists the addresses of the images that people see in a text, in their order: in code there are none.
func seen(body string) (all []string) {
	if !strings.Contains(body, "![") && !strings.Contains(strings.ToLower(body), "<img") {
		return nil
	}
	src := []byte(body)
	markup := func(lines *markdown.Segments) {
		var b strings.Builder
		for i := range lines.Len() {
			line := lines.At(i)
			b.Write(line.Value(src))
		}
		for _, m := range tag().FindAllStringSubmatch(b.String(), -1) {
			all = append(all, html.UnescapeString(m[1]+m[2]+m[3]))
		}
	}
	_ = ast.Walk(goldmark.DefaultParser().Parse(markdown.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) { // the function gives no error
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Image:
			all = append(all, string(n.Destination))
		case *ast.HTMLBlock:
			markup(n.Lines())
		case *ast.RawHTML:
			markup(n.Segments)
		}
		return ast.WalkContinue, nil
	})
	return slices.DeleteFunc(all, func(address string) bool {
		u, err := url.Parse(address)
		return err != nil || u.Host == "" || len(address) > longest
	})
}

// longest is the longest address that is looked at, in bytes.
const longest = 2000

// named puts at the end of a text what is said of each image that it shows, by its address.
func named(body string, said map[string]string) string {
	put := map[string]bool{}
	for _, address := range seen(body) {
		if said[address] != "" && !put[address] {
			put[address] = true
			body += fmt.Sprintf("\n%s (%s)", address, said[address])
		}
	}
	return body
}

// HeardImages says what of the discussion below an issue, and of the images of both, agents are
// given; "" if there is none of either.
func HeardImages(words prompts.Catalogue, is Issue) string {
	var all []string
	switch d, who := is.Discussion, strings.Join(is.Discussion.By(), ", "); {
	case len(d.Comments) == 0:
	case d.Older > 0:
		all = append(all, words.Shown("heard in part", "n", len(d.Comments), "who", who, "older", d.Older))
	default:
		all = append(all, words.Shown("heard", "n", len(d.Comments), "who", who))
	}
	given := 0
	for _, image := range is.Images {
		if image.Digest != "" {
			given++
		}
	}
	if given > 0 {
		all = append(all, words.Shown("images given", "n", given))
	}
	return strings.Join(append(all, missingImages(words, is.Record().Images)...), "; ")
}

// missingImages says why agents are not given some of the images of an issue, which counts them from 1.
func missingImages(words prompts.Catalogue, all []metadata.Image) (lines []string) {
	for i, image := range all {
		if image.Digest == "" {
			lines = append(lines, notGiven(words, i, image.Why))
		}
	}
	return lines
}

func notGiven(words prompts.Catalogue, i int, why metadata.Reason) string {
	return words.Shown("image not given", "n", i+1, "why", why.In(words))
}

// imageShelf is where the images of a run lie on this machine.
type imageShelf struct {
	Dir   string
	Issue Issue // with the images that the record has
	Words prompts.Catalogue
	// Place gives where they are fetched again if they are not here; an error says why they cannot be.
	Place func() (*github.Thread, error)
	Warn  func(text string) // tells what is missing

	mu        sync.Mutex
	described *prompts.Issue
	have      []string
}

// ImagesBeside gives the shelf of a run in a folder of this machine.
func ImagesBeside(env environ.Env, token, dir string, run metadata.Run, is Issue) *imageShelf {
	return &imageShelf{
		Dir: dir, Issue: is, Words: prompts.Words(run.Language),
		Warn: func(line string) { _, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", text.Flat(line)) },
		Place: func() (*github.Thread, error) {
			f, err := ForgeOf(env)
			if err != nil {
				return nil, err
			}
			gh, err := Client(env, f, cmp.Or(token, f.Token), env.Stderr)
			if err != nil {
				return nil, err
			}
			number, _ := strconv.Atoi(run.IssueNumber) // else the forge has no such issue
			return gh.In(run.Repository).Thread(number), nil
		},
	}
}

// See gives the issue as agents are told it, in which each image is named by its number and file, and the files.
// Images that are not on this machine are fetched again; one that is gone is said to be. Files are looked for once.
func (s *imageShelf) See(ctx context.Context, is prompts.Issue) (prompts.Issue, []string) {
	if len(s.Issue.Images) == 0 {
		return is, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.described != nil {
		return *s.described, s.have
	}
	said, found := map[string]string{}, s.missing(ctx)
	s.have = nil
	for i, image := range s.Issue.Images {
		file, why := s.file(i, image), image.Why
		if file != "" {
			why = s.put(file, image, found[image.URL])
		}
		switch {
		case file != "" && why == "":
			said[image.URL], s.have = s.Words.Shown("image at", "n", i+1, "file", file), append(s.have, file)
			continue
		case file != "":
			s.Warn(notGiven(prompts.Words("en"), i, why))
		}
		said[image.URL] = notGiven(s.Words, i, why)
	}
	is.Body, is.Said = named(is.Body, said), slices.Clone(is.Said)
	for i := range is.Said {
		is.Said[i].Text = named(is.Said[i].Text, said)
	}
	if len(s.have) > 0 {
		is.Images = s.Dir
	}
	if ctx.Err() == nil { // else what is missing was not looked for
		s.described = &is
	}
	return is, s.have
}

// file names the file of an image; "" of one that was never fetched, or of which the record
// says what reprise never writes: others can push a record.
func (s *imageShelf) file(i int, image Image) string {
	sum := strings.TrimPrefix(image.Digest, "sha256:")
	if !isSum().MatchString(sum) || !slices.Contains(kinds, image.Type) {
		return ""
	}
	return filepath.Join(s.Dir, strconv.Itoa(i+1)+"-"+sum[:12]+"."+image.Type)
}

var isSum = text.Pattern(`^[0-9a-f]{64}$`)

// missing fetches the images whose files are not here, and whose bytes are not known, by their addresses.
func (s *imageShelf) missing(ctx context.Context) map[string]Image {
	found, wanted := map[string]Image{}, map[string]bool{}
	for i, image := range s.Issue.Images {
		if found[image.URL] = image; s.file(i, image) != "" && len(image.Data) == 0 && !s.has(s.file(i, image), image) {
			wanted[image.URL] = true
		}
	}
	if len(wanted) == 0 {
		return found
	}
	thread, err := s.Place()
	if err != nil {
		s.Warn(err.Error())
		return found
	}
	all, _ := fetch(ctx, thread, sources(s.Issue), func(address string) bool { return wanted[address] }) // what is not there is unreachable
	for _, image := range all {
		found[image.URL] = image
	}
	return found
}

// has reports whether a file is there and has what was fetched.
func (s *imageShelf) has(name string, image Image) bool {
	data, err := folders.ReadRegular(name, mostBytes)
	return err == nil && pipelines.Digest(data) == image.Digest
}

// put sees to it that a file has what an image had when the run took it, given what was found, and says why it has not.
func (s *imageShelf) put(name string, image, found Image) metadata.Reason {
	switch {
	case s.has(name, image):
		return ""
	case len(found.Data) == 0:
		return cmp.Or(found.Why, metadata.Because("image_unreachable"))
	case pipelines.Digest(found.Data) != image.Digest:
		return metadata.Because("image_changed")
	}
	if err := errors.Join(os.MkdirAll(s.Dir, 0o700), os.RemoveAll(name), os.WriteFile(name, found.Data, fs.FileMode(0o400))); err != nil {
		return metadata.Because("image_not_kept", "error", err.Error())
	}
	return ""
}
