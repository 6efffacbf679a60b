package issue

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Folder is the folder of the images of a run, in the folder that the run has on this
// machine.
func ImagesFolder(root string) string { return filepath.Join(root, "images") }

// Shelf is where the images of a run lie on this machine.
type ImageShelf struct {
	Dir   string
	Issue Issue // with the images that the record has
	Words prompts.Catalogue
	// Place gives where they are fetched again if they are not here; an error says why
	// they cannot be.
	Place func() (ImagePlace, error)
	Warn  func(text string) // tells what is missing

	mu        sync.Mutex
	described *prompts.Issue
	have      []string
}

// Beside gives the shelf of a run in a folder of this machine. A token is for reading the
// issue again; without one it is that of the environment.
func ImagesBeside(env environ.Env, token, dir string, run metadata.Run, is Issue) *ImageShelf {
	return &ImageShelf{
		Dir: dir, Issue: is, Words: prompts.Words(run.Language),
		Warn: func(line string) { _, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", text.Flat(line)) },
		Place: func() (ImagePlace, error) {
			f, err := ForgeOf(env)
			if err != nil {
				return ImagePlace{}, err
			}
			gh, err := Client(env, f, cmp.Or(token, f.Token), env.Stderr)
			owner, name, _ := strings.Cut(run.Repository, "/")
			number, _ := strconv.Atoi(run.IssueNumber) // else the forge has no such issue
			return ImagePlace{GitHub: gh, Owner: owner, Name: name, Number: number}, err
		},
	}
}

// See gives the issue as agents are told it, in which each image is named by its number
// and file, and the files. Images that are not on this machine are fetched again; one that is gone
// is said to be. Files are looked for once.
func (s *ImageShelf) See(ctx context.Context, is prompts.Issue) (prompts.Issue, []string) {
	if len(s.Issue.Images) == 0 {
		return is, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.described == nil {
		said := map[string]string{}
		s.have = nil
		why := s.fill(ctx)
		for i, image := range s.Issue.Images {
			file := s.file(i, image)
			switch {
			case file == "":
				said[image.URL] = notGiven(s.Words, i, image.Why)
			case why[image.URL] != "":
				said[image.URL] = notGiven(s.Words, i, why[image.URL])
				s.Warn(notGiven(prompts.Words("en"), i, why[image.URL]))
			default:
				said[image.URL], s.have = s.Words.Shown("image at", "n", i+1, "file", file), append(s.have, file)
			}
		}
		is.Body, is.Said = named(is.Body, said), slices.Clone(is.Said)
		for i := range is.Said {
			is.Said[i].Text = named(is.Said[i].Text, said)
		}
		if len(s.have) > 0 {
			is.Images = s.Dir
		}
		if ctx.Err() != nil {
			return is, s.have // what is missing was not looked for
		}
		s.described = &is
	}
	return *s.described, s.have
}

// file names the file of an image; "" of one that was never fetched, or of which the record
// says what reprise never writes: others can push a record.
func (s *ImageShelf) file(i int, image metadata.Image) string {
	sum := strings.TrimPrefix(image.Digest, "sha256:")
	if !isSum.MatchString(sum) || !slices.Contains(kinds, image.Type) {
		return ""
	}
	return filepath.Join(s.Dir, strconv.Itoa(i+1)+"-"+sum[:12]+"."+image.Type)
}

var isSum = regexp.MustCompile(`^[0-9a-f]{64}$`)

// fill brings the files that are missing, and says why it could not, by the addresses of images.
func (s *ImageShelf) fill(ctx context.Context) map[string]metadata.Reason {
	missing, why := map[string]bool{}, map[string]metadata.Reason{}
	for i, image := range s.Issue.Images {
		if file := s.file(i, image); file != "" && !s.has(file, image) {
			missing[image.URL] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var data map[string][]byte
	if place, err := s.Place(); err != nil {
		s.Warn(err.Error())
	} else {
		var found []metadata.Image
		found, data, _ = place.fetch(ctx, sources(s.Issue), func(address string) bool { return missing[address] }) // what is not there is unreachable
		for _, image := range found {
			why[image.URL] = image.Why
		}
	}
	for i, image := range s.Issue.Images {
		bytes := data[image.URL]
		switch {
		case !missing[image.URL]:
		case bytes == nil:
			why[image.URL] = cmp.Or(why[image.URL], metadata.Because("image_unreachable"))
		case digest(bytes) != image.Digest:
			why[image.URL] = metadata.Because("image_changed")
		default:
			if err := s.write(s.file(i, image), bytes); err != nil {
				why[image.URL] = metadata.Because("image_not_kept", "error", err.Error())
			}
		}
	}
	return why
}

// has reports whether a file is there and has what was fetched.
func (s *ImageShelf) has(name string, image metadata.Image) bool {
	data, err := folders.ReadRegular(name, mostBytes)
	return err == nil && digest(data) == image.Digest
}

// write keeps the bytes of an image. A file that is there was not what it should be.
func (s *ImageShelf) write(name string, data []byte) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
		return fmt.Errorf("replacing what lies there: %w", err)
	}
	return os.WriteFile(name, data, fs.FileMode(0o400))
}

// The most that is fetched and noted of an issue.
const (
	most    = 10              // images that are fetched
	noted   = 30              // images of which the record says why they were not, too
	allTime = 2 * time.Minute // for all together
)

// Place is where an issue is that may have images.
type ImagePlace struct {
	GitHub      *github.Client
	Owner, Name string
	Number      int
}

// Fetch gives the images that people see in an issue and in what was said below it, or why there
// are none. It takes at most ten, from where GitHub keeps what people have
// attached. An error is why ctx was cancelled.
func (p ImagePlace) Fetch(ctx context.Context, is Issue) ([]metadata.Image, error) {
	is.Clean() // a copy: what people do not see has no images
	all, _, err := p.fetch(ctx, sources(is), func(string) bool { return true })
	return all, err
}

// fetch fetches those images of texts that are wanted, with their bytes by the addresses.
func (p ImagePlace) fetch(ctx context.Context, texts []source, wanted func(address string) bool) (all []metadata.Image, bytes map[string][]byte, err error) {
	within, cancel := context.WithTimeout(ctx, allTime)
	defer cancel()
	h := hosts{p.GitHub.Web()}
	fetched, bytes := 0, map[string][]byte{}
	for _, text := range texts {
		var markup *string // how people are shown the text, once that was asked for
		for _, address := range text.images {
			at, err := url.Parse(address)
			image := metadata.Image{URL: address}
			switch {
			case len(all) >= noted:
				return all, bytes, nil
			case !wanted(address):
				continue
			case err != nil || !h.attached(at):
				image.Why = metadata.Because("image_host", "host", hostOf(at))
			case fetched >= most:
				image.Why = metadata.Because("image_number", "most", most)
			default:
				fetched++
				if markup == nil && mark.MatchString(address) {
					shown := p.shown(within, text.comment)
					markup = &shown
				}
				if markup != nil {
					if signed := h.signed(*markup, address); signed != nil {
						at = signed
					}
				}
				data, err := p.GitHub.Attachment(within, at, mostBytes, h.own)
				if ctx.Err() != nil {
					return nil, nil, context.Cause(ctx)
				}
				kind, why := kindOf(data)
				if err != nil {
					why = reasonOf(err)
				}
				if image.Why = why; why == "" {
					image.Digest, image.Type, image.Size, bytes[address] = digest(data), kind, len(data), data
				}
			}
			all = append(all, image)
		}
	}
	return all, bytes, nil
}

// shown gives how people are shown a text. If that cannot be had, the images are asked
// for where the text itself has them.
func (p ImagePlace) shown(ctx context.Context, comment int64) string {
	markup, err := p.GitHub.Thread(p.Owner, p.Name, p.Number).Shown(ctx, comment)
	if err != nil {
		return ""
	}
	return markup
}

// reasonOf says why an image was not fetched.
func reasonOf(err error) metadata.Reason {
	var e *github.AttachmentError
	switch {
	case !errors.As(err, &e) || e.Err != nil:
		return metadata.Because("image_unreachable")
	case e.Large:
		return metadata.Because("image_size", "most", mostBytes>>20)
	case e.Status/100 == 3:
		return metadata.Because("image_elsewhere")
	}
	return metadata.Because("image_gone", "status", e.Status)
}

func hostOf(u *url.URL) string {
	if u == nil {
		return ""
	}
	return u.Host
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Heard says what of the discussion below an issue, and of the images of both, agents are
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
	if given := fetched(is.Images); given > 0 {
		all = append(all, words.Shown("images given", "n", given))
	}
	return strings.Join(append(all, MissingImages(words, is.Images)...), "; ")
}

// Missing says why agents are not given some of the images of an issue, which counts
// them from 1.
func MissingImages(words prompts.Catalogue, all []metadata.Image) (lines []string) {
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
